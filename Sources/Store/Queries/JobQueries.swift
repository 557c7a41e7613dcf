// Queries of jobs, for operators and for the job runner. A job's counts are stored, so reading it costs the
// same for any number of receipts.

public import Domain

/// Which jobs to list; a nil property does not restrict the list.
public struct JobFilter: Sendable, Equatable {
  /// Only those in one of these states; empty does not restrict the list.
  public var states: Set<JobState> = []
  /// The last job of the previous page; only older jobs are listed.
  public var after: JobID?

  public init() {}

  /// The only state; nil for any state, and for several.
  public var state: JobState? {
    get { states.count == 1 ? states.first : nil }
    set { states = newValue.map { [$0] } ?? [] }
  }
}

/// A receipt of a job, and its outcome.
public struct JobReceipt: Sendable, Equatable {
  public var position: Int64
  /// Nil if it no longer exists.
  public var receiptID: ReceiptID?
  public var outcome: JobOutcome
  public var reason: String?
}

extension StoreReader {
  /// - Returns: at most `limit` jobs, newest first.
  public func jobs(_ filter: JobFilter, limit: Int) throws(StoreFault) -> [Job] {
    let after = filter.after.flatMap(\.row)
    let states = filter.states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
    return try connection.snapshot { () throws(StoreFault) in
      let found = try connection.prepare(
        """
        SELECT \(JobRow.columns) FROM jobs
        WHERE row_id < ?1\(states.isEmpty ? "" : " AND state IN (\(states))") ORDER BY row_id DESC LIMIT ?2
        """
      ).all([.integer(after ?? JobRowID(.max)), .integer(Int64(limit))], JobRow.job)
      return try counted(found)
    }
  }

  /// A job by its id.
  public func job(id: JobID) throws(StoreFault) -> Job? {
    guard let row = id.row, let job = try job(row: row),
      job.id == id
    else { return nil }
    return job
  }

  func job(row: JobRowID) throws(StoreFault) -> Job? {
    try connection.snapshot { () throws(StoreFault) in
      let found = try connection.prepare("SELECT \(JobRow.columns) FROM jobs WHERE row_id = ?1")
        .all([.integer(row)], JobRow.job)
      return try counted(found).first
    }
  }

  /// The rows of the jobs that have not ended, the oldest first.
  public func openJobs() throws(StoreFault) -> [JobRowID] {
    try connection.prepare("SELECT row_id FROM jobs WHERE ended_at IS NULL ORDER BY row_id").all {
      row throws(StoreFault) in row.integer(0)
    }
  }

  /// The jobs that include a purchase's receipt, the oldest first, and its outcome in each.
  public func jobs(ofPurchase row: PurchaseRowID) throws(StoreFault) -> [(job: Job, outcome: JobOutcome)] {
    let found = try connection.prepare(
      "SELECT job_row, outcome FROM job_receipts WHERE purchase_row = ?1 ORDER BY job_row"
    ).all([.integer(row)]) { row throws(StoreFault) in
      (row: row.integer(0) as JobRowID, outcome: JobOutcome(rawValue: try row.text(1)) ?? .gone)
    }
    var jobs: [(job: Job, outcome: JobOutcome)] = []
    for place in found {
      if let job = try job(row: place.row) { jobs.append((job, place.outcome)) }
    }
    return jobs
  }

  /// Receipts of a job in the order of their release, a page at a time.
  /// - Parameters:
  ///   - outcome: only receipts with this outcome; the query skips the others.
  ///   - after: the last position of the previous page.
  public func receipts(
    ofJob row: JobRowID, outcome: JobOutcome? = nil, after: Int64? = nil, limit: Int
  ) throws(StoreFault) -> [JobReceipt] {
    try connection.prepare(
      """
      SELECT j.position, p.receipt_id, j.outcome, j.reason
      FROM job_receipts j LEFT JOIN purchases p ON p.row_id = j.purchase_row
      WHERE j.job_row = ?1 AND j.position > ?2 AND (?4 IS NULL OR j.outcome = ?4)
      ORDER BY j.position LIMIT ?3
      """
    ).all([
      .integer(row), .integer(after ?? Int64.min), .integer(Int64(limit)), .optional(outcome?.rawValue),
    ]) { row throws(StoreFault) in
      JobReceipt(
        position: row.integer(0), receiptID: try row.optionalText(1),
        outcome: JobOutcome(rawValue: try row.text(2)) ?? .gone, reason: try row.optionalText(3))
    }
  }

