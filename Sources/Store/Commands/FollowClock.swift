// Adjusts stored times after a clock step or a sleep of the machine.

internal import Domain

/// Keeps the distance of stored due times from now after a clock step.
///
/// Waits keep their remaining time: time that passed only on the clock ends no wait. A delivery is never due
/// later than before; if the clock goes forward, the delivery is due now, as after any pause.
public struct FollowClock: StoreCommand {
  /// The longest time to notice a clock step. Times written since then already follow the new clock.
  static let noticeTime: Duration = .seconds(10)
  /// The largest step, about 35 000 years, for which sums do not overflow.
  static let stepMax: Duration = .milliseconds(1 << 50)

  /// The size of the clock step; nil if unknown, at a start: then times in the future become now.
  public var step: Duration?

  public init(step: Duration?) {
    self.step = step.map { min(max($0, .zero - Self.stepMax), Self.stepMax) }
  }

  /// The number of receipts whose times were changed.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int {
    let apps: [AppSlug]
    if let step {
      let noticed = step > .zero ? step - .milliseconds(1) : Self.noticeTime
      apps = try store.purchases.shift(by: step, now: store.now, exceptSince: store.now - noticed)
      try store.pauses.shift(by: step, now: store.now, exceptSince: store.now - noticed)
    } else {
      apps = try store.purchases.bringBack(to: store.now)
      try store.pauses.bringBack(to: store.now)
    }
    try store.lookups.bringBack(to: store.now, after: step)
    try store.announcements.bringBack(to: store.now, after: step)
    try store.jobs.bringBack(to: store.now)
    // Those of a processor that is not configured are brought back when it is.
    for (app, rules) in store.rules {
      for processor in rules.processors.keys {
        try store.captures.bringBack(AppProcessor(app, processor), to: store.now)
      }
    }
    for app in apps { store.changes.note(anythingDueAt: store.now, of: app) }
    if !apps.isEmpty { store.changes.waitUntil = store.now }
    return apps.count
  }
}
