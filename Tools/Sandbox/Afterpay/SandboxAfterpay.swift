// A simulation of Afterpay's API, with its part of Cash App Pay, and of a customer, for experiments and
// tests. It listens on this machine only, keeps everything in memory, and moves no money.

public import Formats
public import HTTPServer
public import Platform

/// A running simulation of https://global-api-sandbox.afterpay.com and of
/// https://api-plus.us-sandbox.afterpay.com.
///
/// Owns a server and a timer thread; `stop` ends both, and so does `deinit`. Thread-safe, but do not call it
/// from `onExchange`.
public final class SandboxAfterpay: Sendable {
  private let service: SandboxServer<SandboxServiceHandler<SandboxAfterpayAccount>>

  /// Starts to listen.
  /// - Parameters:
  ///   - port: 0 lets the system choose a free port.
  ///   - seed: the same seed makes the same tokens and fails the same requests, counted in order of arrival.
  ///   - onExchange: called for each request, on a thread of the server; must not block for long.
  /// - Throws: `ServerError`; then nothing keeps running.
  public init(
    port: UInt16 = 0, settings: SandboxAfterpaySettings = SandboxAfterpaySettings(),
    faults: SandboxFaults = SandboxFaults(), seed: UInt64 = 1, clock: any Clock = SystemClock(),
    onExchange: @escaping @Sendable (SandboxExchange) -> Void = { _ in }
  ) throws(ServerError) {
    let account = SandboxAfterpayAccount(
      base: "http://\(SandboxDestination.address):\(port)", settings: settings, seed: seed)
    service = try SandboxServer(port: port) { timer in
      SandboxServiceHandler(
        account, faults, seed: seed, clock: clock, timer: timer, onExchange: onExchange, onEffects: { _ in })
    }
    // Nobody knows a port that the system chose before this.
    let base = service.base
    service.handler.state.withLock { $0.account.base = base }
  }

  /// The port it listens on.
  public var port: UInt16 { service.port }

  /// The value of `afterpay.api_base` that sends requests here.
  public var base: String { service.base }

  /// Which requests fail, and how.
  public var faults: SandboxFaults {
    get { service.handler.state.withLock { $0.faults } }
    set { service.handler.state.withLock { $0.faults = newValue } }
  }

  /// Credentials, limits and decisions.
  public var settings: SandboxAfterpaySettings {
    get { service.handler.state.withLock { $0.account.settings } }
    set { service.handler.state.withLock { $0.account.settings = newValue } }
  }

  /// All checkouts, the oldest first.
  public var checkouts: [SandboxAfterpayCheckout] { service.handler.state.withLock { $0.account.list } }

  /// What `GET /ledger` answers.
  public var ledger: JSONValue { service.handler.state.withLock { $0.account.ledger } }

  /// Acts as the customer, or as a user of the merchant's portal.
  /// - Returns: false if there is no such checkout, or if its state forbids it.
  @discardableResult public func perform(_ action: SandboxAfterpayAction, on token: String) -> Bool {
    service.handler.change { account, now in account.perform(action, on: token, now: now) }
  }

  /// Ends everything, and returns when no thread is left.
  public func stop() { service.stop() }
}

// MARK: - SandboxAfterpayFailure

// The errors of the simulated Afterpay (https://developers.afterpay.com/afterpay-online/reference/errors).
// Pure.

/// An error.
struct SandboxAfterpayFailure: Error, Equatable {
  var status: Int
  var code: String
  var message: String

  init(_ status: Int, _ code: String, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  static func invalid(_ message: String) -> SandboxAfterpayFailure {
    SandboxAfterpayFailure(422, "invalid_object", message)
  }

  static let notFound = SandboxAfterpayFailure(404, "not_found", "Nothing was found at this address")
  static let unknownToken = SandboxAfterpayFailure(
    402, "invalid_token", "The token is invalid, expired or does not exist")

  func response(id: String = "sandbox") -> Response {
    let body: JSONValue = [
      "errorCode": .string(code), "errorId": .string(id), "message": .string(message),
      "httpStatusCode": .integer(Int64(status)),
    ]
    return Response(status: status, type: "application/json", body: body.serialized())
  }
}