  /// The apps of a job's planned receipts.
  public func plannedApps(ofJob row: JobRowID) throws(StoreFault) -> [AppSlug] {
    try connection.prepare(JobRow.plannedAppsSQL).all([.integer(row)]) { row throws(StoreFault) in
      try row.text(0)
    }
  }

  /// How many replays of an app are due, up to a limit.
  public func replaysDue(app: AppSlug, now: Timestamp, limit: Int) throws(StoreFault) -> Int {
    let count = try connection.prepare(JobRow.replaysDueSQL)
      .first([.text(app), .time(now), .integer(Int64(limit))]) { row throws(StoreFault) in row.integer(0) }
    return Int(clamping: count ?? 0)
  }

  /// What holds the apps of a job's planned receipts.
  public func holds(_ job: Job, now: Timestamp) throws(StoreFault) -> [JobHold] {
    guard job.state == .running, job.request.kind != .cancel else { return [] }
    let (breakers, pauses) = (try breakers(), try pauses())
    return try plannedApps(ofJob: job.row).compactMap { app in
      if let pause = pauses[app], pause.isActive(now: now) { return .pause(app, pause) }
      guard let (destination, breaker) = breakers.worst(of: app, now: now),
        breaker.admission(now: now, probing: true) != .free
      else { return nil }
      return .breaker(AppDestination(app, destination), breaker)
    }
  }

  private func counted(_ jobs: [Job]) throws(StoreFault) -> [Job] {
    let counting = try connection.prepare(JobRow.countsSQL)
    var counted: [Job] = []
    for var job in jobs {
      job.counts = try counting.all([.integer(job.row)], JobRow.count)
      counted.append(job)
    }
    return counted
  }
}

extension StoreReader {
  /// Jobs whose stored counts differ from their receipts. A job that is being deleted has no counts.
  func miscountedJobs() throws(StoreFault) -> [String] {
    try connection.prepare(
      """
      SELECT DISTINCT job_row FROM (
        SELECT job_row FROM (
          SELECT job_row, outcome, reason, count FROM job_counts WHERE count <> 0
          UNION ALL
          SELECT job_row, outcome, coalesce(reason, ''), -count(*) FROM job_receipts
          WHERE outcome <> 'planned' AND job_row IN (SELECT job_row FROM job_counts)
          GROUP BY job_row, outcome, reason)
        GROUP BY job_row, outcome, reason HAVING sum(count) <> 0)
      """
    ).all { row throws(StoreFault) in "the counts of the job in row \(row.integer(0)) are wrong" }
  }

  static let underWaySQL = """
    SELECT j.position, coalesce(p.state IN ('pending', 'waiting'), FALSE)
    FROM job_receipts j LEFT JOIN purchases p ON p.row_id = j.purchase_row
    WHERE j.job_row = ?1 AND j.outcome = 'released' AND j.position > ?2 ORDER BY j.position LIMIT ?3
    """

  /// Checks the job's released receipts.
  /// - Returns: the positions of those that have ended, and the last position checked; nil if there were
  ///   fewer than `limit`.
  func ended(
    job: JobRowID, after: Int64, limit: Int
  ) throws(StoreFault) -> (positions: [Int64], last: Int64?) {
    let looked = try connection.prepare(Self.underWaySQL)
      .all([.integer(job), .integer(after), .integer(Int64(limit))]) { row throws(StoreFault) in
        (position: row.integer(0), isUnderWay: row.flag(1))
      }
    return (
      looked.filter { !$0.isUnderWay }.map(\.position),
      looked.count < limit ? nil : looked.last?.position
    )
  }
}
