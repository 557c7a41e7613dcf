// Queries for the lookup worker. One thread at a time.

public import Domain

/// A purchase whose lookup is due.
public struct DueLookup: Sendable, Equatable {
  public var row: PurchaseRowID
  public var key: PurchaseKey
  /// The checkout that sold the object, if known.
  public var sessionID: SessionID?
  public var customerID: CustomerID?
  /// What its receipt waits for; nil if it does not wait.
  public var reason: Reason?
  /// The number of answers that did not help.
  public var attempts: Int64
  /// How many events require a fetch, regardless of what the receipt waits for.
  public var fetches: Int64
  /// What is known of a payment that started at the relay; nil for any other.
  public var facts: PaymentFacts?
  /// When the purchase was first known.
  public var startedAt: Timestamp
  /// Whether a capture of it has no outcome yet.
  public var hasOpenCapture: Bool

  public var reference: PurchaseReference { PurchaseReference(row: row, key: key) }
}

extension StoreReader {
  /// Purchases whose lookup by a processor is due, the longest overdue first.
  public func dueLookups(
    _ place: AppProcessor, now: Timestamp, limit: Int
  ) throws(StoreFault) -> [DueLookup] {
    try connection.prepare(Self.dueLookupsSQL).all(
      [.text(place.app), .text(place.processor), .time(now), .integer(Int64(limit))]
    ) { row throws(StoreFault) in
      let key = PurchaseKey(processor: place.processor, type: try row.text(1), id: try row.text(2))
      return DueLookup(
        row: row.integer(0), key: key, sessionID: try row.optionalText(3),
        customerID: try row.optionalText(10), reason: try row.optionalText(4).map(Reason.init),
        attempts: row.integer(5), fetches: row.integer(6),
        facts: try row.optionalText(9).map(PaymentFacts.init(stored:)),
        startedAt: Timestamp(unixMilliseconds: row.integer(7)), hasOpenCapture: row.flag(8))
    }
  }

  static let dueLookupsSQL = """
    SELECT l.purchase_row, p.object_type, p.object_id, p.session_id,
      CASE p.state WHEN 'waiting' THEN p.reason END, l.tries, l.fetches, p.first_seen_at,
      EXISTS (SELECT 1 FROM captures c WHERE c.purchase_row = l.purchase_row AND c.outcome IS NULL),
      p.payment, p.customer_id
    FROM look_ups l JOIN purchases p ON p.row_id = l.purchase_row
    WHERE l.app = ?1 AND l.processor = ?2 AND l.due_at <= ?3 AND (p.state = 'waiting' OR l.fetches > 0)
    ORDER BY l.due_at LIMIT ?4
    """

  /// When the processor's next lookup after a moment is due.
  public func nextLookup(_ place: AppProcessor, after now: Timestamp) throws(StoreFault) -> Timestamp? {
    try connection.prepare(
      "SELECT min(due_at) FROM look_ups WHERE app = ?1 AND processor = ?2 AND due_at > ?3"
    ).first([.text(place.app), .text(place.processor), .time(now)]) { row throws(StoreFault) in
      row.timestamp(0)
    } ?? nil
  }

  /// The apps and processors whose events must still be fetched, and since when.
  public func backfills() throws(StoreFault) -> [AppProcessor: Timestamp] {
    var backfills: [AppProcessor: Timestamp] = [:]
    try connection.prepare("SELECT app, processor, since FROM backfills").forEach { row throws(StoreFault) in
      let place = AppProcessor(try row.text(0), try row.text(1))
      backfills[place] = Timestamp(unixMilliseconds: row.integer(2))
    }
    return backfills
  }

  /// Whether an app's event is stored.
  public func hasEvent(
    id: EventID, app: AppSlug, processor: ProcessorName
  ) throws(StoreFault) -> Bool {
    try connection.prepare("SELECT 1 FROM events WHERE event_id = ?1 AND app = ?2 AND processor = ?3")
      .first([.text(id), .text(app), .text(processor)]) { _ throws(StoreFault) in true } ?? false
  }

  /// The bytes of the event in a row; nil if it is no longer stored.
  public func body(ofEvent row: EventRowID) throws(StoreFault) -> [UInt8]? {
    let stored = try connection.prepare("SELECT body, dictionary FROM events WHERE row_id = ?1")
      .first([.integer(row)]) { row throws(StoreFault) in StoredBody(row, at: 0, 1) }
    return try stored.map { body throws(StoreFault) in try body.read() }
  }
}
