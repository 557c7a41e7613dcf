// What alerts are made of, each answered from what is counted already: as quick on any number of receipts.

public import Domain
public import SQLite

extension StoreReader {
  /// What was told to everyone.
  public func alerts() throws(SQLiteError) -> [AlertRecord] {
    try connection.prepare("SELECT destination, condition, app, firing, since, told_at FROM alerts").all {
      row throws(SQLiteError) in
      let app = try row.text(2)
      return AlertRecord(
        key: .init(
          destination: try row.text(0), condition: try row.text(1), app: app.isEmpty ? nil : app),
        isFiring: row.integer(3) != 0, since: Timestamp(unixMilliseconds: row.integer(4)),
        toldAt: Timestamp(unixMilliseconds: row.integer(5)))
    }
  }

  static let failuresSQL = "SELECT app, sum(failed) FROM delivery_counts WHERE minute >= ?1 GROUP BY app"

  /// How many receipts of each app failed since then, to the minute; apps without any are left out.
  public func failures(since: Timestamp) throws(SQLiteError) -> [String: Int64] {
    var failures: [String: Int64] = [:]
    try connection.prepare(Self.failuresSQL)
      .forEach([.integer(since.unixMilliseconds / CountRows.minuteMilliseconds)]) {
        row throws(SQLiteError) in
        let count = row.integer(1)
        if count > 0 { failures[try row.text(0)] = count }
      }
    return failures
  }

  /// How many receipts of each app stand as failed now, by reason.
  public func failedNow() throws(SQLiteError) -> [String: [String: Int64]] {
    var groups: [String: [String: Int64]] = [:]
    try connection.prepare("SELECT app, reason, count FROM receipt_counts WHERE state = 'failed'")
      .forEach { row throws(SQLiteError) in
        groups[try row.text(0), default: [:]][try row.text(1)] = row.integer(2)
      }
    return groups
  }
}
