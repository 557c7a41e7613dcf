// The sample for Cash App Pay behaves as docs/ios.md and docs/afterpay.md describe.

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

  private nonisolated static let grant = CashAppModel.Event.approved(
    CashAppModel.Grant(id: "GRG_1", customerID: "CST_1"))

  /// An app with a relay, an Afterpay and a Cash App of the test's own.
  @MainActor private final class Scene {
    let relay: ScriptedTransport
    let clock = HeldClock()
    let model: CashAppModel
    private(set) var kept: [[String]] = []
    private(set) var states: [CashAppModel.State] = []
    private(set) var orders: [SignedCashAppOrder] = []
    private(set) var redirects: [URL] = []

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
      model.createRequest = { [unowned self] order, redirect in
        orders.append(order)
        #expect(redirect.absoluteString == "exampleapp://cash-app")
        model.report(.ready)
      }
      model.passRedirect = { [unowned self] in redirects.append($0) }
    }

    func prepare() async { await model.prepare(price: "gold", email: "user@example.com") }

    /// Prepares and taps, comes back by these URLs, and reports an event of Cash App's SDK.
    /// - Parameter event: nil lets the time run out.
    func buy(_ backs: String..., event: CashAppModel.Event? = CashAppSampleTests.grant) async throws {
      await prepare()
      #expect(orders.map(\.cents) == [5000])
      #expect(orders.map(\.brandID) == ["BRAND_ID"])
      let task = Task { await model.pay() }
      #expect(await clock.sleeper() == 600)
      for back in backs { _ = model.open(try url(back)) }
      if let event { model.report(event) } else { clock.ring() }
      await task.value
    }
  }

  @Test func `A payment goes through Cash App and is captured with its grant`() async throws {
    let scene = try Scene([Self.started, Self.approved])
    try await scene.buy("exampleapp://other", "exampleapp://cash-app?request=GRR_1")
    #expect(scene.states == [.preparing, .ready, .inCashApp, .capturing, .paid])
    #expect(scene.redirects.map(\.absoluteString) == ["exampleapp://cash-app?request=GRR_1"])
    #expect(scene.kept == [[Self.token], []])
    let body = try #require(scene.relay.sent.last?.httpBody)
    let sent = try JSONDecoder().decode([String: String].self, from: body)
    #expect(sent == ["token": Self.token, "grantId": "GRG_1"])
  }

  @Test("CA26: an approval needs no redirect: Cash App's SDK polls when the app is in front again")
  func paysWithoutRedirect() async throws {
    let scene = try Scene([Self.started, Self.approved])
    try await scene.buy()
    #expect(scene.model.state == .paid)
    #expect(scene.redirects.isEmpty)
    #expect(!scene.model.open(try url("exampleapp://cash-app")))
  }

  @Test("CA25, CA27: no decision in time ends once, with what the relay says of the payment")
  func timesOut() async throws {
    let scene = try Scene([Self.started, Self.state("started")])
    try await scene.buy(event: nil)
    #expect(scene.states == [.preparing, .ready, .inCashApp, .unchecked, .notPaid])
    #expect(!scene.model.open(try url("exampleapp://cash-app")))
    scene.model.report(Self.grant)
    #expect(scene.model.state == .notPaid)
    #expect(scene.relay.sent.count == 2)
    #expect(scene.kept == [[Self.token]])
  }

  @Test(
    "CA27: after a time-out the relay decides: no answer is not known, and a charge is shown"
  )
  func timesOutUnknown() async throws {
    let silent = try Scene([Self.started, .answer(401, "no")])
    try await silent.buy(event: nil)
    #expect(silent.model.state == .unchecked)
    let charged = try Scene([Self.started, Self.state("captured")])
    try await charged.buy(event: nil)
    #expect(charged.model.state == .paid)
    #expect(charged.kept == [[Self.token], []])
  }

  @Test func `A customer who came back without a decision may stop waiting`() async throws {
    let scene = try Scene([Self.started, Self.state("started")])
    await scene.prepare()
    let task = Task { await scene.model.pay() }
    #expect(await scene.clock.sleeper() == 600)
    scene.model.cancel()
    await task.value
    #expect(scene.model.state == .notPaid)
  }

  @Test("A customer who declines in Cash App, or whose grant is not valid, has paid nothing")
  func isDeclined() async throws {
    let declined = try Scene([Self.started])
    try await declined.buy("exampleapp://cash-app", event: .declined)
    #expect(declined.model.state == .notPaid)
    let invalid = try Scene([Self.started], validation: "FAILURE")
    try await invalid.buy("exampleapp://cash-app")
    #expect(invalid.model.state == .notOpened(.tryAgain))
    for scene in [declined, invalid] {
      #expect(scene.relay.sent.count == 1)
      #expect(scene.kept == [])
    }
  }

  @Test(
    "CA28: each error of Cash App's SDK has its own end, before the tap and after it",
    arguments: [
      (.api, .unavailable), (.integration, .notOpened(.contactSupport)),
      (.network, .notOpened(.checkConnection)), (.unexpected, .notOpened(.tryAgain)),
    ] as [(CashAppModel.Event.Failure, CashAppModel.State)])
  func failures(_ failure: CashAppModel.Event.Failure, _ end: CashAppModel.State) async throws {
    let early = try Scene([Self.started])
    await early.prepare()
    #expect(early.model.state == .ready)
    early.model.report(.failed(failure))
    #expect(early.model.state == end)
    await early.model.pay()
    #expect(early.model.state == end)
    let late = try Scene([Self.started])
    try await late.buy(event: .failed(failure))
    #expect(late.model.state == end)
    for scene in [early, late] { #expect(scene.relay.sent.count == 1) }
  }

  @Test func `A failed payment can be prepared again`() async throws {
    let scene = try Scene([PaymentExample.refusal(422, "unknown-price"), Self.started])
    await scene.prepare()
    #expect(scene.model.state == .notOpened(.contactSupport))
    await scene.prepare()
    #expect(scene.model.state == .ready)
  }

  @Test func `A declined capture is not paid, and one that was not confirmed keeps its token`() async throws {
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
    await scene.prepare()
    await scene.model.pay()
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
    arguments: [
      (Self.state("captured"), CashAppModel.State.paid, [[]]), (Self.state("declined"), .notPaid, [[]]),
      (Self.state("expired"), .notPaid, [[]]), (Self.state("started"), .notPaid, []),
      (Self.state("capture_pending"), .unchecked, []), (Self.state("reversed"), .notPaid, [[]]),
      (Self.state("abandoned"), .unknown, [[]]),
      (PaymentExample.refusal(404, "unknown-payment"), .unknown, [[]]),
      (PaymentExample.refusal(404, "not-found"), .unchecked, []),
    ] as [(ScriptedTransport.Step, CashAppModel.State, [[String]])])
  func `After a restart of the app the relay decides what is shown`(
    _ step: ScriptedTransport.Step, _ end: CashAppModel.State, _ kept: [[String]]
  ) async throws {
    let scene = try Scene([step], tokens: [Self.token])
    #expect(scene.model.state == .unchecked)
    await scene.model.resume()
    #expect(scene.model.state == end)
    #expect(scene.kept == kept)
  }

  @Test func `A checkout that cannot be started is not opened`() async throws {
    let scene = try Scene([PaymentExample.refusal(422, "unsupported-payment-type")])
    await scene.prepare()
    #expect(scene.states == [.preparing, .notOpened(.contactSupport)])
    await scene.model.pay()
    #expect(scene.relay.sent.count == 1)
  }
}
