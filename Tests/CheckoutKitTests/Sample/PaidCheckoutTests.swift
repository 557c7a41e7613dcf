// A customer who paid never reads that nothing was bought, and gets the purchase even if an operator must act
// first.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite @MainActor struct PaidCheckoutTests {
  private static let other = "ctx_01HXZ4T9V8KQ2M3N4P5R6S7T00"
  private static let page = "https://buy.stripe.com/a?client_reference_id=\(Example.id)"
  private static let posted = ScriptedTransport.Step.answer(201, Example.posted(checkout: page))

  private static func status(_ state: String, paid: Bool?) -> ScriptedTransport.Step {
    .answer(200, Example.status(state, paid: paid))
  }

  /// The state that survives the app: the ids that it stores, and the relay.
  @MainActor private final class Phone {
    let transport: ScriptedTransport
    var kept: [String] { shop.checkout.contextIDs }
    private(set) var shop: ShopModel

    init(_ steps: [ScriptedTransport.Step], kept: [String] = []) throws {
      transport = ScriptedTransport(steps)
      shop = try Self.shop(transport, kept)
    }

    private static func shop(_ transport: ScriptedTransport, _ kept: [String]) throws -> ShopModel {
      let relay = try Example.client(transport, retries: .none)
      return Example.shop(relay, Example.outbox(relay), checkouts: OpenCheckouts(kept, of: "jdo-1"))
    }

    /// Ends the app and starts it again.
    func relaunch() async throws {
      shop = try Self.shop(transport, kept)
      await activate()
    }

    func buy() async {
      shop.setActive(true)
      shop.checkout.buy(Example.price)
      await shop.checkout.work?.value
      shop.setActive(false)
    }

    func activate() async {
      shop.setActive(true)
      await shop.checkout.work?.value
    }

    var asked: [String] { transport.sent.filter { $0.httpMethod == "GET" }.compactMap { $0.url?.path } }
  }

  @Test(
    "A paid checkout is shown as processed until it is unlocked",
    arguments: ["failed", "cancelled"], [true, nil])
  func unlocksAfterAReplay(_ state: String, _ paid: Bool?) async throws {
    // An older relay does not say whether a cancelled checkout was paid.
    guard paid != nil || state == "failed" else { return }
    let phone = try Phone([Self.posted, Self.status("paid", paid: paid), Self.status(state, paid: paid)])
    await phone.buy()
    #expect(phone.kept == [Example.id])
    await phone.activate()
    #expect(phone.shop.checkout.state == .processing)
    #expect(phone.shop.checkout.state.message?.contains("Your order is complete") == true)
    #expect(phone.kept == [Example.id])

    // Days later: first unchanged, then an operator has replayed the receipt.
    phone.transport.add(Self.status(state, paid: paid))
    try await phone.relaunch()
    #expect(phone.shop.checkout.state == .processing)
    #expect(phone.kept == [Example.id])
    phone.transport.add(Self.status("paid", paid: paid), Self.status("delivered", paid: paid))
    try await phone.relaunch()
    #expect(phone.shop.checkout.state == .confirmed)
    #expect(phone.kept == [])
    #expect(phone.asked.count == 5)

    // No id is left to ask about.
    try await phone.relaunch()
    #expect(phone.shop.checkout.state == .none)
    #expect(phone.asked.count == 5)
  }

  @Test func `An app that stayed open polls again when it becomes active`() async throws {
    let phone = try Phone([Self.posted, Self.status("failed", paid: true)])
    await phone.buy()
    await phone.activate()
    #expect(phone.shop.checkout.state == .processing)
    phone.shop.setActive(false)
    #expect(phone.shop.checkout.state == .processing)
    phone.transport.add(Self.status("delivered", paid: true))
    await phone.activate()
    #expect(phone.shop.checkout.state == .confirmed)
    #expect(phone.kept == [])
  }

  @Test(
    "A checkout that ends without a payment is not bought, and its id is discarded",
    arguments: ["cancelled", "expired", "failed"])
  func endsUnpaid(_ state: String) async throws {
    let phone = try Phone([Self.posted, Self.status("open", paid: false), Self.status(state, paid: false)])
    await phone.buy()
    await phone.activate()
    #expect(phone.shop.checkout.state == (state == "expired" ? .late : .notPaid))
    // This one began years ago.
    #expect(phone.kept == [])
    try await phone.relaunch()
    #expect(phone.shop.checkout.state == .none)
  }

  @Test func `A paid checkout is still shown as processed while the network is dead`() async throws {
    let phone = try Phone([Self.posted, Self.status("failed", paid: true), ScriptedTransport.offline])
    await phone.buy()
    await phone.activate()
    phone.shop.setActive(false)
    await phone.activate()
    #expect(phone.shop.checkout.state == .processing)
    #expect(phone.kept == [Example.id])
    try await phone.relaunch()
    #expect(phone.shop.checkout.state == .unchecked)
    #expect(phone.kept == [Example.id])
    #expect(phone.shop.checkout.state.message?.contains("do not pay again") == true)
  }

  @Test func `A second checkout does not discard the id of a first one that was paid`() async throws {
    let both = try Phone(
      [Self.status("failed", paid: true), Self.status("expired", paid: false)],
      kept: [Self.other, Example.id])
    await both.activate()
    #expect(both.asked.map { $0.suffix(30) } == [Self.other.suffix(30), Example.id.suffix(30)])
    #expect(both.shop.checkout.state == .processing)
    #expect(both.kept == [Self.other])
    both.transport.add(Self.posted)
    both.shop.setActive(false)
    await both.buy()
    #expect(both.kept == [Self.other, Example.id])
    both.transport.add(Self.status("delivered", paid: true), Self.status("expired", paid: false))
    try await both.relaunch()
    #expect(both.shop.checkout.state == .confirmed)
    #expect(both.kept == [])
  }

  @Test("A payment after the time for it is shown, and the customer is not told that it is too late")
  func latePayment() async throws {
    let id = CheckoutID.make(at: InstantClock().date - 29 * 86_400)
    let answer = { (state: String, paid: Bool) in
      ScriptedTransport.Step.answer(
        200, Example.status(state, paid: paid).replacingOccurrences(of: Example.id, with: id))
    }
    let phone = try Phone([answer("expired", false)], kept: [id])
    await phone.activate()
    #expect(phone.shop.checkout.state == .late)
    #expect(phone.kept == [id])
    phone.shop.setActive(false)
    // Once at each activation, and nothing is shown meanwhile.
    phone.transport.add(answer("expired", false))
    await phone.activate()
    #expect(phone.shop.checkout.state == .late)
    #expect(phone.asked.count == 2)
    phone.shop.setActive(false)
    phone.transport.add(answer("paid", true))
    await phone.activate()
    #expect(phone.shop.checkout.state == .processing)
    phone.shop.setActive(false)
    phone.transport.add(answer("delivered", true))
    await phone.activate()
    #expect(phone.shop.checkout.state == .confirmed)
    #expect(phone.kept == [])
  }

  @Test("An answer that fails for an earlier checkout does not keep the last one from being asked about")
  func earlierFailure() async throws {
    for step in [ScriptedTransport.offline, .answer(404, "<html>"), .answer(500)] {
      let phone = try Phone([step, Self.status("delivered", paid: true)], kept: [Self.other, Example.id])
      await phone.activate()
      #expect(phone.shop.checkout.state == .confirmed)
      #expect(phone.kept == [Self.other])
    }
  }

  @Test func `No message to the customer has a text from a server`() async throws {
    let words = "relation purchases does not exist"
    let problem = #"{"type":"t","title":"\#(words)","detail":"\#(words)","request_id":"r"}"#
    let headers = ["Content-Type": "application/problem+json"]
    for status in [400, 403, 404, 422, 500, 200] {
      let answer = ScriptedTransport.Step.answer(status, problem, headers: headers)
      let phone = try Phone([answer])
      await phone.buy()
      guard case .notOpened = phone.shop.checkout.state else { return unexpected(nil) }
      #expect(phone.shop.checkout.state.message?.contains(words) == false)
      let asking = try Phone([answer], kept: [Example.id])
      await asking.activate()
      #expect(asking.shop.checkout.state.message?.contains(words) == false)
      // The relay has a type of its own for a context that it does not know.
      #expect(asking.kept == [Example.id])
    }
  }
}
