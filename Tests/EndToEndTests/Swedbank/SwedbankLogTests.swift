// The log of the payment URL helpers, whose requests carry private data.

import Formats
import Testing

@Suite(.withDaemonLog) struct SwedbankLogTests {
  @Test(arguments: ["text", "json"])
  func `The log has a helper's answer, and nothing of the request's query (R7)`(format: String) throws {
    let top: JSONValue = ["log": ["format": .string(format), "level": "debug"]]
    try withRelay(app: Swedbank.links(), top: top) { relay, _ in
      let secrets = "id=secret-of-order&package=a.secret&scheme=secret&language=en&app=secret"
      for target in [
        "\(Swedbank.android)?\(secrets)", "\(Swedbank.ios)?\(secrets)", "\(Swedbank.ios)?\(secrets)&app=2",
        "\(Swedbank.trampoline)?target=\(Swedbank.origin)\(Swedbank.ios)%3Fsecret",
        "\(Swedbank.root)cancel?secret",
        "\(Swedbank.trampoline)?target=https://secret.test/", "\(Swedbank.android)?\(secrets)\"",
      ] { #expect(try relay.ask(target).status <= 400) }
      let metrics = try relay.admin.request("GET", "/metrics").text
      #expect(try relay.stop() == 0)
      #expect(!relay.log.contains("secret"))
      #expect(!metrics.contains("secret"))
      #expect(relay.log.contains("answered"))
      #expect(metrics.contains(#"route="swedbank""#))
      #expect(metrics.contains(#"route="trampoline""#))
    }
  }
}
