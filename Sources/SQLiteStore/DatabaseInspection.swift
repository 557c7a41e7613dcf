// What is damaged in a database, part by part: what SQLite's own check finds is put down to the table or the
// index that it is about, and each table is read as far as it goes. One thread.

internal import Migrations
internal import SQLite
public import Store

/// One table or index that is damaged.
public struct DamagedPart: Sendable, Equatable {
  public enum State: Sendable, Equatable {
    /// It is an index: all that it says is in its table, too (https://www.sqlite.org/lang_reindex.html).
    case canBeRebuilt
    /// It is a table; as many of its rows can still be read.
    case hasLostRows(readable: Int64)
  }

  public let name: String
  public let state: State
}

/// What an inspection found.
public struct DatabaseFindings: Sendable, Equatable {
  /// SQLite's words, and this program's about its own counts; none when all is well.
  public var faults: [String] = []
  public var parts: [DamagedPart] = []
  /// Whether pages of an index are damaged, not only what is on them, or pages of no table and no index:
  /// SQLite cannot build them again in their place.
  public var hasBrokenPages = false
  /// Whether the file cannot even be opened as a database.
  public var isUnreadable = false

  /// Whether rows are lost, so that nothing but another copy brings them back.
  public var hasLoss: Bool {
    isUnreadable || parts.contains { if case .hasLostRows = $0.state { true } else { false } }
  }
}

/// Inspects a database.
public struct DatabaseInspection {
  /// What makes a file a database of this program and this schema, as SQL: a copy that sqlite3 makes lacks
  /// it.
  public static let marks =
    "PRAGMA application_id = \(Database.applicationID); PRAGMA user_version = \(Migrations.currentVersion)"

  private let connection: Connection

  /// - Throws: what keeps it from being opened, but damage, which is a finding.
  public static func run(path: String) throws(StoreError) -> DatabaseFindings {
    let inspection: DatabaseInspection
    do throws(StoreError) {
      inspection = DatabaseInspection(connection: try Database.open(path: path, role: .guest))
    } catch .fault(let error) where error.kind == .corrupt {
      return DatabaseFindings(faults: [error.description], isUnreadable: true)
    } catch {
      throw error
    }
    do throws(SQLiteError) {
      let findings = try inspection.findings()
      if !findings.faults.isEmpty { return findings }
    } catch {
      guard error.kind == .corrupt else { throw .fault(StoreFault(error)) }
      return DatabaseFindings(faults: [error.description], isUnreadable: true)
    }
    let reader = try StoreReader(path: path, role: .guest)
    do throws(StoreFault) {
      return DatabaseFindings(faults: try inspection.orphans() + reader.wrongCounts())
    } catch {
      throw .fault(error)
    }
  }

  private func findings() throws(SQLiteError) -> DatabaseFindings {
    var findings = DatabaseFindings(faults: try check("PRAGMA integrity_check"))
    guard !findings.faults.isEmpty else { return findings }
    for table in try connection.tableNames() {
      let faults = try check("PRAGMA integrity_check('\(table)')")
      guard !faults.isEmpty else { continue }
      let scan = try scan(table)
      if !scan.isWhole || faults.contains(where: Self.isAboutRows) {
        findings.parts.append(DamagedPart(name: table, state: .hasLostRows(readable: scan.rows)))
      } else {
        // The table is all there: what is wrong is an index of it, named or not.
        let named = Set(faults.compactMap(Self.index))
        if !faults.allSatisfy({ Self.index($0) != nil }) { findings.hasBrokenPages = true }
        let names = named.isEmpty ? ["the indexes of \(table)"] : named.sorted()
        findings.parts += names.map { DamagedPart(name: $0, state: .canBeRebuilt) }
      }
    }
    if findings.parts.isEmpty { findings.hasBrokenPages = true }
    return findings
  }

  /// `Rowid 7 out of order`, `NULL value in events.app`, `CHECK constraint failed in events`: all rows can be
  /// read, but not all of them are what was stored.
  private func orphans() throws(StoreFault) -> [String] {
    try translated { () throws(SQLiteError) in try connection.orphans() }
  }

  private static func isAboutRows(_ fault: String) -> Bool {
    fault.contains("Rowid ") || fault.contains(" value in ") || fault.hasPrefix("CHECK ")
  }

  /// What a check says, and that it met damage which ended it.
  private func check(_ pragma: String) throws(SQLiteError) -> [String] {
    do throws(SQLiteError) {
      return try connection.prepare(pragma).all { row throws(SQLiteError) in try row.text(0) }
        .filter { $0 != "ok" }
        // One line of the answer may have several findings in it.
        .flatMap { $0.split(separator: "\n").map(String.init) }
    } catch {
      guard error.kind == .corrupt else { throw error }
      return [error.description]
    }
  }

  /// `row 7 missing from index purchases_by_user`, `wrong # of entries in index purchases_due`.
  private static func index(_ fault: String) -> String? {
    guard let range = fault.firstRange(of: "index ") else { return nil }
    let name = fault[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return name.isEmpty ? nil : String(name)
  }

  /// Reads every column of a table's rows, from both ends until damage stops it.
  private func scan(_ table: String) throws(SQLiteError) -> (rows: Int64, isWhole: Bool) {
    let columns = try connection.prepare("SELECT name FROM pragma_table_info('\(table)')").all {
      row throws(SQLiteError) in try row.text(0)
    }
    // The length of a value is known only once all of its pages were read.
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
