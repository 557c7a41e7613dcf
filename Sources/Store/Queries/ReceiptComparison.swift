// Lists of receipts with a condition that no index has: the newest receipts are compared one by one, a
// bounded number for each page, so that a page takes the same time in a database of any size.

public import Domain

/// The HTTP statuses by which receipts are filtered: one, or a class.
public struct AnswerStatus: Sendable, Equatable {
  /// `503` or `5xx`
  public let text: String
  let range: ClosedRange<Int64>

  /// - Returns: nil for anything but a status or a class of HTTP (RFC 9110 §15).
  public init?(_ text: String) {
    guard let first = text.utf8.first.map({ Int64($0) - 48 }), (1...5).contains(first), text.utf8.count == 3
    else { return nil }
    if text.hasSuffix("xx") {
      range = first * 100...first * 100 + 99
    } else {
      guard let status = Int64(text), status >= 100 else { return nil }
      range = status...status
    }
    self.text = text
  }

  /// Whether the last answer of a receipt in a group may have it.
  func mayBeLast(in group: CountRows.Group) -> Bool {
    let accepted: ClosedRange<Int64> = 200...299
    // A delivered receipt was accepted; without a failed attempt there is no other answer.
    guard group.state != ReceiptState.delivered.rawValue, !group.cause.isEmpty else {
      return range.overlaps(accepted)
    }
    // The answer to a cancelled receipt may come later, and its cause is not kept.
    guard group.state != ReceiptState.cancelled.rawValue, Reason.isStatus(group.cause) else { return true }
    return Int64(group.cause.suffix(3)).map(range.contains) ?? true
  }
}

/// One page of a list.
public struct ListPage<Entry, Position> {
  public var entries: [Entry]
  /// The entry after which the list continues; nil at its end.
  public var next: Position?
  /// How many entries were compared, if the page ends early for that.
  public var compared: Int?

  public init(_ entries: [Entry], next: Position?, compared: Int? = nil) {
    self.entries = entries
    self.next = next
    self.compared = compared
  }

  /// - Parameters:
  ///   - found: at most one more than `limit`; then there is a next page.
  ///   - position: the position of an entry.
  public init(_ found: [Entry], limit: Int, position: (Entry) -> Position) {
    self.init(Array(found.prefix(limit)), next: found.count > limit ? position(found[limit - 1]) : nil)
  }

  /// A page of a list that compares the newest entries one by one.
  /// - Parameters:
  ///   - found: at most one more than `limit`.
  ///   - bound: how many were compared at most; nil if each entry that was read matches.
  ///   - examined: how many were compared, and the last of them.
  init(
    _ found: [Entry], limit: Int, comparing bound: Int?, position: (Entry) -> Position,
    examined: () throws(StoreFault) -> (count: Int, last: Position)?
  ) throws(StoreFault) {
    self.init(found, limit: limit, position: position)
    guard let bound, next == nil, let (count, last) = try examined(), count == bound else { return }
    (next, compared) = (last, count)
  }

  /// The same page with other entries.
  func with<Other>(_ entries: [Other]) -> ListPage<Other, Position> {
    ListPage<Other, Position>(entries, next: next, compared: compared)
  }
}

extension ListPage: Sendable where Entry: Sendable, Position: Sendable {}

extension ReceiptFilter {
  /// Whether it has a condition that no index has.
  public var isCompared: Bool { status != nil || priceID != nil || join != nil }

  /// - Parameter row: of `comparedSQL`.
  fileprivate func matches(_ row: StoreRow) throws(StoreFault) -> Bool {
    if let range = status?.range, !(row.optionalInteger(1).map(range.contains) ?? false) { return false }
    if let join, try row.optionalText(4) != join.rawValue { return false }
    guard let priceID else { return true }
    if let sent: PriceID = try row.optionalText(2) { return sent == priceID }
    return try row.text(3).split(separator: "\n").first.map { PriceID(String($0)) } == priceID
  }
}

extension StoreReader {
  /// The most receipts that are compared for one page.
  public static let comparedMax = 5_000
  /// Receipts that are read for a comparison at once, at first.
  private static let comparedFirst = 200

