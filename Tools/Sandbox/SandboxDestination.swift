// A simulation of Purchasely's receipt endpoint, for experiments and tests: it performs the publicly
// documented checks, and fails on demand. It listens on this machine only, and stores nothing: it passes each
// request to its owner.

public import HTTPServer
internal import Platform

/// A running simulation of `POST https://s2s.purchasely.io/receipts`.
///
/// Owns a server and one timer thread; `stop` ends both, and so does `deinit`. Thread-safe, but do not call
/// it from `onReceipt`.
public final class SandboxDestination: Sendable {
  /// The path that receipts are posted to.
  public static let path = "/receipts"

  /// Only this machine can reach it.
  static let address = "127.0.0.1"

  private let service: SandboxServer<SandboxDestinationHandler>

  /// Starts to listen.
  /// - Parameters:
  ///   - port: 0 lets the system choose a free port.
  ///   - seed: the same seed fails the same requests, counted in order of arrival.
  ///   - onReceipt: called for each request, on a thread of the server; must not block for long.
  /// - Throws: `ServerError`; then nothing keeps running.
  public init(
    port: UInt16 = 0, behaviour: SandboxBehaviour = SandboxBehaviour(), seed: UInt64 = 1,
    onReceipt: @escaping @Sendable (SandboxReceipt) -> Void = { _ in }
  ) throws(ServerError) {
    service = try SandboxServer(port: port) { timer in
      SandboxDestinationHandler(behaviour, seed: seed, timer: timer, onReceipt: onReceipt)
    }
  }

  /// The port it listens on.
  public var port: UInt16 { service.port }

  /// The value of `purchasely.url` that sends receipts here.
  public var url: String { service.base + Self.path }

  /// How subsequent requests are answered.
  public var behaviour: SandboxBehaviour {
    get { service.handler.behaviour.withLock { $0 } }
    set { service.handler.behaviour.withLock { $0 = newValue } }
  }

  /// Sends all waiting answers, closes everything, and returns when no thread is left.
  public func stop() { service.stop() }
}

/// How the simulation answers.
public struct SandboxBehaviour: Sendable, Equatable {
  /// Answers every request with this status, regardless of its content; nil validates the request.
  public var status: Int?
  /// The share of requests that are answered with 503, 0…1.
  public var failRate: Double
  /// The delay of every answer.
  public var delay: Duration
  /// The accepted key; nil accepts any.
  public var apiKey: String?

  public init(
    status: Int? = nil, failRate: Double = 0, delay: Duration = .zero, apiKey: String? = nil
  ) {
    self.status = status
    self.failRate = failRate
    self.delay = delay
    self.apiKey = apiKey
  }
}

/// One received request, and the status of its answer.
public struct SandboxReceipt: Sendable, Equatable {
  public var method: String
  public var path: String
  /// The headers that the endpoint documents, in that order; the key's value is left out.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  /// The status of the answer.
  public var status: Int

  public static func == (left: Self, right: Self) -> Bool {
    left.method == right.method && left.path == right.path && left.body == right.body
      && left.status == right.status
      && left.headers.elementsEqual(right.headers) { $0 == $1 }
  }
}
