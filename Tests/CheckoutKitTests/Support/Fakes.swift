// Fake clocks and transports for tests.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A value behind a lock.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

/// A clock that advances at once when a task sleeps.
final class InstantClock: CheckoutClock {
  private let state = Guarded((seconds: 1000.0, pauses: [TimeInterval]()))

  var seconds: TimeInterval { state.withLock(\.seconds) }
  var date: Date { Date(timeIntervalSince1970: 1_795_255_200 + seconds) }
  /// The duration of each sleep.
  var pauses: [TimeInterval] { state.withLock(\.pauses) }

  func pass(_ seconds: TimeInterval) { state.withLock { $0.seconds += seconds } }

  func sleep(seconds: TimeInterval) async throws {
    try Task.checkCancellation()
    state.withLock {
      $0.seconds += seconds
      $0.pauses.append(seconds)
    }
  }
}

/// A clock that the test advances: every sleep lasts until `ring`.
final class HeldClock: CheckoutClock {
  private struct State {
    var sleeps = 0
    var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
    var cancelled: Set<Int> = []
  }

  private let state = Guarded(State())
  private let asleep = AsyncStream.makeStream(of: TimeInterval.self)

  var seconds: TimeInterval { 0 }
  var date: Date { Date(timeIntervalSince1970: 0) }

  func sleep(seconds: TimeInterval) async throws {
    let number = state.withLock { state in
      state.sleeps += 1
      return state.sleeps
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if !state.cancelled.contains(number) { state.sleepers[number] = continuation }
          return state.cancelled.contains(number)
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        asleep.continuation.yield(seconds)
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.cancelled.insert(number)
        return state.sleepers.removeValue(forKey: number)
      }
      sleeper?.resume(throwing: CancellationError())
    }
  }

  /// Waits until a task sleeps.
  /// - Returns: the duration that it asked for.
  func sleeper() async -> TimeInterval? {
    for await seconds in asleep.stream { return seconds }
    return nil
  }

  /// Wakes all sleeping tasks.
  func ring() {
    let sleepers = state.withLock { state in
      defer { state.sleepers = [:] }
      return state.sleepers.values
    }
    for sleeper in sleepers { sleeper.resume() }
  }
}

/// Returns scripted answers in order, and records the requests. After the end of the script it fails like a
/// network failure.
final class ScriptedTransport: Transport {
  enum Step: Sendable {
    case answer(Int, String = "", headers: [String: String] = [:])
    /// No response, with this `URLError` code.
    case failure(Int)
    /// A response that is not HTTP.
    case other
    /// No response until the task is cancelled.
    case silence
    /// This answer, after `release`.
    case held(Int, String = "")
  }

  static let offline = Step.failure(URLError.Code.notConnectedToInternet.rawValue)

  private let state: Guarded<(steps: [Step], sent: [URLRequest])>
  private let onRequest: @Sendable (URLRequest) -> Void
  private let releases = AsyncStream.makeStream(of: Void.self)

  init(_ steps: [Step], onRequest: @escaping @Sendable (URLRequest) -> Void = { _ in }) {
    state = Guarded((steps, []))
    self.onRequest = onRequest
  }

  convenience init(_ steps: Step...) { self.init(steps) }

  var sent: [URLRequest] { state.withLock(\.sent) }

  /// Appends to the script.
  func add(_ steps: Step...) { state.withLock { $0.steps += steps } }

  /// Gives a held answer.
  func release() { releases.continuation.yield() }

  func send(_ request: URLRequest) async throws -> (Data, URLResponse) {
    onRequest(request)
    let step = state.withLock { state in
      state.sent.append(request)
      return state.steps.isEmpty ? Self.offline : state.steps.removeFirst()
    }
    let url = try #require(request.url)
    switch step {
    case .answer(let status, let body, let headers):
      let response = HTTPURLResponse(
        url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
      return (Data(body.utf8), try #require(response))
    case .failure(let code): throw NSError(domain: NSURLErrorDomain, code: code)
    case .other:
      return (Data(), URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
    case .silence:
      for await _ in AsyncStream<Void>.makeStream().stream {}
      throw CancellationError()
    case .held(let status, let body):
      for await _ in releases.stream { break }
      try Task.checkCancellation()
      let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
      return (Data(body.utf8), try #require(response))
    }
  }
}

/// Example answers of a relay, and a client of it.
enum Example {
  static let id = "ctx_01HXZ4T9V8KQ2M3N4P5R6S7T8V"
  static let price = "price_monthly_7"
  static let context = WebCheckoutContext(
    presentationID: "pres_1", placementID: "onboarding", stripePriceID: price)

  static func posted(checkout: String? = nil) -> String {
    let page = checkout.map { #","checkout_url":"\#($0)""# } ?? ""
    return #"{"context_id":"\#(id)","user_id":"jdo-1","stripe_price_id":"\#(price)","#
      + #""received_at":"2026-11-20T10:00:00.123Z","expires_at":"2026-11-21T10:00:00.123Z","#
      + #""status_url":"/v1/ios/contexts/\#(id)"\#(page)}"#
  }

  /// - Parameter paid: nil for a relay that does not send it.
  static func status(_ state: String, paid: Bool? = nil, receipt: String? = nil) -> String {
    let receipt = receipt.map { #""\#($0)""# } ?? "null"
    let paid = paid.map { #""paid":\#($0),"# } ?? ""
    return #"{"context_id":"\#(id)","state":"\#(state)",\#(paid)"receipt_id":\#(receipt),"#
      + #""updated_at":"2026-11-20T10:00:05Z"}"#
  }

  static func client(
    _ transport: any Transport, credential: RelayClient.Credential = .clientKey("key-1"),
    retries: RetryPolicy = RetryPolicy(jitter: 0), clock: any CheckoutClock = InstantClock(),
    relay: String = "https://pay.example.com", app: String = "ios"
  ) throws -> RelayClient {
    RelayClient(
      relay: try url(relay), app: app, credential: credential, transport: transport, retries: retries,
      clock: clock)
  }
}

extension Example {
  /// An outbox whose folder cannot be made, so it stores nothing.
  static func outbox(_ relay: RelayClient) -> CheckoutOutbox {
    CheckoutOutbox(relay: relay, folder: URL(fileURLWithPath: "/dev/null/checkout-kit"))
  }

  /// The sample's model with its own session.
  @MainActor static func shop(
    _ relay: RelayClient, _ outbox: CheckoutOutbox, user: String = "jdo-1", isAnonymous: Bool = false,
    checkouts: OpenCheckouts = OpenCheckouts(), clock: any CheckoutClock = InstantClock(),
    reloadEntitlements: @escaping () async -> Bool = { true }
  ) -> ShopModel {
    ShopModel(
      checkout: CheckoutSession(
        relay: relay, outbox: outbox, schemes: [ShopModel.scheme], userID: user, isAnonymous: isAnonymous,
        checkouts: checkouts, attributes: { ["ply_last_placement_displayed": "onboarding"] }, clock: clock,
        reloadEntitlements: reloadEntitlements))
  }
}

extension RelayClient {
  /// Posts the example's context.
  @discardableResult func post(_ user: String = "jdo-1") async throws(RelayError) -> PostedContext {
    try await post(Example.context, userID: user)
  }
}

/// A URL of a test.
func url(_ text: String) throws -> URL { try #require(URL(string: text), "\(text) is no URL") }

/// Records an unexpected error.
func unexpected(_ error: (any Error)?) { Issue.record("\(String(describing: error))") }
