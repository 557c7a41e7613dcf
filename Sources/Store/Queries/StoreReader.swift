// Read-only queries on a separate connection, so that they never wait for the writer. One thread at a time;
// protect it with a lock to share it.

public import Domain

/// The reading side of the store.
public final class StoreReader {
  package let connection: StoreConnection
  private let dueRows: StoreStatement
  private let newestDue: StoreStatement
  private let namesOfPending: StoreStatement
  private let due: StoreStatement
  private let dueTogether: StoreStatement
  private let nextDue: StoreStatement
  private let givenUp: StoreStatement
  private let pause: StoreStatement
  private let status: StoreStatement
  private let soldStatus: StoreStatement
  private let sessionStatus: StoreStatement
  private let countsByState: StoreStatement
  private let oldestPending: StoreStatement

  /// - Parameter connection: one on which nothing else is done at the same time.
  public init(_ connection: StoreConnection) {
    self.connection = connection
    // Each part of the service has its own reader and asks a few of these.
    // A covering index answers this, because it also returns rows that are being sent already.
    dueRows = connection.prepareOnUse(
      """
      SELECT row_id, next_attempt_at FROM purchases
      WHERE app = ?1 AND destination = ?5 AND state = 'pending' AND is_replay = ?4 AND next_attempt_at <= ?2
      ORDER BY next_attempt_at LIMIT ?3
      """)
    newestDue = connection.prepareOnUse(
      """
      SELECT row_id, price_id FROM purchases
      WHERE app = ?1 AND destination = ?5 AND state = 'pending' AND is_replay = ?4 AND next_attempt_at <= ?2
      ORDER BY next_attempt_at DESC LIMIT ?3
      """)
    namesOfPending = connection.prepareOnUse(PurchaseRow.namesOfPendingSQL)
    let isDue = "state = 'pending' AND next_attempt_at <= ?2"
    let dueColumns =
      "row_id, receipt_id, body, spent_tries, retry_since, paused_base_ms, is_reversal, dictionary, price_id"
      + ", processor"
    due = connection.prepareOnUse("SELECT \(dueColumns) FROM purchases WHERE row_id = ?1 AND \(isDue)")
    dueTogether = connection.prepareOnUse(
      """
      SELECT \(dueColumns) FROM purchases
      WHERE row_id IN (SELECT value FROM json_each(?1)) AND \(isDue)
      """)
    nextDue = connection.prepareOnUse(
      """
      SELECT min(next_attempt_at) FROM purchases
      WHERE app = ?1 AND destination = ?4 AND state = 'pending' AND is_replay = ?3 AND next_attempt_at > ?2
      """
    )
    givenUp = connection.prepareOnUse(
      """
      SELECT receipt_id, retry_since, paused_base_ms FROM purchases
      WHERE app = ?1 AND destination = ?6 AND state = 'pending' AND is_replay = ?5 AND next_attempt_at <= ?2
        AND attempts > 0 AND retry_since <= ?3
      ORDER BY next_attempt_at LIMIT ?4
      """)
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

  /// A due receipt with the data for its delivery.
  public struct DueReceipt: Sendable, Equatable {
    public var row: PurchaseRowID
    public var id: ReceiptID
    public var processor: ProcessorName
    /// Whether the body reports a reversal.
    public var isReversal: Bool
    public var body: [UInt8]
    public var spentAttempts: Int64
    public var retrySince: Timestamp
    public var pausedBase: Duration
    public var price: PriceID?
  }

  /// The destinations of an app's pending receipts.
  public func pendingDestinations(of app: AppSlug) throws(StoreFault) -> [DestinationName] {
    try namesOfPending.all([.text(app)]) { row throws(StoreFault) in try row.text(0)
    }
  }

  /// The rows of the due new receipts, or of the due replays, for a destination of an app, the longest
  /// overdue first.
  public func dueRows(
    _ place: AppDestination, isReplay: Bool, now: Timestamp, limit: Int
  ) throws(StoreFault) -> [PurchaseRowID] {
    try dueRows.all([
      .text(place.app), .time(now), .integer(Int64(limit)), .flag(isReplay), .text(place.destination),
    ]) { row throws(StoreFault) in row.integer(0) }
  }

  /// The due receipts that became due last, the latest first, with their prices.
  public func newestDue(
    _ place: AppDestination, isReplay: Bool, now: Timestamp, limit: Int
  ) throws(StoreFault) -> [(row: PurchaseRowID, price: PriceID?)] {
    try newestDue.all([
      .text(place.app), .time(now), .integer(Int64(limit)), .flag(isReplay), .text(place.destination),
    ]) { row throws(StoreFault) in (row.integer(0), try row.optionalText(1)) }
  }

  /// Those of the rows whose receipts are pending, in any order.
  public func pending(among rows: [PurchaseRowID]) throws(StoreFault) -> [PurchaseRowID] {
    try connection.prepare(
      "SELECT row_id FROM purchases WHERE row_id IN (SELECT value FROM json_each(?1)) AND state = 'pending'"
    ).all([.text(Self.list(rows))]) { row throws(StoreFault) in row.integer(0) }
  }

  private static func list(_ rows: [PurchaseRowID]) -> String {
    "[" + rows.map { "\($0.number)" }.joined(separator: ",") + "]"
  }

  /// The receipt in a row; nil if it is not due any more.
  public func due(row: PurchaseRowID, now: Timestamp) throws(StoreFault) -> DueReceipt? {
    try due.first([.integer(row), .time(now)], dueReceipt)?.result.get()
  }

  /// A row of which a due receipt was read, with the receipt's id unless that cannot be read, either.
  public typealias DueRow = (row: PurchaseRowID, id: ReceiptID?, result: Result<DueReceipt, StoreFault>)

  /// The receipts in these rows, in their order, without those that are not due any more.
  /// - Throws: for a receipt that cannot be read only its own result does.
  public func due(
    rows: [PurchaseRowID], now: Timestamp
  ) throws(StoreFault) -> [DueRow] {
    var found: [DueRow] = []
    guard connection.engine.hasRoundTrips, rows.count > 1 else {
      for row in rows {
        do throws(StoreFault) {
          if let read = try due.first([.integer(row), .time(now)], dueReceipt) { found.append(read) }
        } catch {
          guard error.kind == .corrupt else { throw error }
          found.append((row, nil, .failure(error)))
        }
      }
      return found
    }
    try dueTogether.forEach([.text(Self.list(rows)), .time(now)]) { row throws(StoreFault) in
      found.append(try dueReceipt(row))
    }
    let order = Dictionary(uniqueKeysWithValues: zip(rows, rows.indices))
    return found.sorted { order[$0.row, default: 0] < order[$1.row, default: 0] }
  }

  private func dueReceipt(_ row: StoreRow) throws(StoreFault) -> DueRow {
    let (rowID, id): (PurchaseRowID, ReceiptID) = (row.integer(0), try row.text(1))
    do throws(StoreFault) {
      let body = try StoredBody(row, at: 2, 7).read()
      let receipt = DueReceipt(
        row: rowID, id: id, processor: try row.text(9), isReversal: row.flag(6), body: body,
        spentAttempts: row.integer(3),
        retrySince: Timestamp(unixMilliseconds: row.integer(4)), pausedBase: row.duration(5),
        price: try row.optionalText(8))
      return (rowID, id, .success(receipt))
    } catch {
      guard error.kind == .corrupt else { throw error }
      return (rowID, id, .failure(error))
    }
  }

  /// When the next new receipt, or the next replay, for a destination of an app is due after a moment.
  public func nextDue(
    _ place: AppDestination, isReplay: Bool, after now: Timestamp
  ) throws(StoreFault) -> Timestamp? {
    try nextDue.first([
      .text(place.app), .time(now), .flag(isReplay), .text(place.destination),
    ]) { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  /// Due receipts for a destination of an app that were attempted before, and whose retry budget began at
  /// `cutoff` or before.
  public func overdue(
    _ place: AppDestination, now: Timestamp, cutoff: Timestamp, limit: Int
  ) throws(StoreFault) -> [(id: ReceiptID, budget: (since: Timestamp, pausedBase: Duration))] {
    var found: [(id: ReceiptID, budget: (since: Timestamp, pausedBase: Duration))] = []
    for isReplay in [false, true] where found.count < limit {
      found += try givenUp.all([
        .text(place.app), .time(now), .time(cutoff), .integer(Int64(limit - found.count)), .flag(isReplay),
        .text(place.destination),
      ]) { row throws(StoreFault) in
        (try row.text(0), (Timestamp(unixMilliseconds: row.integer(1)), row.duration(2)))
      }
    }
    return found
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
