// When a request is sent again. Pure but for its jitter; any thread.

public import Foundation

/// How long the kit goes on when the network is dead or the relay busy.
///
/// Pauses double from the first to the longest. A request is given up when its tries or its patience are used
/// up, whichever comes first. `Retry-After` makes a pause longer, never shorter.
public struct RetryPolicy: Sendable, Hashable {
  /// How often a request is sent at most, the first time included.
  public var attemptsMax: Int
  /// Seconds before the second try.
  public var firstPause: TimeInterval
  /// The longest pause that the kit chooses, in seconds.
  public var pauseMax: TimeInterval
  /// Seconds after which no further try begins.
  public var patience: TimeInterval
  /// By which part a pause may differ, so that not all apps come back at once: 0.2 is ±20 %.
  public var jitter: Double

  /// A policy; without arguments, what suits a person who looks at a spinner.
  public init(
    attemptsMax: Int = 8, firstPause: TimeInterval = 0.5, pauseMax: TimeInterval = 15,
    patience: TimeInterval = 60, jitter: Double = 0.2
  ) {
    self.attemptsMax = attemptsMax
    self.firstPause = firstPause
    self.pauseMax = pauseMax
    self.patience = patience
    self.jitter = jitter
  }

  /// One try.
  public static let none = RetryPolicy(attemptsMax: 1)

  /// - Parameters:
  ///   - attempt: how many tries there were; 1 after the first.
  ///   - elapsed: seconds since the first.
  ///   - retryAfter: what the server asked for, in seconds.
  /// - Returns: seconds until the next try; nil when there is none.
  func pause(after attempt: Int, elapsed: TimeInterval, retryAfter: TimeInterval?) -> TimeInterval? {
    guard attempt < attemptsMax else { return nil }
    // Doubling 30 times is more than any pause may be.
    let doubled = firstPause * TimeInterval(1 << min(max(0, attempt - 1), 30))
    let spread = jitter > 0 ? Double.random(in: -jitter...jitter) : 0
    let pause = max(max(0, min(doubled, pauseMax) * (1 + spread)), retryAfter ?? 0)
    return elapsed + pause <= patience ? pause : nil
  }
}
