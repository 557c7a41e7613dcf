// Read-only queries on a separate connection, so that they never wait for the writer. One thread at a time;
// protect it with a lock to share it.

public import Domain

/// The reading side of the store.
public final class StoreReader {
  package let connection: StoreConnection
  let due: DueStatements
  private let namesOfPending: StoreStatement
  private let pause: StoreStatement
  private let status: StoreStatement
  private let soldStatus: StoreStatement
  private let sessionStatus: StoreStatement
  private let countsByState: StoreStatement
  private let oldestPending: StoreStatement

  /// - Parameter connection: one on which nothing else is done at the same time.
  public init(_ connection: StoreConnection) {
    self.connection = connection
    due = DueStatements(connection)
    namesOfPending = connection.prepareOnUse(PurchaseRow.namesOfPendingSQL)
    pause = connection.prepareOnUse(PauseRows.oneSQL)
    status = connection.prepareOnUse(
      """
      SELECT p.row_id, c.received_at, c.expires_at, p.receipt_id, p.state, p.reason, p.updated_at,
        c.posted_at, c.user_id, coalesce(p.observations, 0)
      FROM contexts c LEFT JOIN purchases p ON p.row_id = c.purchase_row WHERE c.id = ?1 AND c.app = ?2
      """)
    let select = "SELECT receipt_id, state, reason, updated_at, context_id, observations FROM purchases"
    soldStatus = connection.prepareOnUse("\(select) WHERE row_id = ?3 AND session_id = ?1 AND app = ?2")
    sessionStatus = connection.prepareOnUse(
      "\(select) WHERE object_id = ?1 AND app = ?2 AND session_id = object_id ORDER BY state IS NULL LIMIT 1")
    countsByState = connection.prepareOnUse(
      "SELECT app, state, sum(count) FROM receipt_counts GROUP BY app, state ORDER BY app, state")
    // Most receipts become due in the order in which they became ready; the others have their own index.
    oldestPending = connection.prepareOnUse(
      """
      \(PurchaseRow.pendingDestinationsSQL)
      SELECT min(retry_since) FROM (
        SELECT (SELECT retry_since FROM purchases
                WHERE app = ?1 AND destination = name AND state = 'pending' AND is_replay = 0
                ORDER BY next_attempt_at LIMIT 1) AS retry_since FROM targets
        UNION ALL
        SELECT (SELECT retry_since FROM purchases
                WHERE app = ?1 AND destination = name AND state = 'pending' AND is_replay = 1
                ORDER BY next_attempt_at LIMIT 1) FROM targets
        UNION ALL
        SELECT * FROM (SELECT retry_since FROM purchases WHERE app = ?1 AND state = 'pending'
                         AND next_attempt_at <> retry_since ORDER BY retry_since LIMIT 1))
      """)
  }

  /// Reads that all see the same moment, in one transaction: on a server each of its own costs three more
  /// statements. After an error the transaction accepts no more reads, so the body must not go on.
  public func snapshot<Result>(_ body: () throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    try connection.snapshot(body)
  }

  /// The destinations of an app's pending receipts.
  public func pendingDestinations(of app: AppSlug) throws(StoreFault) -> [DestinationName] {
    try namesOfPending.all([.text(app)]) { row throws(StoreFault) in try row.text(0)
    }
  }

  /// Whether any receipt of an app is due.
  public func hasDue(app: AppSlug, now: Timestamp) throws(StoreFault) -> Bool {
    try connection.prepare(JobRow.hasDueSQL).first([.text(app), .time(now)]) { row throws(StoreFault) in
      row.flag(0)
    } ?? false
  }

  /// The breaker of each destination of each app.
  public func breakers() throws(StoreFault) -> [AppDestination: Breaker] { try BreakerRows.all(connection) }

  /// The apps that were ever paused.
  public func pauses() throws(StoreFault) -> [AppSlug: AppPause] { try PauseRows.all(connection) }

  /// The app's; one that holds nothing if it was never paused.
  public func pause(of app: AppSlug) throws(StoreFault) -> AppPause {
    try pause.first([.text(app)]) { row throws(StoreFault) in try PauseRows.pause(row).1 } ?? AppPause()
  }

  /// Receipts by app and state.
  public func counts() throws(StoreFault) -> [(app: AppSlug, state: ReceiptState, count: Int64)] {
    try countsByState.all { row throws(StoreFault) in
      (try row.text(0), ReceiptState(rawValue: try row.text(1)) ?? .failed, row.integer(2))
    }
  }

