// A stand-in for Purchasely's receipt endpoint, for trying things out and for tests: it checks what the real
// one is publicly known to check, and fails on demand. A server on this machine only; what it gets it hands
// to its owner and forgets.

public import HTTPServer
internal import Platform

/// A running stand-in for `POST https://s2s.purchasely.io/receipts`.
///
/// Owns a server and one timer thread; `stop` ends both, and `deinit` does when nobody stopped it. Any thread
/// may use it but those that call `onReceipt`.
public final class SandboxDestination: Sendable {
  /// The path that receipts are posted to.
  public static let path = "/receipts"

  /// It is of use to this machine only.
  static let address = "127.0.0.1"

  private let server: Server
  private let handler: SandboxDestinationHandler
  private let timer: DelayedAnswers

  /// Listens and answers at once.
  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - seed: the same seed fails the same requests, counted in order of arrival.
  ///   - onReceipt: told of each request for the endpoint, on a thread of the server; must not block for
  ///     long.
  /// - Throws: `ServerError`; nothing is left behind then.
  public init(
    port: UInt16 = 0, behaviour: SandboxBehaviour = SandboxBehaviour(), seed: UInt64 = 1,
    onReceipt: @escaping @Sendable (SandboxReceipt) -> Void = { _ in }
  ) throws(ServerError) {
    do {
      timer = try DelayedAnswers()
    } catch {
      throw .system(error)
    }
    handler = SandboxDestinationHandler(behaviour, seed: seed, timer: timer, onReceipt: onReceipt)
    do throws(ServerError) {
      server = try Server(ServerConfiguration(address: Self.address, port: port), handler: handler)
    } catch {
      timer.stop()
      throw error
    }
  }

  deinit { stop() }

  /// The port it listens on.
  public var port: UInt16 { server.port }

  /// What `purchasely.url` must be for receipts to come here.
  public var url: String { "http://\(Self.address):\(port)\(Self.path)" }

  /// How requests are answered from now on.
  public var behaviour: SandboxBehaviour {
    get { handler.behaviour.withLock { $0 } }
    set { handler.behaviour.withLock { $0 = newValue } }
  }

  /// Answers what still waits at once, closes everything, and returns when no thread is left.
  public func stop() {
    timer.stop()
    server.stop(graceMilliseconds: 100)
  }
}

/// How the stand-in answers.
public struct SandboxBehaviour: Sendable, Equatable {
  /// Every request is answered with this status, whatever is in it; nil judges the request.
  public var status: Int?
  /// The share of requests that is answered 503, 0…1.
  public var failRate: Double
  /// How long every answer is held back.
  public var delayMilliseconds: Int64
  /// The key that is taken; nil takes any.
  public var apiKey: String?

  public init(
    status: Int? = nil, failRate: Double = 0, delayMilliseconds: Int64 = 0, apiKey: String? = nil
  ) {
    self.status = status
    self.failRate = failRate
    self.delayMilliseconds = delayMilliseconds
    self.apiKey = apiKey
  }
}

/// One request that the stand-in got, and what it is answered.
public struct SandboxReceipt: Sendable, Equatable {
  public var method: String
  public var path: String
  /// Those that the endpoint knows, in the order of its documentation; the key's value is left out.
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
