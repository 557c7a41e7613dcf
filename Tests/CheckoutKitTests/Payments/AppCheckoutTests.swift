// Starting a checkout with Afterpay or Cash App Pay, and following its state.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct AppCheckoutTests {
  private static let token = PaymentExample.token
  private static let root = "https://pay.example.com/v1/ios/users/jdo-1/afterpay"

  private static func state(_ state: String) -> ScriptedTransport.Step {
    .answer(200, PaymentExample.state(state))
  }

  private static func body(_ request: URLRequest) throws -> NSDictionary {
    let json = try JSONSerialization.jsonObject(with: try #require(request.httpBody))
    return try #require(json as? NSDictionary)
  }

  // MARK: Starting

  @Test func `A checkout is started with a price's name, and never with an amount`() async throws {
    let transport = ScriptedTransport(.answer(201, PaymentExample.started))
    let afterpay = try PaymentExample.afterpay(transport, contextID: Example.id)
    let started = try await afterpay.start(price: "gold", email: "user@example.com", isCashAppPay: true)
    #expect(started.token == Self.token)
    #expect(started.url.absoluteString == PaymentExample.page)
    let request = try #require(transport.sent.first)
    #expect(request.url?.absoluteString == "\(Self.root)/checkout")
    #expect(request.httpMethod == "POST")
    #expect(request.value(forHTTPHeaderField: "X-API-KEY") == "key-1")
    #expect(request.value(forHTTPHeaderField: "X-Context-Id") == Example.id)
    #expect(request.value(forHTTPHeaderField: "X-User-Id") == nil)
    #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json; charset=utf-8")
    #expect(request.timeoutInterval > 30, "the relay may wait 30 s for Afterpay")
    let body: NSDictionary = ["price": "gold", "email": "user@example.com", "isCashAppPay": true]
    #expect(try Self.body(request) == body)
  }

  @Test("A checkout of a signed-in user needs no user id; without a context no header is sent")
  func startsByToken() async throws {
    let transport = ScriptedTransport(.answer(200, PaymentExample.started))
    let afterpay = try PaymentExample.afterpay(transport, userID: nil, credential: .token { "t" })
    _ = try await afterpay.start(price: "gold", email: "user@example.com", mode: .express)
    let request = try #require(transport.sent.first)
    #expect(request.url?.absoluteString == "https://pay.example.com/v1/ios/afterpay/checkout")
    #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer t")
    #expect(request.value(forHTTPHeaderField: "X-Context-Id") == nil)
    let body: NSDictionary = [
      "price": "gold", "email": "user@example.com", "isCashAppPay": false, "mode": "express",
    ]
    #expect(try Self.body(request) == body)
  }

  @Test func `A checkout that the relay would refuse is not sent`() async throws {
    let transport = ScriptedTransport()
    let afterpay = try PaymentExample.afterpay(transport)
    let broken = try PaymentExample.afterpay(transport, contextID: "ctx_1\r\nX-API-KEY: x")
    let calls: [@Sendable () async throws -> StartedAfterpayCheckout] = [
      { try await afterpay.start(price: "", email: "a@b") },
      { try await afterpay.start(price: "p", email: "") },
      { try await afterpay.start(price: "p\n", email: "a@b") },
      { try await afterpay.start(price: "p", email: "a@b", isCashAppPay: true, mode: .express) },
      { try await broken.start(price: "p", email: "a@b") },
      { try await PaymentExample.afterpay(transport, userID: "..").start(price: "p", email: "a@b") },
    ]
    for call in calls {
      let error = await #expect(throws: RelayError.self) { try await call() }
      guard case .encoding = error else { return unexpected(error) }
    }
    #expect(transport.sent.isEmpty)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"token":"a/b","url":"https://x.example"}"#,
    #"{"token":"","url":"https://x.example"}"#,
    #"{"token":"..","url":"https://x.example"}"#, #"{"token":"005.a","url":"javascript:alert(1)"}"#,
    #"{"token":"005.a","url":"otherapp://x"}"#, #"{"token":"005.a"}"#,
    #"{"token":"a\r\nb","url":"https://x.example"}"#,
  ])
  func `An answer without a token or a page is unexpected`(_ body: String) async throws {
    let afterpay = try PaymentExample.afterpay(ScriptedTransport(.answer(201, body)))
    await #expect(throws: RelayError.unexpectedAnswer(status: 201, body: OperatorText(body))) {
      try await afterpay.start(price: "gold", email: "user@example.com")
    }
  }

  @Test func `An amount outside of the limits is the relay's problem, and is not repeated`() async throws {
    let transport = ScriptedTransport(PaymentExample.refusal(422, "unsupported-payment-type"))
    let afterpay = try PaymentExample.afterpay(transport)
    let error = await #expect(throws: RelayError.self) {
      try await afterpay.start(price: "gold", email: "user@example.com")
    }
    #expect(error?.status == 422)
    #expect(transport.sent.count == 1)
  }

  @Test func `The configuration is read`() async throws {
    let transport = ScriptedTransport(.answer(200, PaymentExample.configuration), .answer(200, "{}"))
    let afterpay = try PaymentExample.afterpay(transport)
    let configuration = try await afterpay.configuration()
    #expect(configuration.minimumAmount == PaymentAmount(amount: "10.00", currency: "USD"))
    #expect(configuration.maximumAmount == PaymentAmount(amount: "2000.00", currency: "USD"))
    #expect(configuration.locale.identifier == "en_US")
    #expect(configuration.locale.country == "US")
    #expect(transport.sent.first?.url?.absoluteString == "\(Self.root)/configuration")
    #expect(transport.sent.first?.httpMethod == "GET")
    await #expect(throws: RelayError.unexpectedAnswer(status: 200, body: "{}")) {
      try await afterpay.configuration()
    }
  }

  // MARK: The state

  @Test(
    "A state has its progress; a state of a newer relay may be a charge",
    arguments: [
      ("started", AfterpayStatus.Progress.pending, false), ("capture_pending", .processing, false),
      ("captured", .paid, true), ("declined", .unpaid, true), ("refused", .unpaid, true),
      ("expired", .unpaid, true), ("closed", .unpaid, true), ("reversed", .unpaid, true),
      ("abandoned", .unresolved, true), ("CAPTURED", .processing, false), ("a-new-state", .processing, false),
      ("", .processing, false),
    ])
  func hasProgress(_ state: String, _ progress: AfterpayStatus.Progress, _ isFinal: Bool) async throws {
    let transport = ScriptedTransport(Self.state(state))
    let status = try await PaymentExample.afterpay(transport).status(of: Self.token)
    #expect(status.token == Self.token)
    #expect(status.state.rawValue == state)
    #expect(status.progress == progress)
    #expect(status.state.isFinal == isFinal)
    #expect(status.progress.isOver == isFinal)
    let request = try #require(transport.sent.first)
    #expect(request.url?.absoluteString == "\(Self.root)/checkouts/\(Self.token)")
    #expect(request.value(forHTTPHeaderField: "X-API-KEY") == "key-1")
  }

  @Test func `A checkout that the relay does not know differs from any other 404`() async throws {
    func error(_ step: ScriptedTransport.Step) async throws -> RelayError {
      let afterpay = try PaymentExample.afterpay(ScriptedTransport(step))
      return try await #require(throws: RelayError.self) { try await afterpay.status(of: Self.token) }
    }
    #expect(try await error(PaymentExample.refusal(404, "unknown-payment")).isUnknownCheckout)
    #expect(!(try await error(PaymentExample.refusal(404, "not-found")).isUnknownCheckout))
    #expect(!(try await error(PaymentExample.refusal(403, "unknown-payment")).isUnknownCheckout))
    #expect(!(try await error(.answer(404, "<html>")).isUnknownCheckout))
    #expect(!RelayError.timedOut.isUnknownCheckout)
  }

  @Test(arguments: ["{}", "[]", PaymentExample.state("captured", of: "005.other"), #"{"state":"captured"}"#])
  func `The state of another checkout, or none, is unexpected`(_ body: String) async throws {
    let afterpay = try PaymentExample.afterpay(ScriptedTransport(.answer(200, body)))
    await #expect(throws: RelayError.unexpectedAnswer(status: 200, body: OperatorText(body))) {
      try await afterpay.status(of: Self.token)
    }
  }

  @Test(arguments: ["", "a/b", "..", "a\r\nb", "é", "a b"])
  func `A token that cannot be a checkout's is not sent`(_ token: String) async throws {
    let transport = ScriptedTransport()
    let afterpay = try PaymentExample.afterpay(transport)
    await #expect(throws: RelayError.self) { try await afterpay.status(of: token) }
    guard case .unknown(.encoding) = await afterpay.capture(token) else {
      Issue.record("was sent")
      return
    }
    #expect(transport.sent.isEmpty)
  }

  @Test func `The current state is delivered at once, then each change, until the end`() async throws {
    let clock = InstantClock()
    let transport = ScriptedTransport(
      Self.state("started"), Self.state("started"), ScriptedTransport.offline, Self.state("capture_pending"),
      Self.state("captured"))
    var states: [AfterpayStatus.State] = []
    for try await status in try PaymentExample.afterpay(transport, clock: clock).updates(of: Self.token) {
      states.append(status.state)
    }
    #expect(states == [.started, .capturePending, .captured])
    // Pauses between polls, and one for the failed network.
    #expect(clock.pauses == [1, 2, 0.5, 4])
  }

  @Test func `Polling ends in time, with the last failure if the relay could not be reached`() async throws {
    let clock = InstantClock()
    let start = clock.seconds
    let capturing = ScriptedTransport(Array(repeating: Self.state("capture_pending"), count: 99))
    let slow = try PaymentExample.afterpay(capturing, clock: clock)
    await #expect(throws: RelayError.timedOut) { try await slow.finalStatus(of: Self.token, within: 60) }
    #expect(clock.seconds - start == 60)
    #expect(clock.pauses == [1, 2, 4, 8, 15, 15, 15])
    let dead = try PaymentExample.afterpay(ScriptedTransport(), clock: clock)
    let error = await #expect(throws: RelayError.self) {
      try await dead.finalStatus(of: Self.token, within: 60)
    }
    guard case .network = error else { return unexpected(error) }
    for seconds in [0, -1, TimeInterval.nan] {
      let one = ScriptedTransport(Array(repeating: Self.state("started"), count: 9))
      let hasty = try PaymentExample.afterpay(one)
      await #expect(throws: RelayError.timedOut) {
        try await hasty.finalStatus(of: Self.token, within: seconds)
      }
      #expect(one.sent.count == 1)
    }
  }

  @Test func `Cancelling the task ends the polling`() async throws {
    let clock = HeldClock()
    let transport = ScriptedTransport(Self.state("started"))
    let afterpay = try PaymentExample.afterpay(transport, clock: clock)
    let task = Task { try await afterpay.finalStatus(of: Self.token) }
    #expect(await clock.sleeper() == 1)
    task.cancel()
    await #expect(throws: RelayError.cancelled) { try await task.value }
  }
}
