// Queries of the dictionaries for bodies, and of the samples that a new one is made from.

internal import Domain

extension StoreReader {
  /// The statements on bodies as a whole.
  static let bodySQL = (
    newest: "SELECT max(number) FROM dictionaries",
    // An upper limit, because deleted rows leave gaps.
    count: "SELECT (SELECT max(row_id) FROM events) - (SELECT min(row_id) FROM events) + 1",
    // Who belongs to no purchase is nobody's event: what it has in common with others says nothing.
    samples: """
    SELECT e.body, e.dictionary, coalesce(p.user_id, p.customer_id, p.object_id)
    FROM events e JOIN purchases p ON p.row_id = e.purchase_row
    WHERE e.row_id > (SELECT max(row_id) FROM events) - ?1 AND length(e.body) > 0
    ORDER BY e.row_id DESC
    """
  )

  /// The newest dictionary; nil if there is none.
  public func newestDictionary() throws(StoreFault) -> BodyDictionary? {
    let number: DictionaryNumber? =
      try connection.prepare(Self.bodySQL.newest)
      .first { row throws(StoreFault) in row.optionalInteger(0) } ?? nil
    return try number.map { number throws(StoreFault) in try bodies.dictionary(number) }
  }

  /// How many events are stored, at most.
  public func eventsAtMost() throws(StoreFault) -> Int64 {
    try connection.integer(Self.bodySQL.count) ?? 0
  }

  /// Calls `body` with the bodies of the newest events, newest first, until it returns false. Events that
  /// belong to no purchase are left out, and so are bodies that cannot be read.
  /// - Parameters:
  ///   - rows: how many rows to look at.
  ///   - body: gets a body, and who its purchase is by: two purchases of one user have the same owner.
  public func newestBodies(
    rows: Int64, _ body: (_ body: [UInt8], _ owner: String) -> Bool
  ) throws(StoreFault) {
    // The result of each row is all that the loop knows, so that it ends early without an error.
    var isEnough = false
    try connection.prepare(Self.bodySQL.samples).forEach([.integer(rows)]) { row throws(StoreFault) in
      guard !isEnough else { return }
      guard let bytes = try? bodies.unpack(StoredBody(row, at: 0, 1)) else { return }
      isEnough = !body(bytes, try row.text(2))
    }
  }
}
