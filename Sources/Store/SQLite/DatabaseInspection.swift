// Reports what is damaged in a database: assigns SQLite's findings to tables and indexes, and counts the rows
// that can still be read. One thread at a time.

internal import Migrations
public import Store

/// One table or index that is damaged.
public struct DamagedPart: Sendable, Equatable {
  /// What can be saved of it.
  public enum State: Sendable, Equatable {
    /// An index: its table contains the same data, so REINDEX restores it
    /// (https://www.sqlite.org/lang_reindex.html).
    case canBeRebuilt
    /// A table, with the number of rows that can still be read.
    case hasLostRows(readable: Int64)
  }

  public let name: String
  public let state: State
}

/// The result of an inspection.
public struct DatabaseFindings: Sendable, Equatable {
  /// SQLite's findings, and those of this program's check of its counts; empty when there are none.
  public var faults: [String] = []
  public var parts: [DamagedPart] = []
  /// Whether pages of an index, or pages of neither a table nor an index, are damaged: REINDEX cannot repair
  /// them in this file.
  public var hasBrokenPages = false
  /// Whether SQLite cannot open the file as a database.
  public var isUnreadable = false
  /// Whether bodies need a dictionary that this program does not have, in a file whose pages are whole.
  public var lacksDictionaries = false

  /// Whether rows are lost, so that only another copy has them.
  public var hasLoss: Bool {
    isUnreadable || parts.contains { if case .hasLostRows = $0.state { true } else { false } }
  }
}

/// Inspects a database.
public struct DatabaseInspection {
  /// The SQL that marks a file as a database of this program and schema. A copy that sqlite3 makes lacks
  /// these marks.
  public static let marks =
    "PRAGMA application_id = \(Database.applicationID); PRAGMA user_version = \(Migrations.currentVersion)"

  private let connection: Connection

  /// - Parameters:
  ///   - onStart: gets what interrupts the inspection from another thread; it then throws `interrupted`.
  ///   - progress: called with the share that is done, 0…1.
  /// - Throws: why the database cannot be opened. Damage is a finding, not an error.
  public static func run(
    path: String, onStart: (@escaping @Sendable () -> Void) -> Void = { _ in },
    progress: (Double) -> Void = { _ in }
  ) throws(StoreError) -> DatabaseFindings {
    let inspection: DatabaseInspection
    do throws(StoreError) {
      inspection = DatabaseInspection(connection: try Database.open(path: path, role: .guest))
    } catch .fault(let error) where error.kind == .corrupt {
      return DatabaseFindings(faults: [error.description], isUnreadable: true)
    } catch {
      throw error
    }
    let interrupter = inspection.connection.interrupter
    onStart { interrupter.interrupt() }
    do throws(SQLiteError) {
      let findings = try inspection.findings { progress($0 * pagesShare) }
      if !findings.faults.isEmpty { return findings }
    } catch {
      guard error.kind == .corrupt else { throw .fault(StoreFault(error)) }
      return DatabaseFindings(faults: [error.description], isUnreadable: true)
    }
    do throws(StoreFault) {
      let reader = StoreReader(StoreConnection(SQLiteConnection(inspection.connection)))
      let unknown = try reader.unknownDictionaries()
      return DatabaseFindings(
        faults: try inspection.orphans() + reader.wrongCounts() + unknown,
        lacksDictionaries: !unknown.isEmpty)
    } catch {
      throw .fault(error)
    }
  }

  /// The share of the pages; the rest is the comparison of rows with each other.
  private static let pagesShare = 0.85

  private func findings(_ progress: (Double) -> Void) throws(SQLiteError) -> DatabaseFindings {
    let result = try IntegrityCheck(connection: connection).run(progress: progress)
    var findings = DatabaseFindings(faults: result.all)
    guard !findings.faults.isEmpty else { return findings }
    for (table, faults) in result.tables {
      if KeyRebuild.tables.contains(table) {
        // REINDEX does not help: the table is the index. A new file gets a new one.
        findings.parts.append(DamagedPart(name: table, state: .canBeRebuilt))
        findings.hasBrokenPages = true
        continue
      }
      let scan = try scan(table)
      if !scan.isWhole || faults.contains(where: Self.isAboutRows) {
        findings.parts.append(DamagedPart(name: table, state: .hasLostRows(readable: scan.rows)))
      } else {
        // The table is complete, so the fault is in one of its indexes, named or not.
        let named = Set(faults.compactMap(Self.index))
        if !faults.allSatisfy({ Self.index($0) != nil }) { findings.hasBrokenPages = true }
        let names = named.isEmpty ? ["the indexes of \(table)"] : named.sorted()
        findings.parts += names.map { DamagedPart(name: $0, state: .canBeRebuilt) }
      }
    }
    if findings.parts.isEmpty { findings.hasBrokenPages = true }
    return findings
  }

  private func orphans() throws(StoreFault) -> [String] {
    try translated { () throws(SQLiteError) in try connection.orphans() }
  }

  /// Findings such as `Rowid 7 out of order`, `NULL value in events.app`, `CHECK constraint failed in
  /// events`: all rows can be read, but some differ from what was stored.
  private static func isAboutRows(_ fault: String) -> Bool {
    fault.contains("Rowid ") || fault.contains(" value in ") || fault.hasPrefix("CHECK ")
  }

  /// Examples: `row 7 missing from index purchases_by_object`, `wrong # of entries in index purchases_due`.
  private static func index(_ fault: String) -> String? {
    guard let range = fault.firstRange(of: "index ") else { return nil }
    let name = fault[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return name.isEmpty ? nil : String(name)
  }

  /// Reads every column of a table's rows, from both ends, up to the damage.
  private func scan(_ table: String) throws(SQLiteError) -> (rows: Int64, isWhole: Bool) {
    let columns = try connection.prepare("SELECT name FROM pragma_table_info('\(table)')").all {
      row throws(SQLiteError) in try row.text(0)
    }
    // SQLite must read all pages of a value to compute its length as a blob.
    let lengths = columns.map { "length(CAST(\"\($0)\" AS BLOB))" }.joined(separator: ", ")
    let (forward, isWhole) = try count("SELECT \(lengths) FROM \"\(table)\" NOT INDEXED")
    if isWhole { return (forward, true) }
    let key = try connection.prepare(
      "SELECT name FROM pragma_table_info('\(table)') WHERE pk > 0 ORDER BY pk"
    ).all { row throws(SQLiteError) in "\"\(try row.text(0))\" DESC" }.joined(separator: ", ")
    guard !key.isEmpty else { return (forward, false) }
    let backward = try count("SELECT \(lengths) FROM \"\(table)\" NOT INDEXED ORDER BY \(key)").rows
    return (forward + backward, false)
  }

  private func count(_ sql: String) throws(SQLiteError) -> (rows: Int64, isWhole: Bool) {
    var rows: Int64 = 0
    do throws(SQLiteError) {
      try connection.prepare(sql).forEach { _ throws(SQLiteError) in rows += 1 }
      return (rows, true)
    } catch {
      guard error.kind == .corrupt else { throw error }
      return (rows, false)
    }
  }
}
