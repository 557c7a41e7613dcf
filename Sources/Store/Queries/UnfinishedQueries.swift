// Queries for operators: the lookups and captures of payments that are not finished. Each reads an index, and
// counts stop at a maximum, so the cost has a bound. One thread at a time.

public import Domain
internal import Formats

/// A planned lookup of a purchase.
public struct PlannedLookup: Sendable, Equatable {
  /// Nil if it was given up, because the processor did not answer for a week.
  public var dueAt: Timestamp?
  /// The answers that did not help, or the fetches without an answer.
  public var attempts: Int64
  /// Whether the purchase's state is fetched, for an event or because its outcome is unknown. False if only
  /// its receipt waits for data.
  public var isFetch: Bool
}

/// A capture of a payment, as operators see it.
public struct CaptureSummary: Sendable, Equatable {
  public var orderedAt: Timestamp
  public var failures: Int64
  public var retryAt: Timestamp
  /// Why the last reply proved nothing; nil if every reply proved something.
  public var lastTrouble: String?
  /// Nil while it is unknown.
  public var outcome: CaptureOutcome.Kind?
  /// The status of the answer to the app; nil while it is unknown.
  public var status: Int64?
  public var endedAt: Timestamp?
  /// Whether the processor refused it for good: `Capture.isGivenUp`.
  public var isRefused: Bool
}

/// The numbers of lookups and captures at one processor that are not finished.
public struct UnfinishedWork: Sendable, Equatable {
  /// Lookups that are planned.
  public var lookups: Int64 = 0
  /// Those of them that are due now, or for whose last fetch the processor had no answer.
  public var unansweredLookups: Int64 = 0
  /// Payments that are not fetched any more, because the processor did not answer for a week.
  public var abandonedLookups: Int64 = 0
  /// Captures without an outcome.
  public var openCaptures: Int64 = 0
  /// Those of them that were ordered longer than `unknownAfter` ago.
  public var unknownCaptures: Int64 = 0
  /// Captures that were given up, of payments of which it is not known whether they were captured.
  public var abandonedCaptures: Int64 = 0
  /// When the oldest open capture was ordered.
  public var oldestCapture: Timestamp?

  /// A capture usually takes seconds. After this time, its app has been answered that the outcome is unknown.
  public static let unknownAfter: Duration = .minutes(2)
  /// The largest number that is counted.
  public static let countMax: Int64 = 10_000

  public init() {}

  public var isEmpty: Bool { self == UnfinishedWork() }
}

/// A payment whose outcome is not known because of its processor.
public struct TroubledPayment: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    case captureOpen = "capture_open"
    case captureAbandoned = "capture_abandoned"
    case lookupUnanswered = "lookup_unanswered"
    case lookupAbandoned = "lookup_abandoned"
  }

  public var place: AppProcessor
  public var objectID: ObjectID
  public var userID: UserID?
  public var receiptID: ReceiptID?
  public var kind: Kind
  /// When the capture was ordered or given up, or the payment was first seen.
  public var since: Timestamp?
  public var failures: Int64
  /// When the processor is called again; nil if never.
  public var nextAt: Timestamp?
}

