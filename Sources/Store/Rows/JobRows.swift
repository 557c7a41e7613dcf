// The writer's statements on `jobs`, `job_receipts` and `job_counts`. The writer's thread.

internal import Domain
internal import Formats

/// The columns of a `Job`.
enum JobRow {
  static let columns = """
    row_id, id, kind, state, asked, force, price_id, rate_milli, actor, reason, total, found_to, next_at_ns,
    note, created_at, updated_at, ended_at, user_id
    """

  static func job(_ row: StoreRow) throws(StoreFault) -> Job {
    guard let kind = JobKind(rawValue: try row.text(2)), let state = JobState(rawValue: try row.text(3))
    else {
      throw StoreFault(
        .corrupt, operation: "read a job", reason: "a column has a value that this version does not know")
    }
    let rate = row.optionalInteger(7)
    return Job(
      row: row.integer(0), id: try row.text(1), state: state,
      request: JobRequest(
        kind: kind, source: JobSource(try row.text(4)), force: row.flag(5),
        ratePerSecond: rate.map { Double($0) / 1000 }, priceID: try row.optionalText(6),
        userID: try row.optionalText(17), actor: try row.text(8), reason: try row.optionalText(9)),
      total: Int(clamping: row.integer(10)), foundTo: try row.optionalText(11),
      pace: Pace(perThousandSeconds: rate, nextAtNanoseconds: row.optionalInteger(12)),
      note: try row.optionalText(13), createdAt: Timestamp(unixMilliseconds: row.integer(14)),
      updatedAt: Timestamp(unixMilliseconds: row.integer(15)), endedAt: row.timestamp(16))
  }

  static func count(_ row: StoreRow) throws(StoreFault) -> JobCount {
    let reason = try row.text(1)
    return JobCount(
      outcome: JobOutcome(rawValue: try row.text(0)) ?? .gone, reason: reason.isEmpty ? nil : reason,
      count: Int(clamping: row.integer(2)))
  }

  /// Skips from app to app by the index: SELECT DISTINCT would read every planned row of the job.
  static let plannedAppsSQL = """
    WITH RECURSIVE apps (app) AS (
      SELECT min(app) FROM job_receipts INDEXED BY job_receipts_planned
      WHERE job_row = ?1 AND outcome = 'planned'
      UNION ALL
      SELECT (SELECT min(app) FROM job_receipts INDEXED BY job_receipts_planned
              WHERE job_row = ?1 AND outcome = 'planned' AND app > apps.app)
      FROM apps WHERE app IS NOT NULL)
    SELECT app FROM apps WHERE app IS NOT NULL
    """
  static let plannedSQL = """
    SELECT position, purchase_row FROM job_receipts INDEXED BY job_receipts_planned
    WHERE job_row = ?1 AND app = ?2 AND outcome = 'planned' ORDER BY position LIMIT ?3
    """
  static let replaysDueSQL = """
    \(PurchaseRow.pendingDestinationsSQL)
    SELECT count(*) FROM (
      SELECT 1 FROM targets CROSS JOIN purchases
      WHERE app = ?1 AND destination = name AND state = 'pending' AND is_replay = 1 AND next_attempt_at <= ?2
      LIMIT ?3)
    """
  static let hasDueSQL = """
    \(PurchaseRow.pendingDestinationsSQL)
    SELECT EXISTS (
      SELECT 1 FROM targets CROSS JOIN (SELECT 0 AS kind UNION ALL SELECT 1) CROSS JOIN purchases
      WHERE app = ?1 AND destination = name AND state = 'pending' AND is_replay = kind
        AND next_attempt_at <= ?2)
    """
  static let countsSQL = "SELECT outcome, reason, count FROM job_counts WHERE job_row = ?1 AND count > 0"
}

final class JobRows {
  /// One receipt of a job.
  struct Place {
    var position: Int64
    var purchaseRow: PurchaseRowID
  }

  private let connection: StoreConnection

  init(_ connection: StoreConnection) throws(StoreFault) { self.connection = connection }

