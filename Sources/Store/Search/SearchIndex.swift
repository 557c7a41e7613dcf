// Reads the index of a search, and what it is made from. One thread at a time.

public import Domain

/// Returns what a stored event names. Pure; any thread.
public typealias MentionReader = @Sendable (ProcessorName, _ body: [UInt8]) -> Mentions

/// The sizes of runs.
public struct SearchSizes: Sendable {
  /// How many rows a run of level 0 is made from. A search reads the rows that are in no run, one after the
  /// other, so there must be few.
  public var rows: Int
  /// How many runs of level 0 make one of level 1. Its entries are sorted in memory: some 10 MB.
  public var runs: Int

  /// A test may need less.
  public init(rows: Int = 512, runs: Int = 64) { (self.rows, self.runs) = (rows, runs) }
}

/// The statements that reader and writer share.
enum SearchIndex {
  static let stateSQL = "SELECT key, erasures FROM search_state WHERE row_id = 1"
  static let runsSQL = """
    SELECT run, family, level, first_row, last_row, state, made_at FROM search_runs ORDER BY run
    """

  /// The last row that is in a run.
  static func end(of family: SearchFamily, _ runs: [SearchRun]) -> Int64 {
    runs.lazy.filter { $0.family == family && $0.state == .ready }.map(\.lastRow).max() ?? 0
  }
}

extension SearchRun {
  /// From `SearchIndex.runsSQL`.
  init(_ row: StoreRow) throws(StoreFault) {
    guard let family = SearchFamily(rawValue: row.integer(1)), let state = State(rawValue: try row.text(5))
    else {
      throw StoreFault(
        .corrupt, operation: "read the search index",
        reason: "a run has a value that this version does not know")
    }
    self.init(
      number: row.integer(0), family: family, level: row.integer(2), firstRow: row.integer(3),
      lastRow: row.integer(4), state: state, madeAt: Timestamp(unixMilliseconds: row.integer(6)))
  }
}
