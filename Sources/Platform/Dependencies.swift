// What every worker gets from outside, so that tests and simulations can put their own in its place. A value.

/// The log, the clock and the randomness of a worker, and how often it looks for what nobody reported.
public struct Dependencies: Sendable {
  /// The default of `lookIntervalMilliseconds`.
  public static let lookIntervalMilliseconds: Int64 = 5000

  public var log: Log
  public var clock: any Clock
  public var random: any RandomNumberGenerator & Sendable
  /// The longest that a worker sleeps: whatever was missed (the wall clock was set, another process changed
  /// the database and could not wake us) is found within it.
  public var lookIntervalMilliseconds: Int64

  public init(
    log: Log, clock: any Clock, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    lookIntervalMilliseconds: Int64 = Self.lookIntervalMilliseconds
  ) {
    self.log = log
    self.clock = clock
    self.random = random
    self.lookIntervalMilliseconds = lookIntervalMilliseconds
  }
}
