// Retention: rows that are old enough to go, a slice at a time. The housekeeper's thread; whatever it changes
// goes through the committer's queue.

internal import Domain
internal import Platform
public import Store

/// One pass of retention over every table, a slice at a time.
struct RetentionRun {
  let retention: Configuration.Retention
  private var tables = RetentionTable.allCases
  private let cursor = Monitor<Cursor>(Cursor())
  private var hasDeletedNoted = false

  private struct Cursor {
    var row: Int64 = 0
    var isWaiting = false
    var isTableDone = false
    var deleted = 0
    var areJobsDone = false
  }

  init(_ retention: Configuration.Retention) { self.retention = retention }

  /// Hands the next slice to the committer, unless the last one is not back yet.
  /// - Returns: whether the pass is over.
  mutating func step(_ committer: Committer, now: Timestamp, log: Log) -> Bool {
    if !hasDeletedNoted {
      hasDeletedNoted = true
      let cutoff = now.advanced(byMilliseconds: -retention.eventsMilliseconds)
      // One slice a pass is plenty for what events leave behind without a receipt; the next pass takes the
      // next.
      _ = committer.submit(RetainNoted(cutoff: cutoff), from: .inside) { _ in }
    }
    let (isWaiting, isTableDone, row, deleted) = cursor.withLock {
      ($0.isWaiting, $0.isTableDone, $0.row, $0.deleted)
    }
    if isWaiting { return false }
    if !cursor.withLock({ $0.areJobsDone }) { return !deleteJobs(committer, now: now) }
    if isTableDone {
      if deleted > 0, let table = tables.first {
        log.info("deleted what was kept long enough", ["table": table.rawValue, "rows": String(deleted)])
      }
      tables.removeFirst()
      cursor.withLock { $0 = Cursor(areJobsDone: true) }
      return tables.isEmpty
    }
    guard let table = tables.first else { return true }
    let cutoff = now.advanced(byMilliseconds: -retention.milliseconds(of: table))
    let cursor = cursor
    cursor.withLock { $0.isWaiting = true }
    let command = Retain(table: table, cutoff: cutoff, afterRow: row)
    let isQueued = committer.submit(command, from: .inside) { result in
      cursor.withLock { cursor in
        cursor.isWaiting = false
        switch result {
        case .success(let outcome):
          cursor.deleted += outcome.deleted
          if let next = outcome.nextRow { cursor.row = next } else { cursor.isTableDone = true }
        case .failure: cursor.isTableDone = true  // the next pass tries again
        }
      }
    }
    return !isQueued
  }

  /// Jobs are kept as long as the receipts that they were about.
  /// - Returns: whether a slice could be handed over.
  private func deleteJobs(_ committer: Committer, now: Timestamp) -> Bool {
    let cursor = cursor
    cursor.withLock { $0.isWaiting = true }
    let command = RetainJobs(cutoff: now.advanced(byMilliseconds: -retention.receiptsMilliseconds))
    return committer.submit(command, from: .inside) { result in
      // After a fault the next pass tries again.
      let isMore: Bool = if case .success(true) = result { true } else { false }
      cursor.withLock { cursor in
        cursor.isWaiting = false
        cursor.areJobsDone = !isMore
      }
    }
  }
}

extension Configuration.Retention {
  /// How long rows of a table are kept.
  public func milliseconds(of table: RetentionTable) -> Int64 {
    switch table {
    case .attempts: attemptsMilliseconds
    case .events: eventsMilliseconds
    case .contexts: contextsMilliseconds
    case .receipts: receiptsMilliseconds
    }
  }
}
