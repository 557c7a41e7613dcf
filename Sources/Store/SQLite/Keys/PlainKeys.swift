// The keys of a connection that does not own the database. It reads the newest keys from `key_tail`, or from
// the owner's memory if that is in the same process. One thread at a time.

internal import Store

/// The keys of a connection that only reads, or of a guest that writes.
///
/// What a guest changes is appended to the tail, as the owner does it: the order of the changes matters.
final class PlainKeys: TransactionKeys {
  private let connection: Connection
  private let tables: KeyTables
  /// The newest keys, if the owner is in this process.
  private let memory: KeyMemory?
  private var changes = KeyChanges()

  init(_ connection: Connection, _ memory: KeyMemory?) {
    self.connection = connection
    tables = KeyTables(connection)
    self.memory = memory
  }

  func begin() { changes.removeAll() }

  func beforeCommit() throws(SQLiteError) {
    guard !changes.isEmpty else { return }
    try changes.write(to: tables, number: tables.lastNumber() + 1)
  }

  func didCommit() { changes.removeAll() }
  func didRollBack() { changes.removeAll() }

  func add(_ key: RowKey, row: Int64) { changes.add(KeyEntry(key: key.number, row: row)) }
  func remove(_ key: RowKey, row: Int64) { changes.add(KeyEntry(key: key.number, row: -row)) }
  func erase(_ key: RowKey, row: Int64) { changes.erase(KeyEntry(key: key.number, row: row)) }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [Int64] {
    let number = key.number
    return try translated { () throws(SQLiteError) in
      var recent = RecentRows()
      for entry in changes.added.reversed() where entry.key == number { recent.add(entry.row) }
      var known = RecentRows()
      let last = usableMemory?.collect(number, limit: limit, into: &known)
      // Another program may have appended more since the owner's last transaction.
      for entry in try tables.tail(number...number, after: last ?? 0).reversed() { recent.add(entry.row) }
      recent.add(known)
      let sorted = try tables.rows(number, limit: limit + recent.changes.count)
      return recent.merged(with: sorted, limit: limit)
    }
  }

  func entries(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> Set<KeyedRow> {
    try translated { () throws(SQLiteError) in
      let known = usableMemory?.entries(numbers)
      var recent = known?.entries ?? []
      recent += try tables.tail(numbers, after: known?.last ?? 0)
      recent += changes.added.filter { numbers.contains($0.key) }
      return KeyEntry.present(in: try tables.entries(numbers), recent)
    }
  }

  /// Nil in a transaction: its snapshot may be older than the memory, and keys that were moved meanwhile
  /// would be neither in the memory nor in the snapshot's sorted tables.
  private var usableMemory: KeyMemory? { connection.isInTransaction ? nil : memory }
}

// MARK: - TransactionKeys

// Keys that follow the transactions of their connection.

/// Keys that change with the transactions of their connection.
protocol TransactionKeys: KeyIndex {
  /// Called at the start of a transaction that writes.
  func begin() throws(SQLiteError)
  /// Called right before the commit: writes what has changed.
  func beforeCommit() throws(SQLiteError)
  /// Called after the commit.
  func didCommit()
  /// Called after a rollback.
  func didRollBack()
}
