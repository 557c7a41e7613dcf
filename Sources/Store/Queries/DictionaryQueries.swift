// Queries of the dictionaries for bodies, and of the samples that a new one is made from.

internal import Domain

extension StoreReader {
  /// The statements on dictionaries.
  static let dictionarySQL = (
    newest: "SELECT max(number) FROM dictionaries WHERE kind = ?1",
    count: "SELECT count(*) FROM dictionaries WHERE kind = ?1",
    numbers: "SELECT number FROM dictionaries ORDER BY number"
  )

  /// The statements on the bodies of a kind.
  static func samplesSQL(_ kind: BodyKind) -> (count: String, samples: String) {
    // Who belongs to no purchase is nobody's event: what it has in common with others says nothing.
    let (table, source) =
      switch kind {
      case .event: ("events", "events e JOIN purchases p ON p.row_id = e.purchase_row")
      case .receipt: ("purchases", "purchases e JOIN purchases p ON p.row_id = e.row_id")
      }
    return (
      // An upper limit, because deleted rows leave gaps.
      "SELECT (SELECT max(row_id) FROM \(table)) - (SELECT min(row_id) FROM \(table)) + 1",
      """
      SELECT e.body, e.dictionary, coalesce(p.user_id, p.customer_id, '')
      FROM \(source) WHERE e.row_id > (SELECT max(row_id) FROM \(table)) - ?1
        AND length(e.body) BETWEEN 1 AND ?2
      ORDER BY e.row_id DESC
      """
    )
  }

  /// The newest dictionary of a kind; nil if there is none.
  public func newestDictionary(_ kind: BodyKind) throws(StoreFault) -> BodyDictionary? {
    let number: DictionaryNumber? =
      try connection.prepare(Self.dictionarySQL.newest)
      .first([.text(kind.rawValue)]) { row throws(StoreFault) in row.optionalInteger(0) } ?? nil
    return try number.map { number throws(StoreFault) in try bodies.dictionary(number) }
  }

  /// How many dictionaries of a kind are stored.
  public func countDictionaries(_ kind: BodyKind) throws(StoreFault) -> Int64 {
    try connection.prepare(Self.dictionarySQL.count).first([.text(kind.rawValue)]) {
      row throws(StoreFault) in row.integer(0)
    } ?? 0
  }

  /// The dictionaries that cannot be used: one sentence each.
  package func damagedDictionaries() throws(StoreFault) -> [String] {
    let numbers: [DictionaryNumber] = try connection.prepare(Self.dictionarySQL.numbers).all {
      row throws(StoreFault) in row.integer(0)
    }
    var found: [String] = []
    for number in numbers {
      do throws(StoreFault) {
        _ = try bodies.dictionary(number)
      } catch {
        guard error.kind == .corrupt else { throw error }
        found.append(error.reason)
      }
    }
    return found
  }

  /// How many rows there are that may have bodies of a kind, at most.
  public func rowsAtMost(_ kind: BodyKind) throws(StoreFault) -> Int64 {
    try connection.integer(Self.samplesSQL(kind).count) ?? 0
  }

  /// Calls `body` with the newest bodies, newest first, until it returns false. Events that belong to no
  /// purchase are left out, and so are bodies that cannot be read.
  /// - Parameters:
  ///   - rows: how many rows to look at.
  ///   - storedMax: bodies that are stored with more bytes are left out unread.
  ///   - body: gets a body, and who its purchase is by: two purchases of one user have the same owner, and so
  ///     have all of unknown users.
  public func newestBodies(
    _ kind: BodyKind, rows: Int64, storedMax: Int, _ body: (_ body: [UInt8], _ owner: String) -> Bool
  ) throws(StoreFault) {
    try connection.prepare(Self.samplesSQL(kind).samples)
      .readWhile([.integer(rows), .integer(Int64(storedMax))]) { row throws(StoreFault) in
        guard let bytes = try? bodies.unpack(StoredBody(row, at: 0, 1)) else { return true }
        return body(bytes, try row.text(2))
      }
  }
}
