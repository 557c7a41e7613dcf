// SQLite as an engine under test.

import Platform
import Store

@testable import SQLiteStore

extension TestEngine {
  static let sqlite = TestEngine(
    name: "SQLite",
    open: { folder in
      SQLiteEngine(
        owner: path(in: folder), log: Log(level: .error, clock: SystemClock()) { _ in },
        onSyncFailure: { _ in })
    },
    connect: { SQLiteConnection(try Database.open(path: path(in: $0), role: .guest)) },
    dump: { folder in
      let file = try Connection(path: path(in: folder), mode: .readOnly, busyTimeout: .zero)
      var text = ""
      for table in try file.tableNames() {
        let columns = try file.prepare("SELECT name FROM pragma_table_info('\(table)')").all {
          row throws(SQLiteError) in "coalesce(CAST(\(try row.text(0)) AS TEXT), '')"
        }
        try file.prepare("SELECT CAST(\(columns.joined(separator: " || ' ' || ")) AS BLOB) FROM \(table)")
          .forEach { row throws(SQLiteError) in
            text += "\(table): \(String(decoding: row.blob(0), as: UTF8.self))\n"
          }
      }
      return text
    },
    failures: [
      .busy: { folder, connection in
        try (connection as? SQLiteConnection)?.connection.execute("PRAGMA busy_timeout = 0")
        let other = try Connection(path: path(in: folder), mode: .readWrite, busyTimeout: .zero)
        try other.begin()
        return { other.rollBack() }
      },
      .full: { _, connection in
        // SQLite never lowers the limit below the present number of pages
        // (https://www.sqlite.org/pragma.html#pragma_max_page_count).
        let sqlite = (connection as? SQLiteConnection)?.connection
        try sqlite?.execute("PRAGMA max_page_count = 1")
        return { try sqlite?.execute("PRAGMA max_page_count = 1000000") }
      },
      .readOnly: { _, connection in
        let sqlite = (connection as? SQLiteConnection)?.connection
        try sqlite?.execute("PRAGMA query_only = ON")
        return { try sqlite?.execute("PRAGMA query_only = OFF") }
      },
    ])

  /// The path of SQLite's database in a folder.
  static func path(in folder: String) -> String { folder + "/relay.db" }
}

extension TestStore {
  /// The path of the database file.
  var path: String { TestEngine.path(in: folder) }
}
