// Tokens of users, verified by the real receiptd with keys that it fetches.

import Formats
import Platform
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DaemonTokenTests {
  private static func claims(_ user: String) -> JSONValue {
    [
      "iss": "https://id.example.com/", "aud": "relay", "sub": .string(user),
      "exp": .integer(SystemClock().wallMilliseconds / 1000 + 600),
    ]
  }

  /// Posts a context, as often as the relay asks for: it answers 503 while a fetch of the keys takes long, as
  /// it may on a busy machine.
  /// - Returns: the status that decides on the token.
  private static func post(_ relay: Relay, _ token: String, user: String) throws -> Int {
    var status = 503
    try waitUntil("the relay knows the keys") {
      status = try relay.outside.postContext(user, "YQ==", headers: ["Authorization": "Bearer \(token)"])
        .status
      return status != 503
    }
    return status
  }

  @Test("With a fetched key set a token allows posts for its user only; a reload changes the set")
  func fetchedKeys() throws {
    let (first, second) = (try TokenIssuer(.rsa, keyID: "one"), try TokenIssuer(.p256, keyID: "two"))
    let sets = ["/one": try TokenIssuer.keySet([first]), "/two": try TokenIssuer.keySet([second])]
    let provider = try ScriptedServer { connection in
      while let request = connection.readRequest() {
        let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        connection.answer(sets[path] == nil ? "404 Not Found" : "200 OK", sets[path] ?? "")
      }
    }
    defer { provider.stop() }
    func client(_ path: String) -> JSONValue {
      let rules: JSONValue = [
        "issuer": "https://id.example.com/", "audience": "relay",
        "jwks": .string("http://127.0.0.1:\(provider.port)\(path)"),
      ]
      return ["client": ["keys": [.string(Secrets.clientKey)], "jwt": rules]]
    }
    try withRelay(app: client("/one")) { relay, destination in
      let token = try first.token(Self.claims("ann"))
      #expect(try Self.post(relay, token, user: "ann") == 201)
      #expect(try Self.post(relay, token, user: "bob") == 403)
      #expect(try relay.outside.postContext("bob", "YQ==").status == 201)
      let other = try second.token(Self.claims("ann"))
      #expect(try Self.post(relay, other, user: "ann") == 401)
      relay.configuration = relay.configuration.merging([
        "apps": ["shop": Relay.app(destination, client("/two"))]
      ])
      try relay.writeAndReload()
      try waitUntil("the second set is in force") { try Self.post(relay, other, user: "ann") == 200 }
      #expect(try Self.post(relay, token, user: "ann") == 401)
      let metrics = try relay.admin.request("GET", "/metrics").text
      #expect(metrics.contains(#"receiptd_key_set_fetches_total{app="shop",result="fetched"}"#))
      #expect(metrics.contains(#"receiptd_client_refusals_total{app="shop",reason="wrong_user"} 1"#))
      #expect(!relay.log.contains(token))
      #expect(!relay.log.contains(other))
    }
  }
}
