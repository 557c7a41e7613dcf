// Counts the receipts that a bulk command would include, with their reasons and ages. Reads in key order, a
// page at a time, so that the caller can show progress.

public import Domain

/// Receipts of one app, state, reason, last cause and last answer.
public struct ReceiptGroup: Sendable, Equatable {
  public var app: AppSlug
  public var state: ReceiptState
  public var reason: Reason?
  /// Why the last attempt failed.
  public var cause: Reason?
  /// The HTTP status of the last answer.
  public var lastStatus: Int64?
  public var count: Int
  /// When the oldest and the newest receipt were made.
  public var oldest: Timestamp
  public var newest: Timestamp

  public init(_ receipt: ReceiptOutline) {
    app = receipt.app
    state = receipt.state
    reason = receipt.reason
    cause = receipt.cause
    lastStatus = receipt.lastStatus
    count = 1
    oldest = receipt.createdAt
    newest = receipt.createdAt
  }

  init(
    _ group: CountRows.Group, lastStatus: Int64?, count: Int, oldest: Timestamp, newest: Timestamp
  ) {
    app = group.app
    state = ReceiptState(rawValue: group.state) ?? .failed
    reason = group.reason.isEmpty ? nil : Reason(group.reason)
    cause = group.cause.isEmpty ? nil : Reason(group.cause)
    self.lastStatus = lastStatus
    self.count = count
    self.oldest = oldest
    self.newest = newest
  }

  private func isLike(_ other: ReceiptGroup) -> Bool {
    app == other.app && state == other.state && reason == other.reason && cause == other.cause
      && lastStatus == other.lastStatus
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
  static let surveyPage = 5000
  static let surveySQL = """
    SELECT last_status, count(*), min(created_at), max(created_at), max(receipt_id) FROM (
      SELECT last_status, created_at, receipt_id FROM purchases
      WHERE app = ?1 AND state = ?2 AND reason IS ?3 AND last_cause IS ?4 AND processor = ?5
        AND receipt_id > ?6 AND receipt_id < ?7
      ORDER BY reason, last_cause, receipt_id LIMIT ?8)
    GROUP BY last_status
    """

  /// Counts the receipts that match, or the newest `limit` of them.
  /// - Parameter progress: called after each page with the number counted so far.
  public func survey(
    _ filter: ReceiptFilter, limit: Int? = nil, progress: (Int) -> Void = { _ in }
  ) throws(StoreFault) -> [ReceiptGroup] {
    var groups: [ReceiptGroup] = []
    var counted = 0
    if limit == nil, !filter.isNarrow, !filter.lacksImportID, !filter.isCompared {
      for group in try self.groups(filter) {
        var lower = filter.bounds.lower
        while true {
          let page = try page(of: group, lower, filter.bounds.upper)
          for part in page { ReceiptGroup.add(part.group, to: &groups) }
          let more = page.reduce(0) { $0 + $1.group.count }
          counted += more
          progress(counted)
          guard more == Self.surveyPage, let last = page.map(\.last).max() else { break }
          lower = last
        }
      }
      return groups
    }
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

  private func page(
    of group: CountRows.Group, _ lower: String, _ upper: String
  ) throws(StoreFault) -> [(group: ReceiptGroup, last: String)] {
    try connection.prepare(Self.surveySQL).all(
      Self.values(of: group) + [.text(lower), .text(upper), .integer(Int64(Self.surveyPage))]
    ) { row throws(StoreFault) in
      (
        ReceiptGroup(
          group, lastStatus: row.optionalInteger(0), count: Int(clamping: row.integer(1)),
          oldest: Timestamp(unixMilliseconds: row.integer(2)),
          newest: Timestamp(unixMilliseconds: row.integer(3))),
        try row.text(4)
      )
    }
  }

  /// The number of receipts in the groups that match a filter: an upper bound for the filter.
  public func countAtMost(_ filter: ReceiptFilter) throws(StoreFault) -> Int {
    let counts = try connection.prepare(
      "SELECT app, state, reason, last_cause, processor, count FROM receipt_counts WHERE count > 0"
    )
    .all { row throws(StoreFault) in (try CountRows.Group(row), Int(clamping: row.integer(5))) }
    return counts.reduce(0) { filter.includes($1.0) ? $0 + $1.1 : $0 }
  }
}
