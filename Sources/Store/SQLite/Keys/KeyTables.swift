// The tables of keys. One connection's thread.

internal import Store

/// The statements on the tables of keys. Each is prepared at its first use: most connections need few.
///
/// - `key_tail` has the changes of the newest transactions, in their order: one row for each.
/// - `recent_keys` has what was moved from there, sorted.
/// - `keys` has the rest, sorted.
final class KeyTables {
  private let connection: Connection
  private let reading: LateStatement
  private let readingRange: LateStatement
  private let adding: LateStatement
  private let removingRecent: LateStatement
  private let removing: LateStatement
  private let countingRecent: LateStatement
  private let copyingOn: LateStatement
  private let removingCopied: LateStatement
  private let appending: LateStatement
  private let findingLast: LateStatement
  private let readingTail: LateStatement
  private let trimming: LateStatement
  private let changingTail: LateStatement

  init(_ connection: Connection) {
    self.connection = connection
    func late(_ sql: String) -> LateStatement { LateStatement(connection, sql) }
    let first = "SELECT key, row FROM recent_keys WHERE key BETWEEN ?1 AND ?2 ORDER BY key, row LIMIT ?3"
    reading = late(Self.readingSQL)
    readingRange = late(Self.readingRangeSQL)
    adding = late("INSERT OR IGNORE INTO recent_keys (key, row) VALUES (?1, ?2)")
    removingRecent = late("DELETE FROM recent_keys WHERE key = ?1 AND row = ?2")
    removing = late("DELETE FROM keys WHERE key = ?1 AND row = ?2")
    countingRecent = late("SELECT count(*) FROM recent_keys WHERE key BETWEEN ?1 AND ?2")
    copyingOn = late("INSERT OR IGNORE INTO keys (key, row) \(first)")
    removingCopied = late("DELETE FROM recent_keys WHERE (key, row) IN (\(first))")
    appending = late("INSERT INTO key_tail (number, entries) VALUES (?1, ?2)")
    findingLast = late("SELECT coalesce(max(number), 0) FROM key_tail")
    readingTail = late("SELECT number, entries FROM key_tail WHERE number > ?1 ORDER BY number")
    trimming = late("DELETE FROM key_tail WHERE number <= ?1 AND number < (SELECT max(number) FROM key_tail)")
    changingTail = late("UPDATE key_tail SET entries = ?2 WHERE number = ?1")
  }

  // MARK: the sorted tables

  /// The largest rows of a key: up to `limit` of each table.
  func rows(_ key: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
    try reading.statement().all([.integer(key), .integer(Int64(limit))]) { row throws(SQLiteError) in
      row.integer(0)
    }
  }

  private static let readingSQL = ["recent_keys", "keys"].map {
    "SELECT row FROM (SELECT row FROM \($0) WHERE key = ?1 ORDER BY row DESC LIMIT ?2)"
  }.joined(separator: " UNION ALL ")

  /// The keys in a range, with their rows.
  func entries(_ keys: ClosedRange<Int64>) throws(SQLiteError) -> [KeyEntry] {
    try readingRange.statement().all([.integer(keys.lowerBound), .integer(keys.upperBound)]) {
      row throws(SQLiteError) in KeyEntry(key: row.integer(0), row: row.integer(1))
    }
  }

  static let readingRangeSQL = ["recent_keys", "keys"].map {
    "SELECT key, row FROM \($0) WHERE key BETWEEN ?1 AND ?2"
  }.joined(separator: " UNION ALL ")

  /// Applies a change to the sorted tables.
  func apply(_ entry: KeyEntry) throws(SQLiteError) {
    guard entry.row < 0 else {
      return try adding.statement().run([.integer(entry.key), .integer(entry.row)])
    }
    for table in [removingRecent, removing] {
      try table.statement().run([.integer(entry.key), .integer(-entry.row)])
    }
  }

  /// How many keys in a range `recent_keys` has.
  func countRecent(_ keys: ClosedRange<Int64>) throws(SQLiteError) -> Int {
    let count = try countingRecent.statement().first([
      .integer(keys.lowerBound), .integer(keys.upperBound),
    ]) { row throws(SQLiteError) in row.integer(0) }
    return Int(count ?? 0)
  }

  /// Moves the first keys in a range from `recent_keys` to `keys`.
  /// - Returns: how many; fewer than `limit` when none is left.
  func moveOn(_ keys: ClosedRange<Int64>, limit: Int) throws(SQLiteError) -> Int {
    let place: [StoreValue] = [.integer(keys.lowerBound), .integer(keys.upperBound), .integer(Int64(limit))]
    try copyingOn.statement().run(place)
    try removingCopied.statement().run(place)
    return connection.changes
  }

