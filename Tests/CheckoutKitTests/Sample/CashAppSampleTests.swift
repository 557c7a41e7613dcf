// The Cash App Pay part of docs/ios.md behaves as the guide describes.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite @MainActor struct CashAppSampleTests {
  private nonisolated static let token = PaymentExample.token
  private static let started = ScriptedTransport.Step.answer(201, PaymentExample.started)
  private static let approved = ScriptedTransport.Step.answer(201, PaymentExample.approved)

  private nonisolated static func state(_ state: String) -> ScriptedTransport.Step {
    .answer(200, PaymentExample.state(state))
  }

  /// An app with a relay, an Afterpay and a Cash App of the test's own.
  @MainActor private final class Scene {
    let relay: ScriptedTransport
    let clock = HeldClock()
    let model: CashAppModel
    private(set) var kept: [[String]] = []
    private(set) var states: [CashAppModel.State] = []
    let opened = AsyncStream.makeStream(of: SignedCashAppOrder.self)

    init(_ steps: [ScriptedTransport.Step], tokens: [String] = [], validation: String = "SUCCESS") throws {
      relay = ScriptedTransport(steps)
      let afterpay = ScriptedTransport(
        .answer(200, PaymentExample.signed(PaymentExample.jwt)),
        .answer(200, PaymentExample.validated(validation)))
      model = CashAppModel(
        afterpay: try PaymentExample.afterpay(relay),
        cashApp: CashAppPayment(.sandbox, transport: afterpay, retries: .none), tokens: tokens, clock: clock)
      model.keepTokens = { [unowned self] in kept.append($0) }
      model.onChange = { [unowned self] in states.append($0) }
      model.openCashApp = { [opened] order, _ in
        opened.continuation.yield(order)
        return true
      }
      model.approvedGrant = { _ in CashAppModel.Grant(id: "GRG_1", customerID: "CST_1") }
    }

    /// Buys, and comes back by these URLs.
    func buy(_ backs: String...) async throws {
      let task = Task { await model.buy(price: "gold", email: "user@example.com") }
      for await order in opened.stream {
        #expect(order.cents == 5000)
        #expect(order.brandID == "BRAND_ID")
        break
      }
      #expect(await clock.sleeper() == 600)
      for back in backs { _ = model.open(try url(back)) }
      if backs.isEmpty { clock.ring() }
      await task.value
    }
  }

  @Test("A payment goes through Cash App and is captured with its grant")
  func pays() async throws {
    let scene = try Scene([Self.started, Self.approved])
    try await scene.buy("exampleapp://other", "exampleapp://cash-app?request=GRR_1")
    #expect(scene.states == [.preparing, .inCashApp, .capturing, .paid])
    #expect(scene.kept == [[Self.token], []])
    let body = try #require(scene.relay.sent.last?.httpBody)
    let sent = try JSONDecoder().decode([String: String].self, from: body)
    #expect(sent == ["token": Self.token, "grantId": "GRG_1"])
  }

  @Test("CA25: a customer who does not come back in time has paid nothing, and is shown that once")
  func timesOut() async throws {
    let scene = try Scene([Self.started])
    try await scene.buy()
    #expect(scene.states == [.preparing, .inCashApp, .notPaid])
    #expect(!scene.model.open(try url("exampleapp://cash-app")))
    #expect(scene.states.last == .notPaid)
    #expect(scene.relay.sent.count == 1)
    #expect(scene.kept == [])
  }

  @Test("A customer who declines in Cash App, or whose grant is not valid, has paid nothing")
  func isDeclined() async throws {
    let declined = try Scene([Self.started])
    declined.model.approvedGrant = { _ in nil }
    try await declined.buy("exampleapp://cash-app")
    #expect(declined.model.state == .notPaid)
    let invalid = try Scene([Self.started], validation: "FAILURE")
    try await invalid.buy("exampleapp://cash-app")
    #expect(invalid.model.state == .notOpened(.tryAgain))
    for scene in [declined, invalid] {
      #expect(scene.relay.sent.count == 1)
      #expect(scene.kept == [])
    }
  }

  @Test("A declined capture is not paid, and one that was not confirmed keeps its token")
  func isNotCharged() async throws {
    let declined = try Scene([Self.started, .answer(402, PaymentExample.declined)])
    try await declined.buy("exampleapp://cash-app")
    #expect(declined.model.state == .notPaid)
    #expect(declined.kept == [[Self.token], []])
    let early = try Scene([Self.started, .answer(412), Self.state("started")])
    try await early.buy("exampleapp://cash-app")
    #expect(early.model.state == .notPaid)
    #expect(early.kept == [[Self.token]])
  }

  @Test("An unknown outcome is shown as such, blocks a second payment, and is found out later")
  func findsOutLater() async throws {
    let scene = try Scene([Self.started, .answer(401, "no"), .answer(401, "no")])
    try await scene.buy("exampleapp://cash-app")
    #expect(scene.model.state == .unchecked)
    #expect(scene.kept == [[Self.token]])
    await scene.model.buy(price: "gold", email: "user@example.com")
    #expect(scene.relay.sent.count == 3)
    scene.relay.add(Self.state("capture_pending"))
    await scene.model.resume()
    #expect(scene.model.state == .unchecked)
    scene.relay.add(.answer(401, "no"))
    await scene.model.resume()
    #expect(scene.model.state == .unchecked)
    scene.relay.add(Self.state("captured"))
    await scene.model.resume()
    #expect(scene.model.state == .paid)
    #expect(scene.kept == [[Self.token], []])
  }

  @Test(
    "After a restart of the app the relay decides what is shown",
    arguments: [
      (Self.state("captured"), CashAppModel.State.paid, [[]]), (Self.state("declined"), .notPaid, [[]]),
      (Self.state("expired"), .notPaid, [[]]), (Self.state("started"), .notPaid, []),
      (Self.state("capture_pending"), .unchecked, []), (Self.state("reversed"), .notPaid, [[]]),
      (Self.state("abandoned"), .unknown, [[]]),
      (PaymentExample.refusal(404, "unknown-payment"), .unknown, [[]]),
      (PaymentExample.refusal(404, "not-found"), .unchecked, []),
    ] as [(ScriptedTransport.Step, CashAppModel.State, [[String]])])
  func restarts(
    _ step: ScriptedTransport.Step, _ end: CashAppModel.State, _ kept: [[String]]
  ) async throws {
    let scene = try Scene([step], tokens: [Self.token])
    #expect(scene.model.state == .unchecked)
    await scene.model.resume()
    #expect(scene.model.state == end)
    #expect(scene.kept == kept)
  }

  @Test("A checkout that cannot be started is not opened")
  func isNotOpened() async throws {
    let scene = try Scene([PaymentExample.refusal(422, "unsupported-payment-type")])
    await scene.model.buy(price: "gold", email: "user@example.com")
    #expect(scene.states == [.preparing, .notOpened(.contactSupport)])
    let missing = try Scene([Self.started])
    missing.model.openCashApp = { _, _ in false }
    await missing.model.buy(price: "gold", email: "user@example.com")
    #expect(missing.states == [.preparing, .notOpened(.tryAgain)])
  }
}
