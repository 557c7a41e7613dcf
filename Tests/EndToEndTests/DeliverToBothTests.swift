// `deliver_to` with two names: Purchasely and the merchant's backend get a receipt each for one purchase, and
// the trouble of one of them does not concern the other.

import Domain
import Formats
import Glibc
import HTTPServer
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DeliverToBothTests {
  private static let secret = "whsec_" + Base64.encode(Array(repeating: 7, count: 32))

  private static func app(_ backend: Destination) -> JSONValue {
    [
      "stripe": ["deliver_to": ["purchasely", "webhook"]],
      "webhook": ["url": .string(backend.url), "secrets": [.string(secret)]],
    ]
  }

  /// - Parameter body: gets the relay, Purchasely and the merchant's backend.
  private func withBoth(_ body: (Relay, Destination, Destination) throws -> Void) throws {
    let backend = try Destination()
    defer { backend.stop() }
    try withRelay(app: Self.app(backend)) { relay, purchasely in try body(relay, purchasely, backend) }
  }

  /// The copy of an object's receipt, once it is in a state.
  private func copy(_ relay: Relay, _ state: ReceiptState, _ objectID: String) throws -> Receipt {
    try waitFor("the copy of \(objectID) is \(state)") {
      try relay.receipts { $0.objectID = ObjectID(objectID) }.compactMap(\.receipt)
        .first { $0.copyOf != nil && $0.corrects == nil && $0.state == state }
    }
  }

  @Test func `Each gets one receipt with its own id, and operators see both together`() throws {
    try withBoth { relay, purchasely, backend in
      let checkout = Checkout("both")
      try relay.buy(checkout)
      try relay.ingest(checkout.completed)
      let own = try relay.reaches(.delivered, checkout.subscription)
      let copy = try copy(relay, .delivered, checkout.subscription)
      #expect(own.id != copy.id)
      #expect(purchasely.ledger.map(\.objectID) == [checkout.subscription])
      #expect(purchasely.ledger.first?["ply_context"] == checkout.context)
      #expect(backend.ledger.count == 1)
      #expect(backend.ledger.first?.head.headers("webhook-id") == [copy.id.text])
      let data = try #require(backend.ledger.first?.json["data"])
      #expect(data["object_id"]?.stringValue == checkout.subscription)
      #expect(data["ply_context"]?.stringValue == checkout.context)
      let shown = try relay.receiptctl("receipts", "show", own.id.text).output
      #expect(shown.contains("webhook: \(copy.id) delivered"), "\(shown)")
      let other = try relay.receiptctl("receipts", "show", copy.id.text).output
      #expect(other.contains("purchasely: \(own.id) delivered"), "\(other)")
      #expect(try relay.admin.request("GET", "/receipts/\(own.id)").text.contains(copy.id.text))
    }
  }

  @Test(arguments: [false, true])
  func `One that fails delays the other by nothing, and is sent again alone`(isBackend: Bool) throws {
    try withBoth { relay, purchasely, backend in
      let (failing, healthy) = isBackend ? (backend, purchasely) : (purchasely, backend)
      failing.answerAll(.status(422))
      let checkout = Checkout("one-fails")
      try relay.buy(checkout)
      let own = try relay.reaches(isBackend ? .delivered : .failed, checkout.subscription)
      let copy = try copy(relay, isBackend ? .failed : .delivered, checkout.subscription)
      #expect(healthy.ledger.count == 1)
      failing.answerAll(.taken)
      let failed = isBackend ? copy.id : own.id
      let replay = try relay.receiptctl("receipts", "replay", failed.text, "--yes")
      #expect(replay.code == 0, "\(replay.output)")
      _ = try self.copy(relay, .delivered, checkout.subscription)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(failing.ledger.count == 2)
      #expect(healthy.ledger.count == 1, "it is not sent again (R3)")
    }
  }

  @Test(arguments: [false, true])
  func `A kill between the two deliveries loses none, and repeats none (R3, R9)`(isBackend: Bool) throws {
    try withBoth { relay, purchasely, backend in
      let (late, early) = isBackend ? (backend, purchasely) : (purchasely, backend)
      late.answerAll(.status(503))
      let checkout = Checkout("killed")
      try relay.buy(checkout)
      if isBackend {
        try relay.reaches(.delivered, checkout.subscription)
      } else {
        _ = try copy(relay, .delivered, checkout.subscription)
      }
      try relay.stop(SIGKILL)
      late.answerAll(.taken)
      try relay.start()
      try relay.reaches(.delivered, checkout.subscription)
      _ = try copy(relay, .delivered, checkout.subscription)
      #expect(late.accepted.count == 1)
      #expect(early.ledger.count == 1)
    }
  }
}
