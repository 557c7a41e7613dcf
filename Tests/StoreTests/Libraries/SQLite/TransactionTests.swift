// Transactions are atomic.

import SQLiteStore
import Store
import Testing

@Suite("Transactions") struct TransactionTests {
  private static let stop = SQLiteError(kind: .interrupted, code: 9, operation: "test")

  private static func table() throws(SQLiteError) -> Connection {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v INTEGER UNIQUE) STRICT")
    return connection
  }

  private static func insert(_ number: Int64, _ connection: Connection) throws(SQLiteError) {
    try connection.prepare("INSERT INTO t VALUES (?1)").run([.integer(number)])
  }

  private static func count(_ connection: Connection) throws -> Int64? {
    try connection.integer("SELECT count(*) FROM t")
  }

  @Test func `The body's changes are committed when it returns, with its result`() throws {
    let connection = try Self.table()
    let result = try connection.transaction { () throws(SQLiteError) in
      #expect(connection.isInTransaction)
      try Self.insert(1, connection)
      return "done"
    }
    #expect(result == "done")
    #expect(!connection.isInTransaction)
    #expect(try Self.count(connection) == 1)
  }

  @Test func `The body's changes are rolled back when it throws, and its error is rethrown`() throws {
    let connection = try Self.table()
    let error = failure { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        try Self.insert(1, connection)
        throw Self.stop
      }
    }
    #expect(error == Self.stop)
    #expect(!connection.isInTransaction)
    #expect(try Self.count(connection) == 0)
  }

  @Test func `A failed statement rolls the transaction back, unless the body continues without it`() throws {
    let connection = try Self.table()
    try Self.insert(1, connection)
    let error = failure { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        try Self.insert(2, connection)
        try Self.insert(1, connection)
      }
    }
    #expect(error?.kind == .constraint)
    #expect(try Self.count(connection) == 1)
    try connection.transaction { () throws(SQLiteError) in
      try Self.insert(2, connection)
      #expect(failure { () throws(SQLiteError) in try Self.insert(1, connection) }?.kind == .constraint)
    }
    #expect(try Self.count(connection) == 2)
  }

  @Test func `A nested transaction is refused, and does not change the outer one`() throws {
    let connection = try Self.table()
    try connection.transaction { () throws(SQLiteError) in
      try Self.insert(1, connection)
      let inner = failure { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in try Self.insert(2, connection) }
      }
      #expect(inner?.kind == .misuse)
      #expect(connection.isInTransaction)
    }
    #expect(try Self.count(connection) == 1)
    let outer = failure { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        try Self.insert(3, connection)
        try connection.transaction { () throws(SQLiteError) in }
      }
    }
    #expect(outer?.kind == .misuse)
    #expect(!connection.isInTransaction)
    #expect(try Self.count(connection) == 1)
  }

  @Test func `A body that rolls back itself is an error, and the connection still works`() throws {
    let connection = try Self.table()
    let error = failure { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        try Self.insert(1, connection)
        connection.rollBack()
      }
    }
    #expect(error != nil)
    #expect(!connection.isInTransaction)
    connection.rollBack()
    #expect(try Self.count(connection) == 0)
    try connection.transaction { () throws(SQLiteError) in try Self.insert(1, connection) }
    #expect(try Self.count(connection) == 1)
  }

  @Test func `A commit that another connection's read blocks is busy and is rolled back`() throws {
    let file = try DatabaseFile()
    let (writer, reader) = (try file.open(), try file.open())
    try writer.execute("CREATE TABLE t (v INTEGER UNIQUE) STRICT")
    try writer.execute("INSERT INTO t VALUES (0)")
    let reading = try reader.prepare("SELECT v FROM t")
    try reading.forEach { _ throws(SQLiteError) in
      // Without a write-ahead log a commit needs an exclusive lock.
      let error = failure { () throws(SQLiteError) in
        try writer.transaction { () throws(SQLiteError) in try Self.insert(1, writer) }
      }
      #expect(error?.kind == .busy)
      #expect(error?.operation == "COMMIT")
      #expect(!writer.isInTransaction)
    }
    #expect(try Self.count(writer) == 1)
    try writer.transaction { () throws(SQLiteError) in try Self.insert(1, writer) }
    #expect(try Self.count(reader) == 2)
  }

  @Test func `Counts statements, and the pages of the log also when it starts again`() throws {
    let file = try DatabaseFile()
    let connection = try file.open()
    try connection.execute("PRAGMA journal_mode = WAL")
    connection.watchLog()
    let before = connection.statementCount
    try connection.execute("CREATE TABLE t (v INTEGER UNIQUE) STRICT")
    let created = connection.addedLogPages
    #expect(created == connection.logPages)
    try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    // This commit writes the log from its start, and changes the table and its index.
    try connection.transaction { () throws(SQLiteError) in
      for number: Int64 in 1...3 { try Self.insert(number, connection) }
    }
    #expect(connection.logPages == 2)
    #expect(connection.addedLogPages == created + 2)
    // CREATE, the checkpoint, BEGIN, three of INSERT, COMMIT.
    #expect(connection.statementCount == before + 7)
  }
}