  // MARK: the tail

  /// Appends a transaction's changes.
  /// - Parameter number: greater than all others.
  func append(_ entries: [KeyEntry], number: Int64) throws(SQLiteError) {
    try appending.statement().run([
      .integer(number), .blob(KeyEntry.bytes(of: entries)),
    ])
  }

  /// The number of the last row of the tail; 0 if it is empty.
  func lastNumber() throws(SQLiteError) -> Int64 {
    try findingLast.statement().first { row throws(SQLiteError) in
      row.integer(0)
    } ?? 0
  }

  /// Calls `body` with each row of the tail after this number, oldest first.
  func forEachInTail(
    after number: Int64 = 0, _ body: (_ number: Int64, _ entries: [KeyEntry]) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    try readingTail.statement().forEach([.integer(number)]) { row throws(SQLiteError) in
      try body(row.integer(0), KeyEntry.entries(in: row.blob(1)))
    }
  }

  /// What the tail has after this number of the keys in a range, oldest first.
  func tail(_ keys: ClosedRange<Int64>, after number: Int64 = 0) throws(SQLiteError) -> [KeyEntry] {
    var found: [KeyEntry] = []
    try forEachInTail(after: number) { _, entries throws(SQLiteError) in
      found += entries.filter { keys.contains($0.key) }
    }
    return found
  }

  /// Removes the rows of the tail through this number, except for the last row: the next number must be
  /// greater than all before, whichever program appends it.
  func trim(through number: Int64) throws(SQLiteError) {
    try trimming.statement().run([.integer(number)])
  }

  /// Removes all changes of these keys and rows, from all three tables.
  func erase(_ places: Set<KeyEntry>) throws(SQLiteError) {
    for place in places { try apply(KeyEntry(key: place.key, row: -place.row)) }
    var changed: [(number: Int64, entries: [KeyEntry])] = []
    try forEachInTail { number, entries throws(SQLiteError) in
      let kept = entries.filter { !places.contains($0.place) }
      if kept.count < entries.count { changed.append((number, kept)) }
    }
    for (number, entries) in changed {
      try changingTail.statement().run([
        .integer(number), .blob(KeyEntry.bytes(of: entries)),
      ])
    }
  }
}

/// A statement that is prepared at its first use.
private final class LateStatement {
  private let connection: Connection
  private let sql: String
  private var prepared: Statement?

  init(_ connection: Connection, _ sql: String) {
    self.connection = connection
    self.sql = sql
  }

  func statement() throws(SQLiteError) -> Statement {
    if let prepared { return prepared }
    let statement = try connection.prepare(sql)
    prepared = statement
    return statement
  }
}

// MARK: - KeyChanges

// What an open transaction changes. A value.

/// The changes of keys in an open transaction, which are written right before its commit.
struct KeyChanges {
  private(set) var added: [KeyEntry] = []
  private(set) var erased: Set<KeyEntry> = []

  var isEmpty: Bool { added.isEmpty && erased.isEmpty }

  mutating func add(_ entry: KeyEntry) {
    // An entry that is erased and then added again in the same transaction stays.
    if !erased.isEmpty { erased.remove(entry.place) }
    added.append(entry)
  }

  mutating func erase(_ place: KeyEntry) {
    erased.insert(place)
    added.removeAll { $0.place == place }
  }

  mutating func removeAll() {
    added.removeAll(keepingCapacity: true)
    erased = []
  }

  /// - Parameter number: that of the new row of `key_tail`, greater than all others there.
  func write(to tables: KeyTables, number: Int64) throws(SQLiteError) {
    if !erased.isEmpty { try tables.erase(erased) }
    if !added.isEmpty { try tables.append(added, number: number) }
  }
}

// MARK: - KeySizes

// When keys are moved from one table to the next. A value.

/// The sizes at which `TieredKeys` moves keys. Tests use smaller ones, so that few commits move some.
public struct KeySizes: Sendable {
  /// How many entries a generation has before it is sealed. Each takes some 32 bytes of memory. The more
  /// there are, the more of them share a page of `recent_keys`.
  public var generation = 65_536
  /// How many entries a part of `recent_keys` has before it is moved on: that many in the first part, three
  /// times as many in the last, so that they are not all moved at the same time.
  public var recentPart = 2_048

  public init() {}

  public init(generation: Int, recentPart: Int) {
    self.generation = generation
    self.recentPart = recentPart
  }
}
