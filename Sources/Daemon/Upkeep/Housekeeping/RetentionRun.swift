// Retention: deletes old rows, one slice at a time. The housekeeper's thread; it makes all changes through
// the committer's queue.

public import Config
internal import Domain
internal import Platform
internal import Service
public import Store

/// One pass of retention over all tables, slice by slice.
struct RetentionRun {
  /// After a slice it rests this many times as long as the slice took, with its wait in the queue: so a pass
  /// uses a tenth of the committer's time at most, unless slices are so slow that `restMax` ends the rest.
  static let restFactor = 9
  /// The longest rest: one slow commit says little about the next.
  static let restMax: Duration = .seconds(5)

  let retention: Configuration.Retention
  private let clock: any Clock
  private let state = Monitor<State?>(nil)

  fileprivate struct State {
    /// The next slice of each kind that is not done.
    var slices: [RetentionSlice]
    var isWaiting = false
    var submittedAt: MonotonicInstant
    /// No slice is submitted before this.
    var restsUntil: MonotonicInstant
    /// Deleted rows of the first kind in `slices`.
    var deleted = 0
  }

  init(_ retention: Configuration.Retention, _ clock: any Clock) {
    self.retention = retention
    self.clock = clock
  }

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
    ] + tables
  }

  /// Submits the next slice to the committer, unless one is under way, or it is time to rest.
  /// - Parameter onFault: called on the committer's thread with the table of a slice that failed.
  /// - Returns: whether the pass is done.
  func step(
    _ committer: Committer, now: Timestamp, log: Log,
    onFault: @escaping @Sendable (_ table: String, StoreFault) -> Void
  ) -> Bool {
    let moment = clock.monotonic
    let (slice, isWaiting) = state.withLock { state in
      var current = state ?? State(slices: slices(now: now), submittedAt: moment, restsUntil: moment)
      defer { state = current }
      if current.isWaiting || moment < current.restsUntil { return (current.slices.first, true) }
      current.isWaiting = !current.slices.isEmpty
      current.submittedAt = moment
      return (current.slices.first, false)
    }
    guard let slice else { return true }
    if isWaiting { return false }
    let (state, clock) = (state, clock)
    let isQueued = committer.submit(slice, from: .internal) { result in
      let deleted = state.withLock { state in state?.record(result, at: clock.monotonic) ?? 0 }
      if case .failure(let error) = result { onFault(slice.name, error) }
      guard deleted > 0 else { return }
      log.info(
        "deleted data that is older than its retention", ["table": slice.name, "rows": String(deleted)])
    }
    return !isQueued
  }
}

extension RetentionRun.State {
  /// Records the result of a slice, and how long to rest after it.
  /// - Returns: how many rows were deleted if it was the last slice of its kind; otherwise 0.
  mutating func record(
    _ result: Result<RetentionSlice.Outcome, StoreFault>, at now: MonotonicInstant
  ) -> Int {
    isWaiting = false
    let rest = now.duration(since: submittedAt) * RetentionRun.restFactor
    restsUntil = now.advanced(by: min(rest, RetentionRun.restMax))
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
