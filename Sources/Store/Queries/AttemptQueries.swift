// Operators' queries of attempts to deliver. Newest first: row ids are in the order in which attempts ended.

public import Domain
internal import Formats

/// Which attempts to list; a nil property does not restrict the list.
public struct AttemptFilter: Sendable, Equatable {
  public var app: AppSlug?
  public var destination: DestinationName?
  /// The HTTP status of the answer.
  public var status: AnswerStatus?
  /// Why it failed, such as `timeout` or `http_503`.
  public var error: String?
  /// Only those that failed.
  public var isFailed = false
  /// Those that took at least this long.
  public var slower: Duration?
  /// Begun at or after.
  public var since: Timestamp?
  /// Begun before.
  public var until: Timestamp?
  /// The row of the last attempt on the previous page.
  public var after: Int64?

  public init() {}

  /// Whether every attempt that matches is in the index of those that failed or were slow.
  var isOfTrouble: Bool {
    if isFailed || error != nil { return true }
    if let slower, slower >= AttemptRows.slowFrom { return true }
    return status.map { !$0.range.overlaps(200...299) } ?? false
  }
}

/// An attempt with its receipt.
public struct AttemptSummary: Sendable, Equatable {
  /// Its position in the list.
  public var row: Int64
  public var app: AppSlug
  public var destination: DestinationName
  public var receiptID: ReceiptID?
  /// 1 for the receipt's first one.
  public var number: Int64
  /// Without the answer's body.
  public var report: AttemptReport
}

extension StoreReader {
  /// The most attempts that are compared for one page or one total.
  public static let attemptsComparedMax = 10_000
  /// Attempts that ended within this time of each other are in any order: one that waited for an answer is
  /// written after others that began later.
  static let attemptSlack: Duration = .minutes(5)

  /// The conditions of a filter that are compared attempt by attempt, and the range of rows.
  private struct AttemptSearch {
    var conditions: [(sql: String, value: StoreValue?)] = []
    var after: Int64 = 0
    var before: Int64 = .max
    let isOfTrouble: Bool

    var isCompared: Bool { !conditions.isEmpty }

    init(_ filter: AttemptFilter, _ reader: StoreReader) throws(StoreFault) {
      isOfTrouble = filter.isOfTrouble
      func add(_ sql: String, _ value: StoreValue?) {
        if let value { conditions.append((sql, value)) }
      }
      add("app = ?", filter.app.map { .text($0) })
      add("destination = ?", filter.destination.map { .text($0) })
      add("outcome = ?", filter.error.map { .text($0) })
      add("status >= ?", filter.status.map { .integer($0.range.lowerBound) })
      add("status <= ?", filter.status.map { .integer($0.range.upperBound) })
      add("duration_ms >= ?", filter.slower.map { .duration($0) })
      add("at >= ?", filter.since.map { .time($0) })
      add("at < ?", filter.until.map { .time($0) })
      if filter.isFailed { conditions.append(("outcome <> '\(AttemptRows.slow)'", nil)) }
      if let since = filter.since {
        after = try reader.firstRow(of: .attempts, from: since - attemptSlack) - 1
      }
      if let until = filter.until {
        before = try reader.firstRow(of: .attempts, from: until.advanced(by: attemptSlack))
      }
      before = min(before, filter.after ?? .max)
    }

    /// The newest attempts in the range of rows, at most as many as the third parameter says.
    private func candidates(_ columns: String) -> String {
      StoreReader.attemptCandidatesSQL(columns, isOfTrouble: isOfTrouble)
    }

    private var matching: String {
      isCompared ? " WHERE " + conditions.map { "a.\($0.sql)" }.joined(separator: " AND ") : ""
    }

    /// The attempts that match, of the newest in the range.
    var listSQL: String {
      """
      SELECT a.row_id, a.app, a.destination, a.number, a.at, a.duration_ms, a.status, a.error, a.ambiguous,
        a.detail, p.receipt_id
      FROM (
        SELECT a.row_id FROM (\(candidates("row_id, \(Self.comparedColumns)"))) AS a\(matching)
        ORDER BY a.row_id DESC LIMIT ?) AS f
      JOIN attempts a ON a.row_id = f.row_id JOIN purchases p ON p.row_id = a.purchase_row
      ORDER BY f.row_id DESC
      """
    }

    private static let comparedColumns = "app, destination, outcome, status, duration_ms, at"

    /// How many there are in the range, and the last of them.
    var examinedSQL: String { "SELECT count(*), min(row_id) FROM (\(candidates("row_id")))" }

    var countSQL: String {
      "SELECT count(*) FROM (\(candidates(Self.comparedColumns))) AS a\(matching)"
    }

    func range(_ bound: Int) -> [StoreValue] {
      [.integer(after), .integer(before), .integer(Int64(bound))]
    }

    var values: [StoreValue] { conditions.compactMap(\.value) }
  }

  static func attemptCandidatesSQL(_ columns: String, isOfTrouble: Bool) -> String {
    """
    SELECT \(columns) FROM attempts\(isOfTrouble ? " INDEXED BY attempts_in_trouble" : "")
    WHERE \(isOfTrouble ? "outcome <> '' AND " : "")row_id > ? AND row_id < ? ORDER BY row_id DESC LIMIT ?
    """
  }

  /// Attempts, newest first: at most `limit`, and fewer if `attemptsComparedMax` were compared.
  public func attempts(
    _ filter: AttemptFilter, limit: Int
  ) throws(StoreFault) -> ListPage<AttemptSummary, Int64> {
    try connection.snapshot { () throws(StoreFault) in
      let search = try AttemptSearch(filter, self)
      let bound = search.isCompared ? Self.attemptsComparedMax : limit + 1
      let found = try connection.prepare(search.listSQL)
        .all(search.range(bound) + search.values + [.integer(Int64(limit + 1))], Self.attemptSummary)
      return try ListPage(
        found, limit: limit, comparing: search.isCompared ? bound : nil, position: \.row
      ) { () throws(StoreFault) in
        try connection.prepare(search.examinedSQL).first(search.range(bound)) { row throws(StoreFault) in
          (count: Int(clamping: row.integer(0)), last: row.integer(1))
        }
      }
    }
  }

  /// How many attempts match on all pages; nil if that is not known without comparing more of them.
  public func total(_ filter: AttemptFilter) throws(StoreFault) -> ListTotal? {
    var filter = filter
    filter.after = nil
    let limit = ListTotal.countedMax + 1
    return try connection.snapshot { () throws(StoreFault) in
      let search = try AttemptSearch(filter, self)
      func count(_ sql: String, _ values: [StoreValue]) throws(StoreFault) -> Int {
        Int(
          clamping: try connection.prepare(sql).first(search.range(limit) + values) {
            row throws(StoreFault) in row.integer(0) as Int64
          } ?? 0)
      }
      let examined = try count(search.examinedSQL, [])
      guard search.isCompared else { return ListTotal(counted: examined) }
      guard examined < limit else { return nil }
      return ListTotal(counted: try count(search.countSQL, search.values))
    }
  }

  private static func attemptSummary(_ row: StoreRow) throws(StoreFault) -> AttemptSummary {
    AttemptSummary(
      row: row.integer(0), app: try row.text(1), destination: try row.text(2),
      receiptID: try row.optionalText(10), number: row.integer(3),
      report: AttemptReport(
        startedAt: Timestamp(unixMilliseconds: row.integer(4)), duration: row.duration(5),
        status: row.optionalInteger(6), error: try row.optionalText(7), detail: try row.optionalText(9),
        isAmbiguous: row.flag(8), response: []))
  }
}