  // Prepared on first use, because most writers handle no job.
  private var statements: [String: StoreStatement] = [:]

  private func statement(_ sql: String) throws(StoreFault) -> StoreStatement {
    if let known = statements[sql] { return known }
    let made = try connection.prepare(sql)
    statements[sql] = made
    return made
  }

  /// The row of a new job.
  func nextRow() throws(StoreFault) -> JobRowID {
    JobRowID(try connection.integer("SELECT coalesce(max(row_id), 0) + 1 FROM jobs") ?? 1)
  }

  func find(row: JobRowID) throws(StoreFault) -> Job? {
    guard
      var job = try statement("SELECT \(JobRow.columns) FROM jobs WHERE row_id = ?1")
        .first([.integer(row)], JobRow.job)
    else { return nil }
    job.counts = try statement(JobRow.countsSQL).all([.integer(row)], JobRow.count)
    return job
  }

  func find(id: JobID) throws(StoreFault) -> Job? {
    guard let row = id.row, let job = try find(row: row), job.id == id else { return nil }
    return job
  }

  func insert(_ job: Job) throws(StoreFault) {
    let request = job.request
    try statement(
      """
      INSERT INTO jobs (row_id, id, kind, state, asked, force, price_id, rate_milli, actor, reason, total,
        created_at, updated_at, user_id)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11, ?11, ?12)
      """
    ).run([
      .integer(job.row), .text(job.id), .text(request.kind.rawValue), .text(job.state.rawValue),
      .text(request.source.json.text), .flag(request.force), .optional(request.priceID),
      .optional(job.pace.perThousandSeconds), .text(request.actor), .optional(request.reason),
      .time(job.createdAt), .optional(request.userID),
    ])
  }

  /// Updates a job except its counts.
  /// - Parameter old: its state when it was read.
  /// - Throws: `constraint` if it has another state in the database.
  func update(_ job: Job, from old: JobState) throws(StoreFault) {
    try statement(
      """
      UPDATE jobs SET state = ?2, total = ?3, found_to = ?4, next_at_ns = ?5, note = ?6,
        updated_at = ?7, ended_at = ?8, rate_milli = ?10 WHERE row_id = ?1 AND state = ?9
      """
    ).changeOne(
      [
        .integer(job.row), .text(job.state.rawValue), .integer(Int64(job.total)), .optional(job.foundTo),
        .optional(job.pace.nextAtNanoseconds), .optional(job.note), .time(job.updatedAt),
        .time(job.endedAt), .text(old.rawValue), .optional(job.pace.perThousandSeconds),
      ], for: "change a job")
  }

  /// Moves times that a clock noted while it ran ahead: else a job whose program died would never be given
  /// up. There are few jobs, so a scan is cheap.
  func bringBack(to now: Timestamp) throws(StoreFault) {
    try statement("UPDATE jobs SET updated_at = ?1 WHERE ended_at IS NULL AND updated_at > ?1")
      .run([.time(now)])
  }

  /// A receipt that is not there gets the row 0, which no purchase has.
  func add(_ receipt: ReceiptID, at position: Int64, to job: JobRowID) throws(StoreFault) {
    try statement(
      """
      INSERT INTO job_receipts (job_row, position, purchase_row, outcome, app)
      VALUES (?1, ?2, coalesce((SELECT row_id FROM purchases WHERE row_id = ?3 AND receipt_id = ?4), 0),
        'planned', coalesce((SELECT app FROM purchases WHERE row_id = ?3 AND receipt_id = ?4), ''))
      """
    ).run([.integer(job), .integer(position), .integer(receipt.purchaseRow ?? 0), .text(receipt)])
  }

  /// The apps of the planned receipts.
  func plannedApps(_ job: JobRowID) throws(StoreFault) -> [AppSlug] {
    try statement(JobRow.plannedAppsSQL).all([.integer(job)]) { row throws(StoreFault) in try row.text(0) }
  }

