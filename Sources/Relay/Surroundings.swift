// Everything that the relay's threads get from outside themselves, so that tests and simulations can put
// their own in its place. A value.

internal import Platform
internal import Store

/// What surrounds the relay.
struct Surroundings: Sendable {
  /// The longest that a thread sleeps: whatever was missed (a jump of the wall clock, a change by another
  /// process that could not wake us) is found within it.
  static let lookIntervalMilliseconds: Int64 = 5000
  /// One log of the store between two checkpoints, which a checkpoint on a full disk may need once more.
  static let reserveBytes = 16 << 20

  var log: Log
  var clock: any Clock
  var carrier: any Carrier
  /// Carries questions to processors; without it nothing is asked.
  var enquiryCarrier: (any Carrier)?
  /// Carries fetches of key sets; without it none is fetched.
  var keyCarrier: (any Carrier)?
  /// Space for what must go on when the disk is full.
  var reserve: any SpaceReserve
  var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  /// Whether a thread of its own moves the store's log into the database; otherwise the committer does.
  var movesLogInBackground = false
  /// For how long the start looks for damage in the database, beside everything else; nil not at all.
  var checkMilliseconds: Int64?
  /// Whether the database is a file of the operating system, so that it can be moved away.
  var watchesDatabaseFile = false
  var lookIntervalMilliseconds = Self.lookIntervalMilliseconds
  /// Called once, when a write could not be made durable: whatever is answered from then on may be untrue.
  var onSyncFailure: @Sendable (StoreFault) -> Void
}
