// A capture reports "not charged" only when the relay confirms it.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct CaptureOutcomeTests {
  private static let token = PaymentExample.token

  private static func state(_ state: String) -> ScriptedTransport.Step {
    .answer(200, PaymentExample.state(state))
  }

  private static func status(_ state: AfterpayStatus.State) -> AfterpayStatus {
    AfterpayStatus(token: token, state: state)
  }

  /// Captures against a script that must be used up.
  private static func capture(
    _ steps: ScriptedTransport.Step..., within seconds: TimeInterval = 180,
    credential: RelayClient.Credential = .clientKey("key-1"), clock: InstantClock = InstantClock()
  ) async throws -> (outcome: AfterpayOutcome, sent: [String]) {
    let transport = ScriptedTransport(steps)
    let afterpay = try PaymentExample.afterpay(transport, credential: credential, clock: clock)
    let outcome = await afterpay.capture(token, grantID: PaymentExample.grant, within: seconds)
    #expect(transport.sent.count == steps.count, "the script was not used up, or was too short")
    return (outcome, transport.sent.map { $0.httpMethod ?? "" })
  }

  /// The state and the status of the refusal, if the relay confirmed that nothing was charged.
  private static func notCharged(_ outcome: AfterpayOutcome) -> (AfterpayStatus.State, Int?)? {
    guard case .notCharged(let status, let because) = outcome else { return nil }
    return (status.state, because?.status)
  }

  private static func isNotCharged(
    _ outcome: AfterpayOutcome, _ state: AfterpayStatus.State, _ because: Int?
  ) -> Bool {
    notCharged(outcome).map { $0.0 == state && $0.1 == because } ?? false
  }

  private static func unknown(_ outcome: AfterpayOutcome) -> RelayError? {
    if case .unknown(let error) = outcome { error } else { nil }
  }

  // MARK: What is sent

  @Test func `A capture sends token and grant, and leaves the relay time for Afterpay`() async throws {
    let transport = ScriptedTransport(
      .answer(201, PaymentExample.approved), .answer(201, PaymentExample.approved))
    let afterpay = try PaymentExample.afterpay(transport, contextID: Example.id)
    let outcome = await afterpay.capture(Self.token, grantID: PaymentExample.grant)
    #expect(outcome == .captured(Self.status(.captured)))
    let request = try #require(transport.sent.first)
    let address = "https://pay.example.com/v1/ios/users/jdo-1/afterpay/capture"
    #expect(request.url?.absoluteString == address)
    #expect(request.httpMethod == "POST")
    #expect(request.value(forHTTPHeaderField: "X-API-KEY") == "key-1")
    // The relay gives Afterpay 10 s for the connection and 70 s for the answer.
    #expect(request.timeoutInterval > 80)
    let body = try JSONDecoder().decode([String: String].self, from: try #require(request.httpBody))
    #expect(body == ["token": Self.token, "grantId": PaymentExample.grant])
    _ = await afterpay.capture(Self.token, within: 30)
    let short = try #require(transport.sent.last)
    #expect(short.timeoutInterval == 30)
    let plain = try JSONDecoder().decode([String: String].self, from: try #require(short.httpBody))
    #expect(plain == ["token": Self.token])
  }

  // MARK: Answers

  @Test(
    "An approved capture is captured, as Afterpay's payment or as the relay's state",
    arguments: [PaymentExample.approved, PaymentExample.state("captured"), #"{"status":"APPROVED"}"#])
  func captures(_ body: String) async throws {
    #expect(try await Self.capture(.answer(201, body)).outcome == .captured(Self.status(.captured)))
  }

  @Test(
    "A declined capture is not charged, whatever the HTTP status",
    arguments: [201, 402], [PaymentExample.declined, PaymentExample.state("declined")])
  func isDeclined(_ status: Int, _ body: String) async throws {
    let outcome = try await Self.capture(.answer(status, body)).outcome
    #expect(Self.isNotCharged(outcome, .declined, status == 402 ? 402 : nil))
  }

  @Test(arguments: [
    (200, ""), (200, "<html>"), (200, "{}"), (202, PaymentExample.state("capture_pending")), (204, ""),
    (201, #"{"status":"APPROVED","token":"005.other"}"#),
    (201, #"{"status":"APPROVED","state":"declined"}"#),
    (402, PaymentExample.approved), (402, "{}"), (402, PaymentExample.problem("invalid-token", 402)),
    (500, PaymentExample.declined), (502, ""), (503, "busy"),
    (504, PaymentExample.problem("capture-outcome-unknown", 504)),
    (409, PaymentExample.problem("capture-under-way", 409)), (412, PaymentExample.declined), (302, ""),
    (401, ""), (404, "<html>"), (408, ""),
  ])
  func `An answer that is not an outcome leads to the state`(_ status: Int, _ body: String) async throws {
    let (outcome, sent) = try await Self.capture(.answer(status, body), Self.state("captured"))
    #expect(outcome == .captured(Self.status(.captured)))
    #expect(sent == ["POST", "GET"])
  }

  @Test(arguments: ["captured", "declined", "refused", "expired", "closed"])
  func `A lost answer leads to the state, whichever it is`(_ state: String) async throws {
    let (outcome, _) = try await Self.capture(ScriptedTransport.offline, Self.state(state))
    if state == "captured" {
      #expect(outcome == .captured(Self.status(.captured)))
    } else {
      #expect(Self.isNotCharged(outcome, .init(rawValue: state), nil))
    }
  }

  @Test func `A capture under way is polled until it ends`() async throws {
    let clock = InstantClock()
    let (outcome, sent) = try await Self.capture(
      PaymentExample.refusal(504, "capture-outcome-unknown"), Self.state("capture_pending"),
      ScriptedTransport.offline,
      Self.state("capture_pending"), Self.state("a-new-state"), Self.state("captured"), clock: clock)
    #expect(outcome == .captured(Self.status(.captured)))
    #expect(sent == ["POST", "GET", "GET", "GET", "GET", "GET"])
    #expect(clock.pauses == [1, 0.5, 2, 4])
  }

  @Test func `Money that was received and went back was received`() async throws {
    let (outcome, _) = try await Self.capture(ScriptedTransport.offline, Self.state("reversed"))
    #expect(outcome == .captured(Self.status(.reversed)))
  }

  @Test func `A capture whose outcome the relay could not find out is unknown`() async throws {
    let (outcome, sent) = try await Self.capture(
      PaymentExample.refusal(504, "capture-outcome-unknown"), Self.state("abandoned"))
    #expect(Self.unknown(outcome)?.status == 504)
    #expect(sent == ["POST", "GET"])
  }

  @Test func `A capture that is refused while it is polled has charged nothing`() async throws {
    let (outcome, _) = try await Self.capture(
      .answer(504), Self.state("capture_pending"), Self.state("refused"))
    #expect(Self.isNotCharged(outcome, .refused, 504))
  }

  @Test("A customer who has not confirmed yet can do so, and the capture is repeated by the app")
  func isNotConfirmed() async throws {
    let (outcome, sent) = try await Self.capture(
      PaymentExample.refusal(412, "invalid-order-transaction-status"), Self.state("started"))
    #expect(Self.isNotCharged(outcome, .started, 412))
    #expect(sent == ["POST", "GET"])
  }

  @Test(arguments: [400, 401, 402, 403, 410, 415, 422])
  func `A refusal without a lost request has charged nothing`(_ status: Int) async throws {
    let (outcome, _) = try await Self.capture(.answer(status, "{}"), Self.state("started"))
    #expect(Self.isNotCharged(outcome, .started, status))
    let (refused, _) = try await Self.capture(.answer(status, "{}"), Self.state("refused"))
    #expect(Self.isNotCharged(refused, .refused, status))
  }

  // MARK: Lost requests

  @Test func `After a lost request a checkout that is not captured is captured again`() async throws {
    let state = "started"
    let clock = InstantClock()
    let (outcome, sent) = try await Self.capture(
      ScriptedTransport.offline, Self.state(state), .failure(URLError.Code.timedOut.rawValue),
      Self.state(state), .answer(503, headers: ["Retry-After": "9"]), Self.state(state),
      .answer(201, PaymentExample.approved), clock: clock)
    #expect(outcome == .captured(Self.status(.captured)))
    #expect(sent == ["POST", "GET", "POST", "GET", "POST", "GET", "POST"])
    #expect(clock.pauses == [1, 2, 9])
  }

  @Test(
    "After a lost request only a decision about the checkout confirms that nothing was charged",
    arguments: [400, 401, 403, 404, 415], [402, 409, 410, 412, 422])
  func doubtsRefusals(_ gate: Int, _ decision: Int) async throws {
    let (doubtful, _) = try await Self.capture(
      ScriptedTransport.offline, Self.state("started"), .answer(gate, "no"), Self.state("started"))
    #expect(Self.unknown(doubtful)?.status == gate)
    let (decided, _) = try await Self.capture(
      ScriptedTransport.offline, Self.state("started"), .answer(decision, "no"), Self.state("started"))
    #expect(Self.isNotCharged(decided, .started, decision))
  }

  @Test(
    "A request that the relay could not read in time is repeated, as a lost one", arguments: [408, 500, 503])
  func repeatsAfterTimeouts(_ status: Int) async throws {
    let (outcome, sent) = try await Self.capture(
      .answer(status, ""), Self.state("started"), .answer(201, PaymentExample.approved))
    #expect(outcome == .captured(Self.status(.captured)))
    #expect(sent == ["POST", "GET", "POST"])
  }

  @Test func `A relay that is too busy for a capture gets it later`() async throws {
    let clock = InstantClock()
    let (outcome, _) = try await Self.capture(
      .answer(429, headers: ["Retry-After": "20"]), Self.state("started"),
      .answer(201, PaymentExample.approved), clock: clock)
    #expect(outcome == .captured(Self.status(.captured)))
    #expect(clock.pauses == [20])
  }

  // MARK: Unknown outcomes

  @Test func `When the time is up, the outcome is unknown`() async throws {
    let clock = InstantClock()
    let start = clock.seconds
    let transport = ScriptedTransport(
      [.answer(504)] + Array(repeating: Self.state("capture_pending"), count: 99))
    let afterpay = try PaymentExample.afterpay(transport, clock: clock)
    #expect(Self.unknown(await afterpay.capture(Self.token, within: 60)) == .timedOut)
    #expect(clock.seconds - start == 60)
    for seconds in [0, -1, TimeInterval.nan] {
      let (outcome, _) = try await Self.capture(
        .answer(504, "late"), Self.state("started"), within: seconds)
      #expect(Self.unknown(outcome)?.status == 504)
    }
  }

  @Test func `Without a network the outcome is unknown`() async throws {
    let clock = InstantClock()
    let afterpay = try PaymentExample.afterpay(ScriptedTransport(), clock: clock)
    guard case .network = Self.unknown(await afterpay.capture(Self.token)) else {
      Issue.record("is not unknown")
      return
    }
    #expect(clock.seconds <= 1000 + 180)
  }

  @Test("A checkout that the relay does not know may have been charged before it was deleted")
  func isForgotten() async throws {
    let unknown = PaymentExample.refusal(404, "unknown-payment")
    let (outcome, _) = try await Self.capture(unknown, unknown)
    #expect(Self.unknown(outcome)?.isUnknownCheckout == true)
  }

  @Test("A refused key or a missing token leaves the outcome of an earlier capture unknown")
  func isLockedOut() async throws {
    let (outcome, _) = try await Self.capture(.answer(401, "no"), .answer(401, "no"))
    #expect(Self.unknown(outcome)?.status == 401)
    struct SignedOut: Error {}
    let (signedOut, _) = try await Self.capture(credential: .token { throw SignedOut() })
    guard case .noToken = Self.unknown(signedOut) else {
      Issue.record("is not unknown")
      return
    }
  }

  @Test func `A refused token is renewed once`() async throws {
    let (outcome, sent) = try await Self.capture(
      .answer(401), .answer(201, PaymentExample.approved), credential: .token { "t" })
    #expect(outcome == .captured(Self.status(.captured)))
    #expect(sent == ["POST", "POST"])
  }

  @Test func `A cancelled task leaves the outcome unknown`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let transport = ScriptedTransport([.silence]) { _ in began.continuation.yield() }
    let afterpay = try PaymentExample.afterpay(transport)
    let task = Task { await afterpay.capture(Self.token) }
    for await _ in began.stream { break }
    task.cancel()
    #expect(Self.unknown(await task.value) == .cancelled)
  }
}
