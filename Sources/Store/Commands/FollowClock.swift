// The wall clock was set, or the machine slept: what is written down by it is moved along.

internal import Domain

/// Keeps plans as far off as they were, whatever the wall clock says now.
///
/// Waits go on for as long as they had left: time that nobody lived through ends none. What is to be sent
/// never comes later than it would have; when the clock goes forward it is simply due, as after any pause.
public struct FollowClock: StoreCommand {
  /// How long it may take to notice a jump. What was written since then is by the new clock already.
  static let noticedWithinMilliseconds: Int64 = 10_000
  /// A jump's largest size, some 35 000 years: sums with it stay integers.
  static let millisecondsMax: Int64 = 1 << 50

  /// By how many milliseconds the clock jumped; nil when that is not known, at a start: then what was written
  /// in the future goes back to now.
  public var jump: Int64?

  public init(jump: Int64?) {
    self.jump = jump.map { min(max($0, -Self.millisecondsMax), Self.millisecondsMax) }
  }

  /// How many receipts were moved.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int {
    let apps: [String]
    if let jump {
      let since = jump > 0 ? 1 - jump : -Self.noticedWithinMilliseconds
      apps = try store.purchases.shift(
        by: jump, now: store.now, exceptSince: store.now.advanced(byMilliseconds: since))
    } else {
      apps = try store.purchases.bringBack(to: store.now)
    }
    try store.lookUps.bringBack(to: store.now)
    for app in apps { store.changes.note(anythingDueAt: store.now, of: app) }
    if !apps.isEmpty { store.changes.waitUntil = store.now }
    return apps.count
  }
}
