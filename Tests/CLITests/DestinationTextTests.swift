// What texts for operators say about the destinations of an app that has two.

import Domain
import Formats
import Store
import Testing

@Suite("Texts about several destinations", .everyPlace)
struct DestinationTextTests {
  @Test func `stats names each destination that is stopped, and JSON the one to know of first`() throws {
    let harness = try OperatorHarness(swedbank: true)
    let now = harness.clock.now
    let breakers: [(DestinationName, Breaker)] = [
      ("purchasely", Breaker(state: .open, since: now, cause: .status(503))),
      ("webhook", Breaker(state: .paused, since: now, cause: .status(401))),
    ]
    for (name, breaker) in breakers {
      _ = try harness.writer.apply(SaveBreaker(AppDestination("ios", name), breaker), now: now)
    }
    let shown = harness.run("stats").out
    #expect(
      shown.contains(
        "Deliveries of ios to webhook stopped just now, the destination refuses the configuration (http_401)."
      ))
    #expect(shown.contains("correct apps.ios.webhook.secrets, then run: systemctl restart"))
    #expect(
      shown.contains("Deliveries of ios to purchasely stopped just now, the destination is down (http_503)."))
    let app = try harness.run("stats", "--json").objects.first { $0["app"] == "ios" }
    #expect(app?["breaker"]?["destination"] == "webhook")
    #expect(app?["breaker"]?["state"] == "paused")
  }

  @Test func `A delivered receipt has the advice of its destination`() throws {
    let harness = try OperatorHarness(swedbank: true)
    let purchases: [(ObjectID, ProcessorName, String)] = [
      ("sub_1", "stripe", "ask its support about"), ("/psp/1", "swedbank", "the webhook-id"),
    ]
    for (object, processor, advice) in purchases {
      let id = try harness.purchase(object, processor: processor)
      try harness.deliver(id)
      let shown = harness.run("receipts", "show", id).out
      #expect(shown.contains("The destination has accepted it; there is nothing to do."))
      #expect(shown.contains(advice), "\(shown)")
    }
  }
}