  /// Receipts by app, processor, state and reason; the reason is empty without one.
  public func receiptCounts() throws(StoreFault) -> [ReceiptCount] {
    try connection.prepare(
      """
      SELECT app, processor, state, reason, sum(count) FROM receipt_counts
      GROUP BY app, processor, state, reason HAVING sum(count) > 0
      """
    ).all { row throws(StoreFault) in
      ReceiptCount(
        app: try row.text(0), processor: try row.text(1),
        state: ReceiptState(rawValue: try row.text(2)) ?? .failed, reason: try row.text(3),
        count: row.integer(4))
    }
  }

  /// Receipts by app, processor and state.
  public func countsByProcessor() throws(StoreFault) -> [AppProcessor: [ReceiptState: Int64]] {
    var counts: [AppProcessor: [ReceiptState: Int64]] = [:]
    try connection.prepare(
      "SELECT app, processor, state, sum(count) FROM receipt_counts GROUP BY app, processor, state"
    ).forEach { row throws(StoreFault) in
      let place = AppProcessor(try row.text(0), try row.text(1))
      let state = ReceiptState(rawValue: try row.text(2)) ?? .failed
      counts[place, default: [:]][state, default: 0] += row.integer(3)
    }
    return counts
  }

  /// When the oldest pending receipt of an app became ready or was replayed.
  public func oldestPending(app: AppSlug) throws(StoreFault) -> Timestamp? {
    try oldestPending.first([.text(app)]) { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  /// The status of a checkout by its context.
  public func status(
    app: AppSlug, contextID: ContextID, now: Timestamp
  ) throws(StoreFault) -> CheckoutStatus? {
    try status.first([.text(contextID), .text(app)]) { row throws(StoreFault) in
      let isClaimed = !row.isNull(0)
      let receiptState = try row.optionalText(4).flatMap(ReceiptState.init)
      let reason = try row.optionalText(5).map(Reason.init)
      let isExpired = row.integer(2) <= now.unixMilliseconds
      return CheckoutStatus(
        contextID: contextID, userID: try row.text(8),
        state: .init(isClaimed: isClaimed, isExpired: isExpired, receiptState, reason),
        paid: CheckoutStatus.isPaid(Observations(rawValue: row.integer(9)), receiptState, reason),
        reason: reason, receiptID: try row.optionalText(3),
        expiresAt: isClaimed ? nil : Timestamp(unixMilliseconds: row.integer(2)),
        updatedAt: row.timestamp(6) ?? Timestamp(unixMilliseconds: row.integer(isExpired ? 2 : 1)),
        begunAt: row.timestamp(6) ?? Timestamp(unixMilliseconds: row.integer(7)))
    }
  }

  /// The status of a checkout by its session.
  /// - Parameter sessionID: the checkout session's id.
  /// - Returns: nil if no event has named the session yet.
  public func status(app: AppSlug, sessionID: SessionID) throws(StoreFault) -> CheckoutStatus? {
    // The row of what it sold, and the row stored under the checkout's own id. Until an event names both and
    // they are merged, the one with a receipt is used.
    let rows = try connection.engine.keys.rows(RowKey(.session, sessionID, app: app), limit: Self.soldMax)
    let values: [StoreValue] = [.text(sessionID), .text(app)]
    var found: [CheckoutStatus] = []
    for row in rows {
      if let status = try soldStatus.first(values + [.integer(row)], Self.status) { found.append(status) }
    }
    if let sold = found.first(where: { $0.receiptID != nil }) { return sold }
    if let known = try sessionStatus.first(values, Self.status) { found.append(known) }
    return found.first { $0.receiptID != nil } ?? found.first
  }

  /// A checkout sells one purchase; others are mistakes of apps.
  private static let soldMax = 10

  static func status(_ row: StoreRow) throws(StoreFault) -> CheckoutStatus {
    let receiptState = try row.optionalText(1).flatMap(ReceiptState.init)
    let reason = try row.optionalText(2).map(Reason.init)
    let observations = Observations(rawValue: row.integer(5))
    let hasEnded = observations.contains(.expired)
    let updatedAt = Timestamp(unixMilliseconds: row.integer(3))
    return CheckoutStatus(
      contextID: try row.optionalText(4), userID: nil,
      state: .init(isClaimed: !hasEnded, isExpired: hasEnded, receiptState, reason),
      paid: CheckoutStatus.isPaid(observations, receiptState, reason), reason: reason,
      receiptID: try row.optionalText(0), expiresAt: nil, updatedAt: updatedAt, begunAt: updatedAt)
  }

  /// The findings of the engine's check of the whole database, and wrong counts. Reads all of it.
  /// - Returns: an empty array if there are none.
  public func integrityFaults() throws(StoreFault) -> [String] {
    try connection.integrityFaults() + wrongCounts() + unknownDictionaries()
  }

  /// Stored counts that differ from the rows. Reads most of the rows.
  package func wrongCounts() throws(StoreFault) -> [String] {
    let miscounted = try connection.prepare(
      """
      SELECT app, state, reason || CASE last_cause WHEN '' THEN '' ELSE ' ' || last_cause END FROM (
        SELECT app, state, reason, last_cause, processor, count FROM receipt_counts WHERE count <> 0
        UNION ALL
        SELECT app, state, coalesce(reason, ''), coalesce(last_cause, ''), processor, -count(*) FROM purchases
        WHERE state IS NOT NULL GROUP BY app, state, reason, last_cause, processor)
      GROUP BY app, state, reason, last_cause, processor HAVING sum(count) <> 0
      """
    ).all { row throws(StoreFault) in
      "the count of receipts is wrong: \(try row.text(0)), \(try row.text(1)) \(try row.text(2))"
    }
    return try miscounted + miscountedJobs() + miscountedJoins()
  }
}

// MARK: - AppQueries

// What the pages of apps need: each statement reads stored counts only.

extension StoreReader {
  static let countsOfAppSQL = """
    SELECT processor, state, sum(count) FROM receipt_counts WHERE app = ?1 GROUP BY processor, state
    """
  static let loudFailuresSQL = """
    SELECT r.app, sum(r.entered - coalesce(a.entered, r.entered - r.count))
    FROM receipt_counts r LEFT JOIN acknowledgements a ON a.app = r.app AND a.processor = r.processor
      AND a.reason = r.reason AND a.last_cause = r.last_cause
    WHERE r.state = 'failed' AND r.count > 0 AND coalesce(a.entered, -1) < r.entered
      AND r.app = coalesce(?1, r.app)
    GROUP BY r.app
    """

  /// The receipts of one app by processor and state.
  public func counts(app: AppSlug) throws(StoreFault) -> [ProcessorName: [ReceiptState: Int64]] {
    var counts: [ProcessorName: [ReceiptState: Int64]] = [:]
    try connection.prepare(Self.countsOfAppSQL).forEach([.text(app)]) { row throws(StoreFault) in
      let state = ReceiptState(rawValue: try row.text(1)) ?? .failed
      counts[try row.text(0), default: [:]][state] = row.integer(2)
    }
    return counts
  }

  /// The apps with failures that an operator should look at: how many receipts are in groups that nobody has
  /// acknowledged, or have failed since. An app without such failures is left out.
  public func loudFailures(app: AppSlug? = nil) throws(StoreFault) -> [AppSlug: Int64] {
    var failures: [AppSlug: Int64] = [:]
    try connection.prepare(Self.loudFailuresSQL).forEach([.optional(app)]) { row throws(StoreFault) in
      failures[try row.text(0)] = row.integer(1)
    }
    return failures
  }
}

// MARK: - ActivityQueries

// Recent activity, read from the ends of the tables: the cost does not depend on the database's size.

/// How far the tables have grown; the difference of two values is the number of new rows.
public struct Growth: Sendable, Equatable {
  public var events: Int64 = 0
  public var contexts: Int64 = 0
  public var attempts: Int64 = 0

  public init() {}
}

extension StoreReader {
  /// When the oldest purchase that is still kept was first known; nil if there is none.
  public func oldestPurchaseAt() throws(StoreFault) -> Timestamp? {
    try connection.prepare("SELECT first_seen_at FROM purchases ORDER BY row_id LIMIT 1").first {
      row throws(StoreFault) in Timestamp(unixMilliseconds: row.integer(0))
    }
  }

  /// The present growth of the tables.
  public func growth() throws(StoreFault) -> Growth {
    var growth = Growth()
    growth.events = try lastRow(of: .events)
    growth.contexts = try lastRow(of: .contexts)
    growth.attempts = try lastRow(of: .attempts)
    return growth
  }
}

/// How many receipts an app has of one kind.
public struct ReceiptCount: Sendable, Equatable {
  public var app: AppSlug
  public var processor: ProcessorName
  public var state: ReceiptState
  public var reason: String
  public var count: Int64
}
