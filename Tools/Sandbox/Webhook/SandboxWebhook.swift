// A receiver of the relay's webhooks, for experiments and tests: it verifies them as a merchant's server
// should, and fails on demand. It listens on this machine only, and keeps the ids that it has seen.

public import HTTPServer
public import Platform

/// A running receiver of webhooks.
///
/// Owns a server and one timer thread; `stop` ends both, and so does `deinit`. Thread-safe, but do not call
/// it from `onReceipt`.
public final class SandboxWebhook: Sendable {
  /// The path that the stand-in advertises; it accepts every path.
  public static let path = "/purchases"

  private let service: SandboxServer<SandboxWebhookHandler>

  /// Starts to listen.
  /// - Parameters:
  ///   - port: 0 lets the system choose a free port.
  ///   - behaviour: its key is not used.
  ///   - seed: the same seed fails the same requests, counted in order of arrival.
  ///   - onReceipt: called for each webhook, on a thread of the server; must not block for long.
  /// - Throws: `ServerError`; then nothing keeps running.
  public init(
    port: UInt16 = 0, verifier: WebhookVerifier, behaviour: SandboxBehaviour = SandboxBehaviour(),
    seed: UInt64 = 1, clock: any Clock = SystemClock(),
    onReceipt: @escaping @Sendable (SandboxWebhookReceipt) -> Void = { _ in }
  ) throws(ServerError) {
    service = try SandboxServer(port: port) { timer in
      SandboxWebhookHandler(verifier, behaviour, seed: seed, clock: clock, timer: timer, onReceipt: onReceipt)
    }
  }

  /// The value of `webhook.url` that sends webhooks here.
  public var url: String { service.base + Self.path }

  /// How subsequent requests are answered.
  public var behaviour: SandboxBehaviour {
    get { service.handler.state.withLock { $0.behaviour } }
    set { service.handler.state.withLock { $0.behaviour = newValue } }
  }

  /// Sends all waiting answers, closes everything, and returns when no thread is left.
  public func stop() { service.stop() }
}

/// One received webhook, and the status of its answer.
public struct SandboxWebhookReceipt: Sendable, Equatable {
  /// Whether the id was seen before.
  public enum Repeat: Sendable, Equatable {
    case first
    /// The same body as before.
    case same(count: Int)
    /// Another body than before: a receiver that drops repeats would miss it.
    case different(count: Int)
  }

  public var headers: WebhookVerifier.Headers
  public var body: [UInt8]
  public var verdict: WebhookVerdict
  /// Nil if the webhook is refused, or if its body is not as documented.
  public var message: WebhookMessage?
  /// What is wrong with the body of a genuine webhook.
  public var fault: String?
  public var repetition: Repeat
  /// The status of the answer.
  public var status: Int

  /// Whether this is the first time that the receiver accepts the webhook.
  public var isNew: Bool { message != nil && repetition == .first }
}
