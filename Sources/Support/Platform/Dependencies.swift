// The dependencies of every worker; tests and simulations inject their own. A value.

/// A worker's log, clock and randomness, and how often it polls for unreported changes.
public struct Dependencies: Sendable {
  /// The default of `lookInterval`.
  public static let lookInterval: Duration = .seconds(5)

  public var log: Log
  public var clock: any Clock
  public var random: any RandomNumberGenerator & Sendable
  /// The longest sleep of a worker. A change that did not wake it (the wall clock was set, or another process
  /// changed the database and could not send the signal) is found within this time.
  public var lookInterval: Duration

  public init(
    log: Log, clock: any Clock, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    lookInterval: Duration = Self.lookInterval
  ) {
    self.log = log
    self.clock = clock
    self.random = random
    self.lookInterval = lookInterval
  }
}
