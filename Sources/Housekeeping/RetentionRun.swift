// Retention: deletes old rows, one slice at a time. The housekeeper's thread; it makes all changes through
// the committer's queue.

public import Configuration
internal import Domain
internal import Persistence
internal import Platform
public import Store

/// One pass of retention over all tables, slice by slice.
struct RetentionRun {
  let retention: Configuration.Retention
  private let state = Monitor<State?>(nil)

  fileprivate struct State {
    /// The next slice of each kind that is not done.
    var slices: [RetentionSlice]
    var isWaiting = false
    /// Deleted rows of the first kind in `slices`.
    var deleted = 0
  }

  init(_ retention: Configuration.Retention) { self.retention = retention }

  private func slices(now: Timestamp) -> [RetentionSlice] {
    func cutoff(_ age: Duration) -> Timestamp { now - age }
    let tables = RetentionTable.allCases.map { table in
      RetentionSlice.rows(
        Retain(table: table, cutoff: cutoff(retention.duration(of: table)), afterRow: 0))
    }
    // Jobs are kept as long as their receipts.
    return [
      .noted(RetainNoted(cutoff: cutoff(retention.events))), .past,
      .jobs(RetainJobs(cutoff: cutoff(retention.receipts))),
    ] + tables + [.bodies(CompressBodies())]
  }

  /// Submits the next slice to the committer, unless one is under way.
  /// - Parameter onFault: called on the committer's thread with the table of a slice that failed.
  /// - Returns: whether the pass is done.
  func step(
    _ committer: Committer, now: Timestamp, log: Log,
    onFault: @escaping @Sendable (_ table: String, StoreFault) -> Void
  ) -> Bool {
    let (slice, isWaiting) = state.withLock { state in
      var current = state ?? State(slices: slices(now: now))
      defer { state = current }
      if current.isWaiting { return (current.slices.first, true) }
      current.isWaiting = !current.slices.isEmpty
      return (current.slices.first, false)
    }
    guard let slice else { return true }
    if isWaiting { return false }
    let state = state
    let isQueued = committer.submit(slice, from: .internal) { result in
      let deleted = state.withLock { state in state?.record(result) ?? 0 }
      if case .failure(let error) = result { onFault(slice.name, error) }
      guard deleted > 0 else { return }
      log.info(
        "deleted data that is older than its retention", ["table": slice.name, "rows": String(deleted)])
    }
    return !isQueued
  }
}

extension RetentionRun.State {
  /// Records the result of a slice.
  /// - Returns: how many rows were deleted if it was the last slice of its kind; otherwise 0.
  mutating func record(_ result: Result<RetentionSlice.Outcome, StoreFault>) -> Int {
    isWaiting = false
    if case .success(let outcome) = result {
      deleted += outcome.deleted
      if let next = outcome.next {
        slices[0] = next
        return 0
      }
    }
    // After a fault, the next pass tries again.
    slices.removeFirst()
    defer { deleted = 0 }
    return deleted
  }
}

extension Configuration.Retention {
  /// How long rows of a table are kept.
  public func duration(of table: RetentionTable) -> Duration {
    switch table {
    case .attempts: attempts
    case .events: events
    case .contexts: contexts
    case .receipts: receipts
    }
  }
}
