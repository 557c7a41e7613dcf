// The statements on `captures`. The writer's thread.

internal import Domain

/// Columns of `captures` that queries share, too.
enum CaptureRow {
  /// Of an open capture `c` with its payment `p`.
  static let openColumns = """
    c.row_id, p.object_type, p.object_id, p.processor, p.payment, p.first_seen_at, c.ordered_at, c.failures,
    c.retry_at, c.is_given_up
    """

  /// Of the payment `?1`.
  static let openOneSQL = """
    SELECT \(openColumns) FROM captures c JOIN purchases p ON p.row_id = c.purchase_row
    WHERE c.purchase_row = ?1 AND c.outcome IS NULL
    """

  static func open(_ row: StoreRow) throws(StoreFault) -> OpenCapture {
    OpenCapture(
      row: row.integer(0),
      key: PurchaseKey(processor: try row.text(3), type: try row.text(1), id: try row.text(2)),
      facts: try row.optionalText(4).map(PaymentFacts.init(stored:)) ?? PaymentFacts(),
      startedAt: Timestamp(unixMilliseconds: row.integer(5)),
      orderedAt: Timestamp(unixMilliseconds: row.integer(6)), failures: row.integer(7),
      retryAt: Timestamp(unixMilliseconds: row.integer(8)), isGivenUp: row.integer(9) != 0)
  }

  static let newestSQL = """
    SELECT row_id, ordered_at, outcome, status, body FROM captures
    WHERE purchase_row = ?1 ORDER BY row_id DESC LIMIT 1
    """

  static func newest(_ row: StoreRow) throws(StoreFault) -> (row: CaptureRowID, capture: StoredCapture) {
    var capture = StoredCapture(orderedAt: Timestamp(unixMilliseconds: row.integer(1)))
    if let word = try row.optionalText(2) {
      guard let kind = CaptureOutcome.Kind(rawValue: word) else {
        throw StoreFault(
          .corrupt, operation: "read a capture",
          reason: "a column has a value that this version does not know")
      }
      capture.outcome = CaptureOutcome(kind: kind, status: Int(clamping: row.integer(3)), body: row.blob(4))
    }
    return (row.integer(0), capture)
  }
}

final class CaptureRows {
  private let newestOfPurchase: StoreStatement
  private let inserting: StoreStatement
  private let openOne: StoreStatement
  private let saving: StoreStatement
  private let ending: StoreStatement
  private let openOfPurchase: StoreStatement
  private let emptying: StoreStatement
  private let replacing: StoreStatement
  private let moving: StoreStatement
  private let bringingBack: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    newestOfPurchase = try connection.prepare(CaptureRow.newestSQL)
    inserting = try connection.prepare(
      """
      INSERT INTO captures (app, processor, purchase_row, ordered_at, grant_id, failures, retry_at)
      VALUES (?1, ?2, ?3, ?4, ?5, 0, ?4)
      """)
    openOne = try connection.prepare(CaptureRow.openOneSQL)
    saving = try connection.prepare(
      """
      UPDATE captures SET failures = ?2, retry_at = ?3, last_trouble = coalesce(?4, last_trouble),
        is_given_up = CASE WHEN is_given_up > ?5 THEN is_given_up ELSE ?5 END
      WHERE row_id = ?1 AND ordered_at = ?6 AND outcome IS NULL
      """)
    ending = try connection.prepare(
      """
      UPDATE captures SET outcome = ?2, status = ?3, body = ?4, ended_at = ?5
      WHERE row_id = ?1 AND ordered_at = ?6 AND outcome IS NULL
      """)
    openOfPurchase = try connection.prepare(
      "SELECT 1 FROM captures WHERE purchase_row = ?1 AND outcome IS NULL")
    emptying = try connection.prepare(
      "UPDATE captures SET grant_id = NULL, body = x'' WHERE purchase_row = ?1 AND outcome IS NOT NULL")
    // Two open captures of one payment become one.
    replacing = try connection.prepare(
      """
      DELETE FROM captures WHERE purchase_row = ?2 AND outcome IS NULL
        AND EXISTS (SELECT 1 FROM captures other WHERE other.purchase_row = ?1 AND other.outcome IS NULL)
      """)
    moving = try connection.prepare("UPDATE captures SET purchase_row = ?2 WHERE purchase_row = ?1")
    bringingBack = try connection.prepare(
      """
      UPDATE captures SET retry_at = ?3
      WHERE app = ?1 AND processor = ?2 AND outcome IS NULL AND retry_at > ?3
      """)
  }

  /// The newest capture of a payment; nil if it has none.
  func newest(ofPurchase row: PurchaseRowID) throws(StoreFault) -> StoredCapture? {
    try newestOfPurchase.first([.integer(row)], CaptureRow.newest)?.capture
  }

  /// Stores an order.
  func add(
    purchase row: PurchaseRowID, of place: AppProcessor, grantID: String?, at now: Timestamp
  ) throws(StoreFault) {
    try inserting.run([
      .text(place.app), .text(place.processor), .integer(row), .time(now), .optional(grantID),
    ])
  }

  /// The open capture of a payment; nil if it has none.
  func open(ofPurchase row: PurchaseRowID) throws(StoreFault) -> OpenCapture? {
    try openOne.first([.integer(row)], CaptureRow.open)
  }

  /// Stores the failures of an open capture. One that has ended does not change.
  /// - Parameter trouble: nil keeps the stored one.
  func save(
    _ capture: CaptureReference, failures: Int64, retryAt: Timestamp, trouble: String?, isGivenUp: Bool
  ) throws(StoreFault) {
    try saving.run([
      .integer(capture.row), .integer(failures), .time(retryAt), .optional(trouble),
      .integer(isGivenUp ? 1 : 0), .time(capture.orderedAt),
    ])
  }

  /// Ends an open capture.
  /// - Returns: false if it has ended before.
  func end(
    _ capture: CaptureReference, _ outcome: CaptureOutcome, at now: Timestamp
  ) throws(StoreFault) -> Bool {
    try ending.count([
      .integer(capture.row), .text(outcome.kind.rawValue), .integer(Int64(outcome.status)),
      .blob(outcome.body),
      .time(now), .time(capture.orderedAt),
    ]) == 1
  }

  /// Whether a payment is being captured.
  func isOpen(_ row: PurchaseRowID) throws(StoreFault) -> Bool {
    try openOfPurchase.first([.integer(row)]) { _ throws(StoreFault) in true } ?? false
  }

  /// Erases the personal data of a payment's captures that have ended.
  func empty(_ row: PurchaseRowID) throws(StoreFault) { try emptying.run([.integer(row)]) }

  /// Moves captures to the remaining row after two rows were merged.
  func move(from old: PurchaseRowID, to new: PurchaseRowID) throws(StoreFault) {
    try replacing.run([.integer(old), .integer(new)])
    try moving.run([.integer(old), .integer(new)])
  }

  /// Moves times that a clock noted while it ran ahead to the longest pause from now.
  func bringBack(_ place: AppProcessor, to now: Timestamp) throws(StoreFault) {
    try bringingBack.run([.text(place.app), .text(place.processor), .time(now + Capture.longestPause)])
  }
}
