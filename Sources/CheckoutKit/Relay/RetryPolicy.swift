// When a request is retried. Pure except for its jitter; thread-safe.

public import Foundation

/// How long the kit retries when the network fails or the relay is busy.
///
/// Pauses double from the first to the longest. A request is given up when its attempts or its patience are
/// used up, whichever comes first. `Retry-After` makes a pause longer, never shorter.
public struct RetryPolicy: Sendable, Hashable {
  /// The maximum number of attempts, including the first.
  public var attemptsMax: Int
  /// Seconds before the second attempt.
  public var firstPause: TimeInterval
  /// The longest pause that the kit chooses, in seconds.
  public var pauseMax: TimeInterval
  /// Seconds after which no further attempt begins.
  public var patience: TimeInterval
  /// The random part of a pause, so that apps do not retry at the same time: 0.2 is ±20 %.
  public var jitter: Double
  /// Seconds for the first attempt to post a context. A relay that is up answers in a fraction of it, and the
  /// customer waits; later attempts have 30 seconds, for slow networks.
  public var firstTimeout: TimeInterval

  /// Creates a policy; the defaults suit a customer who waits in front of a spinner.
  public init(
    attemptsMax: Int = 8, firstPause: TimeInterval = 0.5, pauseMax: TimeInterval = 15,
    patience: TimeInterval = 60, jitter: Double = 0.2, firstTimeout: TimeInterval = 5
  ) {
    self.attemptsMax = attemptsMax
    self.firstPause = firstPause
    self.pauseMax = pauseMax
    self.patience = patience
    self.jitter = jitter
    self.firstTimeout = firstTimeout
  }

  /// One attempt.
  public static let none = RetryPolicy(attemptsMax: 1)

  /// - Parameters:
  ///   - attempt: the number of attempts so far; 1 after the first.
  ///   - elapsed: seconds since the first attempt.
  ///   - retryAfter: the server's `Retry-After`, in seconds.
  /// - Returns: seconds until the next attempt; nil when there is none.
  func pause(after attempt: Int, elapsed: TimeInterval, retryAfter: TimeInterval?) -> TimeInterval? {
    guard attempt < attemptsMax else { return nil }
    // Limits the shift; 2^30 times the first pause exceeds any limit.
    let doubled = firstPause * TimeInterval(1 << min(max(0, attempt - 1), 30))
    let spread = jitter > 0 ? Double.random(in: -jitter...jitter) : 0
    let pause = max(max(0, min(doubled, pauseMax) * (1 + spread)), retryAfter ?? 0)
    return elapsed + pause <= patience ? pause : nil
  }
}
