// Checks tables for damage quickly, beside a daemon that serves the database. One thread at a time; another
// thread may interrupt it.

public import Store

/// Checks one table after another for damage.
public final class QuickCheck {
  /// How the check of one table ended.
  public enum Outcome: Sendable, Equatable {
    case sound
    /// The first finding.
    case damaged(String)
    case interrupted
  }

  private let connection: Connection

  /// Opens its own read-only connection.
  public init(path: String) throws(StoreError) { connection = try Database.open(path: path, role: .reader) }

  /// Interrupts the check of a table, which returns `interrupted`. Called from any thread.
  public var interrupt: @Sendable () -> Void {
    let interrupter = connection.interrupter
    return { interrupter.interrupt() }
  }

  /// The names of the tables, in the order of their creation.
  public func tables() throws(StoreError) -> [String] {
    do throws(SQLiteError) {
      return try connection.tableNames()
    } catch {
      throw .fault(StoreFault(error))
    }
  }

  /// Checks one table with its indexes, but does not compare the indexes' contents with the table
  /// (https://www.sqlite.org/pragma.html#pragma_quick_check). Reads the table in one transaction: until it
  /// ends, the log cannot be moved past this snapshot.
  public func check(_ table: String) throws(StoreError) -> Outcome {
    do throws(SQLiteError) {
      let found = try connection.text("PRAGMA quick_check('\(table)')") ?? "ok"
      if found == "ok" { return .sound }
      // The finding begins with the name of the database.
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
  /// The tables of the database, in the order of their creation.
  func tableNames() throws(SQLiteError) -> [String] {
    try prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rootpage")
      .all { row throws(SQLiteError) in try row.text(0) }
  }
}
