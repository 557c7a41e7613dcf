// A database file as the source or the target of a copy. One thread at a time.

public import Store

/// A database that its user has locked.
public final class SQLiteCopyEngine: CopyEngine {
  public let reading: StoreConnection
  public var writing: StoreConnection { reading }
  private let connection: Connection

  /// - Parameter isTarget: whether to create the tables in an empty file.
  public init(path: String, isTarget: Bool) throws(StoreError) {
    do throws(StoreError) {
      connection = try Database.open(path: path, role: .guest)
    } catch {
      guard isTarget, error == .missing else { throw error }
      _ = try Database.open(path: path, role: .owner)
      connection = try Database.open(path: path, role: .guest)
    }
    reading = StoreConnection(SQLiteConnection(connection))
    guard isTarget else { return }
    do throws(SQLiteError) {
      // In KiB. The rows come in no index's order, and a page that leaves the cache is written again.
      try connection.execute("PRAGMA cache_size = -65536")
    } catch {
      throw .fault(StoreFault(error))
    }
  }

  public func columns(of table: String) throws(StoreFault) -> [CopyColumn] {
    try translated { () throws(SQLiteError) in
      try connection.prepare("SELECT name, type FROM pragma_table_info(?1)").all([.text(table)]) {
        row throws(SQLiteError) in
        let kind: CopyColumn.Kind =
          switch try row.text(1) {
          case "INTEGER": .integer
          case "TEXT": .text
          default: .blob
          }
        return CopyColumn(try row.text(0), kind)
      }
    }
  }

  public var storesZero: Bool { true }
  /// The lock of the file keeps them out.
  public func users() -> [String] { [] }

  public func nextPurchaseRow() throws(StoreFault) -> Int64 {
    try reading.integer("SELECT next FROM sequences WHERE name = 'purchases'") ?? 1
  }

  /// They are sorted when all are known: that writes each page once.
  public var addsKeys: Bool { false }
  public func add(apps: Set<String>) {}
  /// No other program has the database open.
  public func lockOut() {}
  public func endOwnership() {}

  public func complete(nextPurchaseRow: Int64) throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        try connection.prepare("UPDATE sequences SET next = ?1 WHERE name = 'purchases'").run([
          .integer(nextPurchaseRow)
        ])
        try KeyRebuild.run(connection)
      }
    }
  }
}