extension StoreReader {
  static let unfinishedSQL = (
    lookups: """
    SELECT count(*) FROM (
      SELECT 1 FROM look_ups WHERE app = ?1 AND processor = ?2 AND due_at < \(never) LIMIT ?3)
    """,
    dueLookups: """
    SELECT count(*) FROM (
      SELECT 1 FROM look_ups WHERE app = ?1 AND processor = ?2 AND due_at <= ?4 LIMIT ?3)
    """,
    failedLookups: """
    SELECT count(*) FROM (
      SELECT 1 FROM look_ups INDEXED BY look_ups_failed
      WHERE app = ?1 AND processor = ?2 AND fetches > 0 AND tries > 0 AND due_at > ?4 AND due_at < \(never)
      LIMIT ?3)
    """,
    abandonedLookups: """
    SELECT count(*) FROM (
      SELECT 1 FROM look_ups INDEXED BY look_ups_failed
      WHERE app = ?1 AND processor = ?2 AND fetches > 0 AND tries > 0 AND due_at >= \(never) LIMIT ?3)
    """,
    openCaptures: """
    SELECT count(*) FROM (
      SELECT 1 FROM captures WHERE app = ?1 AND processor = ?2 AND outcome IS NULL LIMIT ?3)
    """,
    unknownCaptures: """
    SELECT count(*) FROM (
      SELECT 1 FROM captures
      WHERE app = ?1 AND processor = ?2 AND outcome IS NULL AND ordered_at <= ?4 LIMIT ?3)
    """,
    oldestCapture: """
    SELECT min(ordered_at) FROM captures WHERE app = ?1 AND processor = ?2 AND outcome IS NULL
    """,
    abandonedCaptures: """
    SELECT count(*), max(ended_at) FROM (
      SELECT c.ended_at FROM captures c JOIN purchases p ON p.row_id = c.purchase_row
      WHERE c.app = ?1 AND c.processor = ?2 AND c.outcome = 'abandoned' AND \(isCaptureInDoubt)
      ORDER BY c.ended_at DESC LIMIT ?3)
    """,
    lookup: "SELECT due_at, tries, fetches FROM look_ups WHERE purchase_row = ?1",
    captures: """
    SELECT ordered_at, failures, retry_at, last_trouble, outcome, status, ended_at, is_given_up
    FROM captures
    WHERE purchase_row = ?1 ORDER BY row_id
    """
  )

  private static let never = Lookup.never.unixMilliseconds

  /// `Purchase.isCaptureInDoubt` of the row `p`. The facts are as `PaymentFacts.stored` writes them; a quote
  /// inside of a value is escaped there.
  private static let isCaptureInDoubt = """
    (p.observations & \(Observations([.closed, .reversed]).rawValue)) = 0
      AND ((p.observations & \(Observations.paid.rawValue)) = 0 OR p.payment LIKE '%"captured":false%')
    """

  /// The numbers of unfinished lookups and captures of an app at a processor.
  public func unfinished(_ place: AppProcessor, now: Timestamp) throws(StoreFault) -> UnfinishedWork {
    let most = UnfinishedWork.countMax
    let values: [StoreValue] = [.text(place.app), .text(place.processor), .integer(most)]
    func count(_ sql: String, _ more: [StoreValue] = []) throws(StoreFault) -> Int64 {
      try connection.prepare(sql).first(values + more) { row throws(StoreFault) in row.integer(0) } ?? 0
    }
    let sql = Self.unfinishedSQL
    return try connection.snapshot { () throws(StoreFault) in
      var work = UnfinishedWork()
      work.lookups = try count(sql.lookups)
      work.unansweredLookups = min(
        most, try count(sql.dueLookups, [.time(now)]) + count(sql.failedLookups, [.time(now)]))
      work.abandonedLookups = try count(sql.abandonedLookups)
      work.openCaptures = try count(sql.openCaptures)
      work.unknownCaptures = try count(sql.unknownCaptures, [.time(now - UnfinishedWork.unknownAfter)])
      work.oldestCapture = try oldestCapture(place)
      work.abandonedCaptures = try abandonedCaptures(place).count
      return work
    }
  }

