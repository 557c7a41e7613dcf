// The leases that this program holds, for other threads. Thread-safe.

internal import Domain
internal import Platform
internal import Store

/// What this program may do at this moment, by its own clock.
final class HeldLeases: Ownership {
  /// For how long a lease is valid without being renewed, and for how long another program watches it before
  /// it acquires it.
  static let leaseTime: Duration = .seconds(3)
  /// This program stops before its lease can have ended for others: clocks do not run equally fast.
  private static let margin: Duration = .milliseconds(500)

  /// A lease that this program holds.
  private struct Held {
    var epoch: Int64
    /// When this program stops, on the clock that also counts a suspension of the machine.
    var until: MonotonicInstant
    /// Whether the previous owner's transactions have ended.
    var isSettled = false
    /// Whether it is being given up: nothing new begins.
    var isLeaving = false
  }

  private let owner: Int64
  private let held = Monitor<[String: Held]>([:])

  init(owner: Int64) { self.owner = owner }

  func lease(of app: AppSlug) -> Lease? {
    guard let lease = valid(app.text), !lease.isLeaving else { return nil }
    return Lease(fence: Fence(app: app, owner: owner, epoch: lease.epoch))
  }

  func endingLease(of app: AppSlug) -> Lease? {
    guard let lease = valid(app.text), lease.isLeaving else { return nil }
    return Lease(fence: Fence(app: app, owner: owner, epoch: lease.epoch))
  }

  var apps: Set<AppSlug>? {
    let names = epochs.keys.filter { $0 != LeaseRow.shared }
    return Set(names.map { AppSlug($0) }.filter { lease(of: $0) != nil })
  }

  var doesSharedWork: Bool { valid(LeaseRow.shared).map { !$0.isLeaving } ?? false }

  /// A lease that has not ended.
  private func valid(_ name: String) -> Held? {
    let now = MonotonicInstant.sinceBoot()
    return held.withLock { held in
      guard let lease = held[name], lease.isSettled, now < lease.until else { return nil }
      return lease
    }
  }

  // MARK: The instance's thread

  /// The epochs of all leases that are held, to renew them.
  var epochs: [String: Int64] { held.withLock { $0.mapValues(\.epoch) } }

  /// Notes an acquired lease.
  /// - Parameter asked: when the database was asked for it.
  func acquired(_ name: String, epoch: Int64, asked: MonotonicInstant) {
    held.withLock { $0[name] = Held(epoch: epoch, until: Self.end(asked)) }
  }

  /// Notes that the previous owner's transactions have ended.
  func settled(_ name: String, epoch: Int64) {
    held.withLock { if $0[name]?.epoch == epoch { $0[name]?.isSettled = true } }
  }

  /// Notes which leases were renewed; another program has acquired the others. One that ended before it was
  /// renewed is lost, too: its deliveries may have been cancelled, and what was under way is only known
  /// within one epoch. It must be acquired again, with a new epoch.
  /// - Parameter asked: when the database was asked for it.
  /// - Returns: the leases that were lost.
  func renewed(_ names: Set<String>, asked: MonotonicInstant) -> Set<String> {
    let now = MonotonicInstant.sinceBoot()
    return held.withLock { held in
      let lost = Set(held.filter { !names.contains($0.key) || now >= $0.value.until }.keys)
      for name in names { held[name]?.until = Self.end(asked) }
      for name in lost { held[name] = nil }
      return lost
    }
  }

  /// Removes the leases whose time has passed because they could not be renewed.
  /// - Returns: those.
  func dropEnded() -> Set<String> {
    let now = MonotonicInstant.sinceBoot()
    return held.withLock { held in
      let ended = Set(held.filter { now >= $0.value.until }.keys)
      for name in ended { held[name] = nil }
      return ended
    }
  }

  /// Begins to give a lease up.
  func leave(_ name: String) { held.withLock { $0[name]?.isLeaving = true } }

  /// Removes a lease.
  func remove(_ name: String) { held.withLock { $0[name] = nil } }

  func removeAll() { held.withLock { $0 = [:] } }

  private static func end(_ asked: MonotonicInstant) -> MonotonicInstant { asked + (leaseTime - margin) }
}
