// Whether a table is damaged, looked at quickly beside a daemon that serves it. One thread; another may
// interrupt it.

internal import SQLite
public import Store

/// Looks for damage, table after table.
public final class QuickCheck {
  /// How the check of one table ended.
  public enum Outcome: Sendable, Equatable {
    case sound
    /// The first finding.
    case damaged(String)
    case interrupted
  }

  private let connection: Connection

  /// A connection of its own, which only reads.
  public init(path: String) throws(StoreError) { connection = try Database.open(path: path, role: .reader) }

  /// Ends the check of a table from any thread, as `interrupted`.
  public var interrupt: @Sendable () -> Void {
    let interrupter = connection.interrupter
    return { interrupter.interrupt() }
  }

  /// The names of the tables, in the order in which they were made.
  public func tables() throws(StoreError) -> [String] {
    do throws(SQLiteError) {
      return try connection.tableNames()
    } catch {
      throw .fault(StoreFault(error))
    }
  }

  /// Checks one table with its indexes, the contents of which it does not compare with the table
  /// (https://www.sqlite.org/pragma.html#pragma_quick_check). Reads all of it in one transaction: until then
  /// nothing that is stored meanwhile is moved out of the log.
  public func look(at table: String) throws(StoreError) -> Outcome {
    do throws(SQLiteError) {
      let found = try connection.text("PRAGMA quick_check('\(table)')") ?? "ok"
      if found == "ok" { return .sound }
      // It begins with the name of the database.
      return .damaged("\(table): \(found.split(separator: "\n").last.map(String.init) ?? found)")
    } catch {
      switch error.kind {
      case .interrupted: return .interrupted
      case .corrupt: return .damaged("\(table): \(error)")
      default: throw .fault(StoreFault(error))
      }
    }
  }
}

extension Connection {
  /// The tables of the database, in the order in which they were made.
  func tableNames() throws(SQLiteError) -> [String] {
    try prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rootpage")
      .all { row throws(SQLiteError) in try row.text(0) }
  }
}