  /// The next planned receipts of an app.
  func planned(_ job: JobRowID, app: AppSlug, limit: Int) throws(StoreFault) -> [Place] {
    try statement(JobRow.plannedSQL).all([.integer(job), .text(app), .integer(Int64(limit))]) {
      row throws(StoreFault) in Place(position: row.integer(0), purchaseRow: row.integer(1))
    }
  }

  /// How many replays of an app are due, without new receipts, up to a limit.
  func replaysDue(app: AppSlug, now: Timestamp, limit: Int) throws(StoreFault) -> Int {
    let count = try statement(JobRow.replaysDueSQL)
      .first([.text(app), .time(now), .integer(Int64(limit))]) { row throws(StoreFault) in row.integer(0) }
    return Int(clamping: count ?? 0)
  }

  /// Whether an app has any due receipt.
  func hasDue(app: AppSlug, now: Timestamp) throws(StoreFault) -> Bool {
    try statement(JobRow.hasDueSQL).first([.text(app), .time(now)]) { row throws(StoreFault) in
      row.flag(0)
    } ?? false
  }

  /// The purchase at a position, if its receipt is released and has not ended.
  func released(_ job: JobRowID, at position: Int64) throws(StoreFault) -> PurchaseRowID? {
    try statement(
      """
      SELECT purchase_row FROM job_receipts
      WHERE job_row = ?1 AND position = ?2 AND outcome = 'released'
      """
    ).first([.integer(job), .integer(position)]) { row throws(StoreFault) in row.integer(0) }
  }

  /// - Parameters:
  ///   - row: of the receipt whose end the job waits for: that of the correction, if it made one.
  ///   - old: its outcome when it was read.
  /// - Throws: `constraint` if it has changed: no receipt is released twice.
  func set(
    _ outcome: JobOutcome, _ reason: String?, of row: PurchaseRowID, from old: JobOutcome, job: JobRowID,
    position: Int64
  ) throws(StoreFault) {
    try statement(
      """
      UPDATE job_receipts SET outcome = ?3, reason = ?4, purchase_row = ?6
      WHERE job_row = ?1 AND position = ?2 AND outcome = ?5
      """
    ).changeOne(
      [
        .integer(job), .integer(position), .text(outcome.rawValue), .optional(reason), .text(old.rawValue),
        .integer(row),
      ], for: "record the outcome of a job's receipt")
  }

  /// Changes the stored counts, which exist so that reading them does not scan the receipts.
  func count(_ changes: [JobCount], job: JobRowID) throws(StoreFault) {
    let counting = try statement(
      """
      INSERT INTO job_counts (job_row, outcome, reason, count) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (job_row, outcome, reason) DO UPDATE SET count = job_counts.count + ?4
      """)
    for change in changes where change.count != 0 {
      try counting.run([
        .integer(job), .text(change.outcome.rawValue), .text(change.reason ?? ""),
        .integer(Int64(change.count)),
      ])
    }
  }

  /// The oldest job that ended before the cutoff.
  func ended(before cutoff: Timestamp) throws(StoreFault) -> JobRowID? {
    try statement("SELECT row_id FROM jobs WHERE ended_at < ?1 ORDER BY row_id LIMIT 1")
      .first([.time(cutoff)]) { row throws(StoreFault) in row.integer(0) }
  }

  /// Deletes at most `limit` of a job's receipts, and the job once none is left.
  /// - Returns: whether the job was deleted.
  func delete(_ job: JobRowID, limit: Int64) throws(StoreFault) -> Bool {
    // The counts are deleted first, because they are wrong after the first slice.
    try statement("DELETE FROM job_counts WHERE job_row = ?1").run([.integer(job)])
    let deleted = try statement(
      """
      DELETE FROM job_receipts WHERE job_row = ?1 AND position <=
        (SELECT max(position) FROM
          (SELECT position FROM job_receipts WHERE job_row = ?1 ORDER BY position LIMIT ?2))
      """
    ).count([.integer(job), .integer(limit)])
    guard deleted < limit else { return false }
    try statement("DELETE FROM jobs WHERE row_id = ?1").run([.integer(job)])
    return true
  }
}
