// Finds rows by a time in tables whose rows are in order of time, without an index of times.

internal import Domain
internal import Formats

/// A table whose rows are in order of time, and its column with the time.
enum TimeOrderedTable: String {
  case events, audit, attempts

  fileprivate var time: String { self == .events ? "received_at" : "at" }

  var firstRowSQL: String {
    "SELECT row_id, \(time) FROM \(rawValue) WHERE row_id >= ?1 ORDER BY row_id LIMIT 1"
  }

  /// The whole searches in one statement, for PostgreSQL, where each statement waits for the network. The
  /// parameter is the list of times, each of which is a `value` of the result.
  var searchSQL: String {
    """
    SELECT value, (WITH RECURSIVE search (low, high) AS (
      SELECT coalesce(min(row_id), 0), coalesce(max(row_id), 0) + 1 FROM \(rawValue)
      UNION ALL
      SELECT CASE WHEN f.at < value THEN f.row_id + 1 ELSE s.low END,
        CASE WHEN f.at < value THEN s.high ELSE s.low + (s.high - s.low) / 2 END
      FROM search AS s LEFT JOIN LATERAL (
        SELECT row_id, \(time) AS at FROM \(rawValue)
        WHERE row_id >= s.low + (s.high - s.low) / 2 ORDER BY row_id LIMIT 1) AS f ON true
      WHERE s.low < s.high)
    SELECT low FROM search WHERE low >= high LIMIT 1) FROM json_each(?1)
    """
  }
}

extension StoreReader {
  /// The first row of a moment or later, found by binary search because rows are in order of time. If the
  /// clock was set back, a window may miss rows of the repeated hours at its edge.
  func firstRow(of table: TimeOrderedTable, from moment: Timestamp) throws(StoreFault) -> Int64 {
    try firstRows(of: table, from: [moment])[moment, default: 0]
  }

  /// The same of several moments.
  func firstRows(
    of table: TimeOrderedTable, from moments: [Timestamp]
  ) throws(StoreFault) -> [Timestamp: Int64] {
    var rows: [Timestamp: Int64] = [:]
    guard connection.engine.hasRoundTrips else {
      for moment in moments { rows[moment] = try search(table, moment) }
      return rows
    }
    let times = RowKey.list(moments.map(\.unixMilliseconds))
    try connection.prepare(table.searchSQL).forEach([times]) { row throws(StoreFault) in
      rows[Timestamp(unixMilliseconds: row.integer(0))] = row.integer(1)
    }
    return rows
  }

  private func search(_ table: TimeOrderedTable, _ moment: Timestamp) throws(StoreFault) -> Int64 {
    let reading = try connection.prepare(table.firstRowSQL)
    var low = try connection.integer("SELECT min(row_id) FROM \(table.rawValue)") ?? 0
    var high = (try connection.integer("SELECT max(row_id) FROM \(table.rawValue)") ?? 0) + 1
    while low < high {
      let middle = low + (high - low) / 2
      let found = try reading.first([.integer(middle)]) { row throws(StoreFault) in
        (row: row.integer(0), at: row.integer(1))
      }
      if let found, found.at < moment.unixMilliseconds { low = found.row + 1 } else { high = middle }
    }
    return low
  }

  /// The clocks of several relays, and of receiptctl's machine, differ by less than this.
  static let clockDifferenceMax: Duration = .minutes(1)
}
