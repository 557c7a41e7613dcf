// Keys as a program uses them that does not own the database: it reads the newest in the table. One thread at
// a time.

internal import Domain
internal import SQLite
internal import Store

/// The keys of a connection that only reads, or of a guest that writes.
///
/// What a guest changes is appended to the tail, as the owner does it: the order of the changes matters.
final class PlainKeys: KeyIndex {
  private let connection: Connection
  private let tables: KeyTables
  /// The newest keys, if the owner is in this process.
  private let memory: KeyMemory?

  init(_ connection: Connection, _ memory: KeyMemory?) {
    self.connection = connection
    tables = KeyTables(connection)
    self.memory = memory
  }

  func add(_ key: RowKey, row: Int64) throws(StoreFault) {
    try append(KeyEntry(key: key.number, row: row))
  }
  func remove(_ key: RowKey, row: Int64) throws(StoreFault) {
    try append(KeyEntry(key: key.number, row: -row))
  }

  private func append(_ entry: KeyEntry) throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      try tables.append([entry], number: tables.lastNumber() + 1)
    }
  }

  func erase(_ key: RowKey, row: Int64) throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      try tables.erase([KeyEntry(key: key.number, row: row)])
    }
  }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [Int64] {
    let number = key.number
    return try translated { () throws(SQLiteError) in
      let known = usableMemory?.rows(number, limit: limit)
      let recent = if let known { known } else { try tail(number...number).reversed().map(\.row) }
      return KeyRows.merged(recent, try tables.rows(number, limit: limit), limit: limit)
    }
  }

  func rows(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> [Int64] {
    try translated { () throws(SQLiteError) in
      let known = usableMemory?.entries(numbers)
      let recent = if let known { known } else { try tail(numbers) }
      return KeyRows.merged(recent, try tables.entries(numbers))
    }
  }

  /// An open snapshot may be older than the memory, which lacks what has been moved since.
  private var usableMemory: KeyMemory? { connection.isInTransaction ? nil : memory }

  /// What the tail has of the keys in a range, oldest first.
  private func tail(_ keys: ClosedRange<Int64>) throws(SQLiteError) -> [KeyEntry] {
    var found: [KeyEntry] = []
    try tables.forEachInTail { _, entries throws(SQLiteError) in
      found += entries.filter { keys.contains($0.key) }
    }
    return found
  }
}
