// Counts the receipts that a bulk command would include, with their reasons and ages. A whole group is one
// stored count; a part of one is counted in its index, in steps, so that the caller can show progress.

public import Domain

/// Receipts of one app, state, reason and last cause.
public struct ReceiptGroup: Sendable, Equatable {
  public var app: AppSlug
  public var state: ReceiptState
  public var reason: Reason?
  /// Why the last attempt failed.
  public var cause: Reason?
  public var count: Int
  /// When the oldest and the newest receipt were made.
  public var oldest: Timestamp
  public var newest: Timestamp

  public init(_ receipt: ReceiptOutline) {
    app = receipt.app
    state = receipt.state
    reason = receipt.reason
    cause = receipt.cause
    count = 1
    oldest = receipt.createdAt
    newest = receipt.createdAt
  }

  init(_ group: CountRows.Group, count: Int, oldest: Timestamp, newest: Timestamp) {
    app = group.app
    state = ReceiptState(rawValue: group.state) ?? .failed
    reason = group.reason.isEmpty ? nil : Reason(group.reason)
    cause = group.cause.isEmpty ? nil : Reason(group.cause)
    self.count = count
    self.oldest = oldest
    self.newest = newest
  }

  private func isLike(_ other: ReceiptGroup) -> Bool {
    app == other.app && state == other.state && reason == other.reason && cause == other.cause
  }

  /// Adds the counts to a matching group, or appends a new group.
  public static func add(_ more: ReceiptGroup, to groups: inout [ReceiptGroup]) {
    guard let index = groups.firstIndex(where: { $0.isLike(more) }) else { return groups.append(more) }
    groups[index].count += more.count
    groups[index].oldest = min(groups[index].oldest, more.oldest)
    groups[index].newest = max(groups[index].newest, more.newest)
  }
}

extension StoreReader {
  /// Receipts that are counted between two reports of progress.
  public static let surveyStep = 50_000
  /// How many receipts of a group are between two ids, up to a limit, and the last of them. The index has all
  /// that is counted, so that no receipt is read.
  static let countGroupSQL = """
    SELECT count(*), max(receipt_id) FROM (
      SELECT receipt_id FROM purchases
      WHERE app = ?1 AND state = ?2 AND reason IS ?3 AND last_cause IS ?4 AND processor = ?5
        AND receipt_id > ?6 AND receipt_id < ?7
      ORDER BY reason, last_cause, receipt_id LIMIT ?8)
    """
  static let oldestOfGroupSQL = edgeSQL("ORDER BY reason, last_cause, receipt_id")
  static let newestOfGroupSQL = edgeSQL(newestFirst)
  private static let timesOfGroupSQL = "SELECT (\(oldestOfGroupSQL)), (\(newestOfGroupSQL))"

  private static func edgeSQL(_ order: String) -> String {
    """
    SELECT created_at FROM purchases
    WHERE app = ?1 AND state = ?2 AND reason IS ?3 AND last_cause IS ?4 AND processor = ?5
      AND receipt_id > ?6 AND receipt_id < ?7
    \(order) LIMIT 1
    """
  }

  /// Counts the receipts that match, or the newest `limit` of them.
  /// - Parameters:
  ///   - step: receipts that are counted between two calls of `progress`.
  ///   - progress: called with the number counted so far.
  public func survey(
    _ filter: ReceiptFilter, limit: Int? = nil, step: Int = surveyStep, progress: (Int) -> Void = { _ in }
  ) throws(StoreFault) -> [ReceiptGroup] {
    guard limit == nil, !filter.isNarrow, !filter.lacksImportID, !filter.isCompared else {
      return try surveyPages(filter, limit: limit, progress)
    }
    return try connection.snapshot { () throws(StoreFault) in
      var groups: [ReceiptGroup] = []
      var counted = 0
      for (group, total) in try countedGroups(filter) {
        let isWhole = filter.bounds == ReceiptFilter().bounds
        let count = isWhole ? total : try count(group, filter.bounds, step) { progress(counted + $0) }
        guard count > 0, let times = try times(of: group, filter.bounds) else { continue }
        let (oldest, newest) = times
        ReceiptGroup.add(ReceiptGroup(group, count: count, oldest: oldest, newest: newest), to: &groups)
        counted += count
        progress(counted)
      }
      return groups
    }
  }

  /// The same of a filter with its own index, or with a condition that no index has.
  private func surveyPages(
    _ filter: ReceiptFilter, limit: Int?, _ progress: (Int) -> Void
  ) throws(StoreFault) -> [ReceiptGroup] {
    var groups: [ReceiptGroup] = []
    var counted = 0
    var filter = filter
    while counted < limit ?? Int.max {
      let size = min(1000, (limit ?? Int.max) - counted)
      let page = try outlinePage(filter, limit: size)
      for receipt in page.entries { ReceiptGroup.add(ReceiptGroup(receipt), to: &groups) }
      counted += page.entries.count
      progress(counted)
      guard let next = page.next else { break }
      filter.after = next
    }
    return groups
  }

  /// Counts the receipts of a group between two ids.
  private func count(
    _ group: CountRows.Group, _ bounds: (lower: String, upper: String), _ step: Int,
    _ progress: (Int) -> Void
  ) throws(StoreFault) -> Int {
    let counting = try connection.prepare(Self.countGroupSQL)
    var (counted, lower) = (0, bounds.lower)
    while true {
      let values: [StoreValue] = [.text(lower), .text(bounds.upper), .integer(Int64(step))]
      let found = try counting.first(Self.values(of: group) + values) { row throws(StoreFault) in
        (count: Int(clamping: row.integer(0)), last: try row.optionalText(1) as String?)
      }
      counted += found?.count ?? 0
      progress(counted)
      guard let found, found.count == step, let last = found.last else { return counted }
      lower = last
    }
  }

  /// When the oldest and the newest receipt of a group between two ids were made; nil without any.
  func times(
    of group: CountRows.Group, _ bounds: (lower: String, upper: String)
  ) throws(StoreFault) -> (oldest: Timestamp, newest: Timestamp)? {
    let values = Self.values(of: group) + [.text(bounds.lower), .text(bounds.upper)]
    let times = try connection.prepare(Self.timesOfGroupSQL).first(values) { row throws(StoreFault) in
      (oldest: row.timestamp(0), newest: row.timestamp(1))
    }
    guard let oldest = times?.oldest, let newest = times?.newest else { return nil }
    return (oldest, newest)
  }

  /// The groups that match a filter, with their stored counts.
  func countedGroups(
    _ filter: ReceiptFilter
  ) throws(StoreFault) -> [(group: CountRows.Group, count: Int)] {
    try connection.prepare(
      "SELECT app, state, reason, last_cause, processor, count FROM receipt_counts WHERE count > 0"
    )
    .all { row throws(StoreFault) in (try CountRows.Group(row), Int(clamping: row.integer(5))) }
    .filter { filter.includes($0.0) }
  }

  /// The number of receipts in the groups that match a filter: an upper bound for the filter.
  public func countAtMost(_ filter: ReceiptFilter) throws(StoreFault) -> Int {
    try countedGroups(filter).reduce(0) { $0 + $1.count }
  }
}
