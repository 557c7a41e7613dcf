// Which receipts are due, and in which order they are read; `Lane` chooses among them. One thread at a time,
// as the reader.

public import Domain

/// The statements of these queries. Each part of the service has its own reader, and asks a few of them.
struct DueStatements {
  fileprivate let rows: StoreStatement
  fileprivate let newest: StoreStatement
  fileprivate let one: StoreStatement
  fileprivate let together: StoreStatement
  fileprivate let next: StoreStatement
  fileprivate let givenUp: StoreStatement

  init(_ connection: StoreConnection) {
    // A covering index answers this, because it also returns rows that are being sent already.
    rows = connection.prepareOnUse(
      """
      SELECT row_id, next_attempt_at FROM purchases
      WHERE app = ?1 AND destination = ?5 AND state = 'pending' AND is_replay = ?4 AND next_attempt_at <= ?2
      ORDER BY next_attempt_at LIMIT ?3
      """)
    newest = connection.prepareOnUse(
      """
      SELECT row_id, price_id FROM purchases
      WHERE app = ?1 AND destination = ?5 AND state = 'pending' AND is_replay = ?4 AND next_attempt_at <= ?2
      ORDER BY next_attempt_at DESC LIMIT ?3
      """)
    let isDue = "state = 'pending' AND next_attempt_at <= ?2"
    let dueColumns =
      "row_id, receipt_id, body, spent_tries, retry_since, paused_base_ms, is_reversal, dictionary, price_id"
      + ", processor"
    one = connection.prepareOnUse("SELECT \(dueColumns) FROM purchases WHERE row_id = ?1 AND \(isDue)")
    together = connection.prepareOnUse(
      """
      SELECT \(dueColumns) FROM purchases
      WHERE row_id IN (SELECT value FROM json_each(?1)) AND \(isDue)
      """)
    next = connection.prepareOnUse(
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
  }
}

extension StoreReader {
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

  /// The rows of the due new receipts, or of the due replays, for a destination of an app, the longest
  /// overdue first.
  public func dueRows(
    _ place: AppDestination, isReplay: Bool, now: Timestamp, limit: Int
  ) throws(StoreFault) -> [PurchaseRowID] {
    try due.rows.all([
      .text(place.app), .time(now), .integer(Int64(limit)), .flag(isReplay), .text(place.destination),
    ]) { row throws(StoreFault) in row.integer(0) }
  }

  /// The due receipts that became due last, the latest first, with their prices.
  public func newestDue(
    _ place: AppDestination, isReplay: Bool, now: Timestamp, limit: Int
  ) throws(StoreFault) -> [(row: PurchaseRowID, price: PriceID?)] {
    try due.newest.all([
      .text(place.app), .time(now), .integer(Int64(limit)), .flag(isReplay), .text(place.destination),
    ]) { row throws(StoreFault) in (row.integer(0), try row.optionalText(1)) }
  }

  /// Those of the rows whose receipts are pending, in any order, and when each is due.
  public func pending(
    among rows: [PurchaseRowID]
  ) throws(StoreFault) -> [(row: PurchaseRowID, dueAt: Timestamp?)] {
    try connection.prepare(
      """
      SELECT row_id, next_attempt_at FROM purchases
      WHERE row_id IN (SELECT value FROM json_each(?1)) AND state = 'pending'
      """
    ).all([.text(Self.list(rows))]) { row throws(StoreFault) in (row.integer(0), row.timestamp(1)) }
  }

  private static func list(_ rows: [PurchaseRowID]) -> String {
    "[" + rows.map { "\($0.number)" }.joined(separator: ",") + "]"
  }

  /// The receipt in a row; nil if it is not due any more.
  public func due(row: PurchaseRowID, now: Timestamp) throws(StoreFault) -> DueReceipt? {
    try due.one.first([.integer(row), .time(now)], dueReceipt)?.result.get()
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
          if let read = try due.one.first([.integer(row), .time(now)], dueReceipt) { found.append(read) }
        } catch {
          guard error.kind == .corrupt else { throw error }
          found.append((row, nil, .failure(error)))
        }
      }
      return found
    }
    try due.together.forEach([.text(Self.list(rows)), .time(now)]) { row throws(StoreFault) in
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
    try due.next.first([
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
      found += try due.givenUp.all([
        .text(place.app), .time(now), .time(cutoff), .integer(Int64(limit - found.count)), .flag(isReplay),
        .text(place.destination),
      ]) { row throws(StoreFault) in
        (try row.text(0), (Timestamp(unixMilliseconds: row.integer(1)), row.duration(2)))
      }
    }
    return found
  }
}
