// What is to be asked of processors, as whoever asks needs it. One thread at a time.

public import Domain

/// A purchase that a processor is to be asked about.
public struct DueLookUp: Sendable, Equatable {
  public var row: Int64
  public var key: PurchaseKey
  /// The checkout session of a subscription, when it is known.
  public var sessionID: String?
  /// What it waits for.
  public var reason: Reason
  /// Answers that did not help.
  public var tries: Int64
}

extension StoreReader {
  /// Purchases of an app that are to be asked about, the longest overdue first.
  public func dueLookUps(app: String, now: Timestamp, limit: Int) throws(StoreFault) -> [DueLookUp] {
    try connection.prepare(Self.dueLookUpsSQL).all(
      [.text(app), .time(now), .integer(Int64(limit))]
    ) { row throws(StoreFault) in
      let key = PurchaseKey(
        processor: ProcessorName(rawValue: try row.text(6)), type: .init(rawValue: try row.text(1)),
        id: try row.text(2))
      return DueLookUp(
        row: row.integer(0), key: key, sessionID: try row.optionalText(3), reason: Reason(try row.text(4)),
        tries: row.integer(5))
    }
  }

  static let dueLookUpsSQL = """
    SELECT l.purchase_row, p.object_type, p.object_id, p.session_id, p.reason, l.tries, p.processor
    FROM look_ups l JOIN purchases p ON p.row_id = l.purchase_row
    WHERE l.app = ?1 AND l.due_at <= ?2 AND p.state = 'waiting' ORDER BY l.due_at LIMIT ?3
    """

  /// When an app's next question is due after a moment.
  public func nextLookUp(app: String, after now: Timestamp) throws(StoreFault) -> Timestamp? {
    try connection.prepare("SELECT min(due_at) FROM look_ups WHERE app = ?1 AND due_at > ?2")
      .first([.text(app), .time(now)]) { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  /// Apps whose events are still to be fetched, and from when on.
  public func backfills() throws(StoreFault) -> [String: Timestamp] {
    var backfills: [String: Timestamp] = [:]
    try connection.prepare("SELECT app, since FROM backfills").forEach { row throws(StoreFault) in
      backfills[try row.text(0)] = Timestamp(unixMilliseconds: row.integer(1))
    }
    return backfills
  }

  /// Whether an app's event is here.
  public func hasEvent(
    id: String, app: String, processor: ProcessorName
  ) throws(StoreFault) -> Bool {
    try connection.prepare("SELECT 1 FROM events WHERE event_id = ?1 AND app = ?2 AND processor = ?3")
      .first([.text(id), .text(app), .text(processor.rawValue)]) { _ throws(StoreFault) in true } ?? false
  }

  /// The bytes of the event in a row; nil when it is not here any more.
  public func body(ofEvent row: Int64) throws(StoreFault) -> [UInt8]? {
    try connection.prepare("SELECT body FROM events WHERE row_id = ?1").first([.integer(row)]) {
      row throws(StoreFault) in row.blob(0)
    }
  }
}
