// How many entries a list has: exact where a count is stored, else counted up to a limit, so that it takes
// the same time in a database of any size.

internal import Domain

/// The number of entries of a list.
public struct ListTotal: Sendable, Equatable {
  /// The most entries that are counted one by one.
  public static let countedMax = 10_000

  public var count: Int
  /// Whether there are more than `count`.
  public var isMore: Bool

  /// - Parameter counted: at most one more than `countedMax`.
  init(counted: Int) {
    count = min(counted, Self.countedMax)
    isMore = counted > Self.countedMax
  }

  init(exact: Int) { (count, isMore) = (exact, false) }
}

extension StoreReader {
  /// How many receipts match on all pages; nil if that is not known without comparing all of them.
  public func total(_ filter: ReceiptFilter) throws(StoreFault) -> ListTotal? {
    var filter = filter
    filter.after = nil
    guard !filter.isCompared else { return nil }
    let isOfGroups = !filter.isNarrow && !filter.lacksImportID
    if isOfGroups, filter.since == nil, filter.until == nil {
      return ListTotal(exact: try countAtMost(filter))
    }
    let limit = ListTotal.countedMax + 1
    guard isOfGroups, !connection.engine.hasRoundTrips else {
      return ListTotal(counted: try places(filter, limit: limit).count)
    }
    let counting = try connection.prepare(Self.countGroupSQL)
    let (lower, upper) = filter.bounds
    return try connection.snapshot { () throws(StoreFault) in
      var count = 0
      for group in try groups(filter) where count < limit {
        count += Int(
          try counting.first(
            Self.values(of: group) + [.text(lower), .text(upper), .integer(Int64(limit - count))]
          ) { row throws(StoreFault) in row.integer(0) } ?? 0)
      }
      return ListTotal(counted: count)
    }
  }

  /// How many events match on all pages.
  public func total(_ filter: EventFilter) throws(StoreFault) -> ListTotal {
    var filter = filter
    filter.after = nil
    return ListTotal(counted: try count(filter, limit: ListTotal.countedMax + 1))
  }
}
