// The writer's statements on `attempts`. The writer's thread.

internal import Domain
internal import Formats

final class AttemptRows {
  /// How much of an answer is stored for the operator, in bytes.
  static let responseBytesMax = 4096
  /// An accepted attempt that took this long is `slow`.
  static let slowFrom: Duration = .seconds(1)
  /// The outcome of such an attempt. That of a failed one is its cause, and others have none.
  static let slow = "slow"

  private let inserting: StoreStatement
  private let reaching: StoreStatement
  private let existing: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    existing = connection.prepareOnUse("SELECT 1 FROM attempts WHERE purchase_row = ?1 AND at = ?2 LIMIT 1")
    reaching = try connection.prepare(
      "SELECT 1 FROM attempts WHERE purchase_row = ?1 AND (status IS NOT NULL OR ambiguous = 1) LIMIT 1")
    inserting = try connection.prepare(
      """
      INSERT INTO attempts (purchase_row, number, at, duration_ms, status, error, ambiguous, response, detail,
        app, destination, outcome)
      VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM attempts WHERE purchase_row = ?1),
        ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
      """)
  }

  /// Whether a destination received, or may have received, the receipt in a row.
  func haveReached(row: PurchaseRowID) throws(StoreFault) -> Bool {
    try reaching.first([.integer(row)]) { _ throws(StoreFault) in true } ?? false
  }

  /// Whether an attempt was recorded before. A receipt has one attempt at a time.
  func contains(row: PurchaseRowID, startedAt: Timestamp) throws(StoreFault) -> Bool {
    try existing.first([.integer(row), .time(startedAt)]) { _ throws(StoreFault) in true } ?? false
  }

  func insert(_ attempt: AttemptReport, row: PurchaseRowID, at place: AppDestination) throws(StoreFault) {
    try inserting.run([
      .integer(row), .time(attempt.startedAt), .duration(attempt.duration),
      .optional(attempt.status), .optional(attempt.error), .flag(attempt.isAmbiguous),
      .blob(Array(attempt.response.prefix(Self.responseBytesMax))), .optional(attempt.detail),
      .text(place.app), .text(place.destination), .text(attempt.outcome),
    ])
  }
}

extension AttemptReport {
  /// By which attempts are listed: empty if it was accepted within a second.
  fileprivate var outcome: String {
    guard isAcceptance else { return cause.text }
    return duration >= AttemptRows.slowFrom ? AttemptRows.slow : ""
  }
}

extension StoreReader {
  /// The outcome of a row of `attempts`, from its other columns.
  static let attemptOutcomeSQL = """
    CASE
      WHEN a.error IN (\(Reason.hiddenRefusals.map { "'\($0.text)'" }.joined(separator: ", "))) THEN a.error
      WHEN a.status IS NULL THEN coalesce(a.error, 'no_answer')
      WHEN a.status < 200 OR a.status > 299 THEN 'http_' || a.status
      WHEN a.duration_ms >= \(AttemptRows.slowFrom.milliseconds) THEN '\(AttemptRows.slow)'
      ELSE '' END
    """
}
