// Which leases a program acquires and gives up, so that all programs have about as many. Pure.

internal import Platform

/// A row of `leases`.
struct LeaseRow: Equatable {
  /// An app, or `LeaseRow.shared`.
  var name: String
  /// Nil if its last owner gave it up.
  var owner: Int64?
  var epoch: Int64

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
  /// Leases to give up, so that programs with fewer acquire them.
  var released: Set<String> = []

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
    let rows = rows.sorted { $0.name < $1.name }
    let owned = rows.filter { members[$0.owner ?? 0] != nil && !isFree($0) }
    let kept = Set(owned.filter { $0.owner == me }.map(\.name))
    var shares = Dictionary(grouping: owned) { $0.owner ?? 0 }.mapValues { $0.map(\.name) }
    // What is free goes to the one with the fewest that may own it.
    for row in rows where isFree(row) {
      let takers = members.filter { $0.value.contains(row.name) }.keys
      if let taker = Self.sorted(takers, shares).first { shares[taker, default: []].append(row.name) }
    }
    // Every program computes the same moves, and makes its own.
    while let move = Self.move(members, shares) {
      shares[move.from]?.removeAll { $0 == move.name }
      shares[move.to, default: []].append(move.name)
      if move.from == me, kept.contains(move.name) { released.insert(move.name) }
    }
  }

  /// Those with the fewest leases first.
  private static func sorted(_ members: some Sequence<Int64>, _ shares: [Int64: [String]]) -> [Int64] {
    members.sorted { left, right in
      (shares[left]?.count ?? 0, left) < (shares[right]?.count ?? 0, right)
    }
  }

  /// A lease that makes the shares more equal elsewhere; otherwise it would go back and forth.
  private static func move(
    _ members: [Int64: Set<String>], _ shares: [Int64: [String]]
  ) -> (name: String, from: Int64, to: Int64)? {
    let order = sorted(members.keys, shares)
    for from in order.reversed() {
      let names = shares[from] ?? []
      for to in order where names.count - (shares[to]?.count ?? 0) >= 2 {
        if let name = names.last(where: { members[to]?.contains($0) ?? false }) { return (name, from, to) }
      }
    }
    return nil
  }
}
