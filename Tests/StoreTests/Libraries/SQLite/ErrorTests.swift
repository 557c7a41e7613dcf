// Errors have distinct kinds, and repeat no input.

import SQLiteStore
import Store
import Testing

@Suite("SQLite's refusals") struct ErrorTests {
  @Test(arguments: [
    "INSERT INTO t VALUES (1, 'a', 1)", "INSERT INTO t VALUES (2, NULL, 1)",
    "INSERT INTO t VALUES (2, 'a', -1)", "INSERT INTO t VALUES (2, 'a', 'x')",
    "INSERT INTO u VALUES (99)",
  ])
  func `Each constraint is one`(sql: String) throws {
    let connection = try memory()
    try connection.execute("PRAGMA foreign_keys = ON")
    try connection.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b INTEGER CHECK (b > 0)) STRICT;
      CREATE TABLE u (t INTEGER REFERENCES t (id)) STRICT;
      INSERT INTO t VALUES (1, 'a', 1);
      """)
    let error = failure { () throws(SQLiteError) in try connection.execute(sql) }
    #expect(error?.kind == .constraint)
    #expect(error?.operation == "INSERT")
    // The extended code distinguishes them; its low byte is SQLITE_CONSTRAINT.
    #expect(error.map { $0.code & 0xFF == 19 && $0.code > 0xFF } == true)
  }

  @Test func `A lock of another connection is busy`() throws {
    let file = try DatabaseFile()
    let (one, other) = (try file.open(), try file.open())
    try one.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (v INTEGER) STRICT")
    try one.execute("BEGIN IMMEDIATE")
    let error = failure { () throws(SQLiteError) in
      try other.transaction { () throws(SQLiteError) in _ = Issue.record("it has the lock") }
    }
    #expect(error?.kind == .busy)
    #expect(error?.operation == "BEGIN")
    // With a write-ahead log, the other connection can read.
    #expect(try other.integer("SELECT count(*) FROM t") == 0)
    one.rollBack()
    try other.transaction { () throws(SQLiteError) in try other.execute("INSERT INTO t VALUES (1)") }
    #expect(try one.integer("SELECT count(*) FROM t") == 1)
  }

  @Test func `A missing file, a folder or an invalid path cannot be opened`() throws {
    let file = try DatabaseFile()
    for mode in [Connection.Mode.readOnly, .readWrite] {
      #expect(failure { () throws(SQLiteError) in _ = try file.open(mode) }?.kind == .cannotOpen)
    }
    for path in [file.folder, file.folder + "/none/test.db", "", file.path + "\u{0}.db"] {
      let error = failure { () throws(SQLiteError) in
        _ = try Connection(path: path, mode: .readWriteCreate, busyTimeout: .zero)
      }
      #expect(error?.kind == .cannotOpen)
      #expect(error?.operation == "open database")
      #expect(error.map { !$0.description.contains(file.folder) } == true)
    }
    // None of them created the file that the prefix of its name denotes.
    #expect(failure { () throws(SQLiteError) in _ = try file.open(.readOnly) }?.kind == .cannotOpen)
  }

  @Test func `A file that is not a database is corrupt`() throws {
    let file = try DatabaseFile()
    let path = try file.write(String(repeating: "no database at all ", count: 100), to: "note.txt")
    let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
    let error = failure { () throws(SQLiteError) in
      _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
    }
    #expect(error?.kind == .corrupt)
  }

  @Test func `A write on a read-only connection is refused`() throws {
    let file = try DatabaseFile()
    try file.open().execute("CREATE TABLE t (v INTEGER) STRICT")
    let connection = try file.open(.readOnly)
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    for sql in ["INSERT INTO t VALUES (1)", "CREATE TABLE u (v INTEGER)", "DROP TABLE t"] {
      #expect(failure { () throws(SQLiteError) in try connection.execute(sql) }?.kind == .readOnly)
    }
  }

  @Test("A database that may not grow is full, keeps its data, and accepts writes when it may grow")
  func full() throws {
    let file = try DatabaseFile()
    let connection = try file.open()
    try connection.execute("CREATE TABLE t (v BLOB) STRICT; INSERT INTO t VALUES (x'00')")
    let pages = try #require(try connection.integer("PRAGMA page_count"))
    try connection.execute("PRAGMA max_page_count = \(pages + 2)")
    let inserting = try connection.prepare("INSERT INTO t VALUES (?1)")
    let large = StoreValue.blob(Array(repeating: 1, count: 100_000))
    let error = failure { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in try inserting.run([large]) }
    }
    #expect(error?.kind == .full)
    #expect(error?.operation == "INSERT")
    #expect(!connection.isInTransaction)
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    try connection.execute("PRAGMA max_page_count = 100000")
    try inserting.run([large])
    #expect(try connection.integer("SELECT count(*) FROM t") == 2)
  }

  @Test func `No argument is ever in the text of an error (R7)`() throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (id TEXT PRIMARY KEY, v INTEGER CHECK (v < 10)) STRICT")
    let secret = "sk_live_51H8xyzzy"
    let inserting = try connection.prepare("INSERT INTO t VALUES (?1, ?2)")
    try inserting.run([.text(secret), 1])
    let faults = [
      failure { () throws(SQLiteError) in try inserting.run([.text(secret), 1]) },
      failure { () throws(SQLiteError) in try inserting.run(["b", .text(secret)]) },
      failure { () throws(SQLiteError) in try inserting.run([.text(secret)]) },
      failure { () throws(SQLiteError) in try connection.execute("INSERT INTO t VALUES ('\(secret)', 1)") },
      failure { () throws(SQLiteError) in _ = try connection.prepare("SELECT \(secret) FROM t") },
      failure { () throws(SQLiteError) in try connection.execute("'\(secret)'") },
      failure { () throws(SQLiteError) in try connection.copy(to: "/nowhere/\(secret)") },
    ]
    for fault in faults {
      let error = try #require(fault)
      #expect(!error.description.contains(secret))
      #expect(!error.reason.isEmpty)
      var dumped = ""
      dump(error, to: &dumped)
      #expect(!dumped.contains(secret))
    }
  }

  @Test func `A copy is whole, is made beside a writer, and never goes over what is there`() throws {
    let file = try DatabaseFile()
    let (writer, reader) = (try file.open(), try file.open())
    try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (v INTEGER) STRICT")
    try writer.execute("INSERT INTO t VALUES (1), (2)")
    try writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (3)")
    let copy = file.folder + "/copy.db"
    try reader.copy(to: copy)
    try writer.execute("COMMIT")
    let copied = try Connection(path: copy, mode: .readOnly, busyTimeout: .zero)
    #expect(try copied.integer("SELECT count(*) FROM t") == 2)
    #expect(try copied.text("PRAGMA integrity_check") == "ok")
    let note = try file.write("mine", to: "note.txt")
    for path in [copy, note] {
      #expect(failure { () throws(SQLiteError) in try reader.copy(to: path) } != nil)
    }
    #expect(try copied.integer("SELECT count(*) FROM t") == 2)
    #expect(try reader.integer("SELECT count(*) FROM t") == 3)
  }
}
