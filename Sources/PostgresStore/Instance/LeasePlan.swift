// Which leases a program acquires and gives up, so that all programs have about as many. Pure.

internal import Platform

/// A row of `leases`.
struct LeaseRow: Equatable {
  /// An app, or `LeaseRow.shared`.
  var name: String
  /// Nil if its last owner gave it up.
  var owner: Int64?
  var epoch: Int64
  var renewedAt: Int64

  /// The name of the lease for the work that one program does for all.
  static let shared = "*"
}

/// Since when values have not changed, by this program's own clock: the clocks of other machines, and a
/// database's clock after a failover, say nothing about how long ago something was written.
struct ChangeWatch<Key: Hashable, Value: Equatable> {
  private var seen: [Key: (value: Value, since: MonotonicInstant)] = [:]

  /// Notes all present values.
  mutating func note(_ values: [Key: Value], at now: MonotonicInstant) {
    seen = values.reduce(into: [:]) { next, entry in
      let known = seen[entry.key].flatMap { $0.value == entry.value ? $0 : nil }
      next[entry.key] = known ?? (entry.value, now)
    }
  }

  /// Whether a value has been the same for a time.
  func isUnchanged(_ key: Key, for time: Duration, at now: MonotonicInstant) -> Bool {
    seen[key].map { now.duration(since: $0.since) >= time } ?? false
  }
}

/// The next step towards equal shares.
struct LeasePlan: Equatable {
  /// Leases to acquire.
  var acquired: [LeaseRow] = []
  /// The lease to give up, so that a program with fewer acquires it.
  var released: String?

  /// - Parameters:
  ///   - me: this program.
  ///   - members: the programs that are running, this one included, with the leases that each may own.
  ///   - rows: all leases.
  ///   - isFree: whether a lease has no owner, or one that has not renewed it for its whole time.
  ///   - isPatient: whether a lease has been free for so little time that another program may still acquire
  ///     it.
  init(
    of me: Int64, members: [Int64: Set<String>], rows: [LeaseRow], isFree: (LeaseRow) -> Bool,
    isPatient: (LeaseRow) -> Bool
  ) {
    let wanted = members[me] ?? []
    let count = max(1, members.count)
    let total = rows.count
    let most = (total + count - 1) / count
    var mine = rows.count { $0.owner == me && !isFree($0) }
    for row in rows.sorted(by: { $0.name < $1.name }) where wanted.contains(row.name) && isFree(row) {
      // Beyond its share a program acquires only what nobody else has acquired: the others may not have the
      // app in their configuration.
      guard mine < most || !isPatient(row) else { continue }
      acquired.append(row)
      mine += 1
    }
    guard acquired.isEmpty else { return }
    let owned = Dictionary(grouping: rows.filter { !isFree($0) }, by: { $0.owner ?? 0 }).mapValues(\.count)
    let kept = rows.filter { $0.owner == me && !isFree($0) }.map(\.name)
    for (other, theirs) in members.sorted(by: { owned[$0.key, default: 0] < owned[$1.key, default: 0] })
    where other != me {
      // Giving one up must make the shares more equal, or it would go back and forth.
      guard mine - owned[other, default: 0] >= 2 else { return }
      released = kept.filter(theirs.contains).max()
      if released != nil { return }
    }
  }
}