  /// When the oldest capture without an outcome was ordered; nil if there is none.
  public func oldestCapture(_ place: AppProcessor) throws(StoreFault) -> Timestamp? {
    try connection.prepare(Self.unfinishedSQL.oldestCapture).first([
      .text(place.app), .text(place.processor),
    ]) { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  /// The captures that were given up, of payments of which it is not known whether they were captured, and
  /// when the newest was.
  public func abandonedCaptures(
    _ place: AppProcessor
  ) throws(StoreFault) -> (count: Int64, last: Timestamp?) {
    try connection.prepare(Self.unfinishedSQL.abandonedCaptures).first([
      .text(place.app), .text(place.processor), .integer(UnfinishedWork.countMax),
    ]) { row throws(StoreFault) in (row.integer(0), row.timestamp(1)) } ?? (0, nil)
  }

  /// Payments with a capture that has no outcome, a capture that was given up, or a fetch that got no answer
  /// or was given up, each the longest known first.
  /// - Parameter limit: of each kind.
  public func troubledPayments(_ place: AppProcessor, limit: Int) throws(StoreFault) -> [TroubledPayment] {
    let values: [StoreValue] = [.text(place.app), .text(place.processor), .integer(Int64(limit))]
    return try connection.snapshot { () throws(StoreFault) in
      var found: [TroubledPayment] = []
      for (kind, sql) in Self.troubledSQL {
        found += try connection.prepare(sql).all(values) { row throws(StoreFault) in
          TroubledPayment(
            place: place, objectID: try row.text(0), userID: try row.optionalText(1),
            receiptID: try row.optionalText(2), kind: kind, since: row.timestamp(3),
            failures: row.integer(4), nextAt: row.timestamp(5))
        }
      }
      return found
    }
  }

  static let troubledSQL: [(kind: TroubledPayment.Kind, sql: String)] = [
    (
      .captureOpen,
      """
      SELECT p.object_id, p.user_id, p.receipt_id, c.ordered_at, c.failures, c.retry_at
      FROM captures c JOIN purchases p ON p.row_id = c.purchase_row
      WHERE c.app = ?1 AND c.processor = ?2 AND c.outcome IS NULL ORDER BY c.ordered_at LIMIT ?3
      """
    ),
    (
      .captureAbandoned,
      """
      SELECT p.object_id, p.user_id, p.receipt_id, c.ended_at, c.failures, NULL
      FROM captures c JOIN purchases p ON p.row_id = c.purchase_row
      WHERE c.app = ?1 AND c.processor = ?2 AND c.outcome = 'abandoned' AND \(isCaptureInDoubt)
      ORDER BY c.ended_at LIMIT ?3
      """
    ),
    (
      .lookupUnanswered,
      """
      SELECT p.object_id, p.user_id, p.receipt_id, p.first_seen_at, l.tries, l.due_at
      FROM look_ups l INDEXED BY look_ups_failed JOIN purchases p ON p.row_id = l.purchase_row
      WHERE l.app = ?1 AND l.processor = ?2 AND l.fetches > 0 AND l.tries > 0 AND l.due_at < \(never)
      ORDER BY l.due_at LIMIT ?3
      """
    ),
    (
      .lookupAbandoned,
      """
      SELECT p.object_id, p.user_id, p.receipt_id, p.first_seen_at, l.tries, NULL
      FROM look_ups l INDEXED BY look_ups_failed JOIN purchases p ON p.row_id = l.purchase_row
      WHERE l.app = ?1 AND l.processor = ?2 AND l.fetches > 0 AND l.tries > 0 AND l.due_at >= \(never)
      ORDER BY l.due_at, l.purchase_row LIMIT ?3
      """
    ),
  ]

  /// The planned lookup of a purchase; nil if there is none.
  func plannedLookup(of row: PurchaseRowID) throws(StoreFault) -> PlannedLookup? {
    try connection.prepare(Self.unfinishedSQL.lookup).first([.integer(row)]) { row throws(StoreFault) in
      let dueAt = Timestamp(unixMilliseconds: row.integer(0))
      return PlannedLookup(
        dueAt: dueAt < Lookup.never ? dueAt : nil, attempts: row.integer(1), isFetch: row.integer(2) > 0)
    }
  }

  /// The captures of a payment, oldest first.
  func captures(of row: PurchaseRowID) throws(StoreFault) -> [CaptureSummary] {
    try connection.prepare(Self.unfinishedSQL.captures).all([.integer(row)]) { row throws(StoreFault) in
      CaptureSummary(
        orderedAt: Timestamp(unixMilliseconds: row.integer(0)), failures: row.integer(1),
        retryAt: Timestamp(unixMilliseconds: row.integer(2)), lastTrouble: try row.optionalText(3),
        outcome: try row.optionalText(4).flatMap(CaptureOutcome.Kind.init), status: row.optionalInteger(5),
        endedAt: row.timestamp(6), isRefused: row.flag(7))
    }
  }
}