  /// Receipts, newest first: at most `limit`, and fewer if `comparedMax` were compared.
  /// - Parameter hasContent: whether bodies and contexts are read, which no list shows; else they are empty.
  public func receiptPage(
    _ filter: ReceiptFilter, limit: Int, hasContent: Bool = false
  ) throws(StoreFault) -> ListPage<PurchaseRecord, ReceiptID> {
    try connection.snapshot { () throws(StoreFault) in
      let page = try placePage(filter, limit: limit)
      let columns = hasContent ? PurchaseRow.columnList : PurchaseRow.listedColumns
      let sql = "SELECT \(columns) FROM purchases WHERE state IS NOT NULL"
      return page.with(
        try read(page.entries.map(\.row), sql, row: \.rowID) { row throws(StoreFault) in
          try hasContent ? PurchaseRow.record(row) : PurchaseRow.listed(row)
        })
    }
  }

  /// The positions of a page.
  /// - Parameter bound: how many receipts may be compared.
  func placePage(
    _ filter: ReceiptFilter, limit: Int, comparing bound: Int = comparedMax
  ) throws(StoreFault) -> ListPage<ReceiptPlace, ReceiptID> {
    // One more shows whether there is a next page.
    guard filter.isCompared, limit > 0 else {
      return ListPage(try places(filter, limit: limit > 0 ? limit + 1 : 0), limit: limit, position: \.id)
    }
    var candidates = filter
    var found: [ReceiptPlace] = []
    var compared = 0
    var size = Self.comparedFirst
    while true {
      let wanted = min(size, bound - compared)
      let places = try places(candidates, limit: wanted)
      let matching = try rows(matching: filter, of: places)
      for place in places where matching.contains(place.row) {
        found.append(place)
        if found.count > limit { return ListPage(found, limit: limit, position: \.id) }
      }
      compared += places.count
      guard places.count == wanted, let last = places.last else { return ListPage(found, next: nil) }
      guard compared < bound else { return ListPage(found, next: last.id, compared: compared) }
      candidates.after = last.id
      size *= 2
    }
  }

  /// What a receipt is compared by. How it joined is computed only for a filter by that.
  static func comparedSQL(_ filter: ReceiptFilter) -> String {
    """
    SELECT row_id, last_status, price_id, prices, \(filter.join == nil ? "NULL" : joinOutcomeSQL)
    FROM purchases WHERE row_id IN (SELECT value FROM json_each(?1))
    """
  }

  private func rows(
    matching filter: ReceiptFilter, of places: [ReceiptPlace]
  ) throws(StoreFault) -> Set<PurchaseRowID> {
    var matching: Set<PurchaseRowID> = []
    let rows = RowKey.list(places.map(\.row.number))
    try connection.prepare(Self.comparedSQL(filter)).forEach([rows]) { row throws(StoreFault) in
      if try filter.matches(row) { matching.insert(row.integer(0)) }
    }
    return matching
  }

  /// The entries of these rows, in their order, without those that a query does not find.
  /// - Parameters:
  ///   - sql: a query of `purchases` that ends within its conditions.
  ///   - row: the row of an entry.
  func read<Entry>(
    _ rows: [PurchaseRowID], _ sql: String, row: (Entry) -> PurchaseRowID,
    _ entry: (StoreRow) throws(StoreFault) -> Entry
  ) throws(StoreFault) -> [Entry] {
    guard connection.engine.hasRoundTrips, rows.count > 1 else {
      let reading = try connection.prepare("\(sql) AND row_id = ?1")
      var entries: [Entry] = []
      for row in rows { if let found = try reading.first([.integer(row)], entry) { entries.append(found) } }
      return entries
    }
    let found = try connection.prepare("\(sql) AND row_id IN (SELECT value FROM json_each(?1))")
      .all([RowKey.list(rows.map(\.number))], entry)
    let order = Dictionary(uniqueKeysWithValues: zip(rows, rows.indices))
    return found.sorted { order[row($0), default: 0] < order[row($1), default: 0] }
  }
}
