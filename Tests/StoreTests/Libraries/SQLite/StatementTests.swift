// A statement can be reused after any error in its last use.

import SQLiteStore
import Store
import Testing

@Suite("Statements") struct StatementTests {
  private static func numbers(_ count: Int64) throws(SQLiteError) -> Connection {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v INTEGER NOT NULL UNIQUE) STRICT")
    let inserting = try connection.prepare("INSERT INTO t VALUES (?1)")
    for number in 0..<count { try inserting.run([.integer(number)]) }
    return connection
  }

  @Test(arguments: [0, 1, 3])
  func `A wrong number of arguments is refused before anything runs`(count: Int) throws {
    let connection = try Self.numbers(0)
    let inserting = try connection.prepare("INSERT INTO t SELECT ?1 WHERE ?2")
    let error = failure { () throws(SQLiteError) in
      try inserting.run(Array(repeating: .integer(1), count: count))
    }
    #expect(error?.kind == .misuse)
    #expect(error?.operation == "INSERT")
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    try inserting.run([1, 1])
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
  }

  @Test func `After a failed run the statement works, and holds no lock and no argument`() throws {
    let connection = try Self.numbers(1)
    let inserting = try connection.prepare("INSERT INTO t VALUES (?1)")
    for _ in 0..<3 {
      #expect(failure { () throws(SQLiteError) in try inserting.run([0]) }?.kind == .constraint)
      #expect(failure { () throws(SQLiteError) in try inserting.run([.null]) }?.kind == .constraint)
    }
    try inserting.run([7])
    #expect(try connection.integer("SELECT max(v) FROM t") == 7)
    // A statement that was not reset would make this fail.
    try connection.execute("DROP TABLE t")
  }

  @Test func `After part of the rows the statement is reset`() throws {
    let connection = try Self.numbers(10)
    let reading = try connection.prepare("SELECT v FROM t WHERE v >= ?1 ORDER BY v")
    #expect(try reading.first([3]) { row throws(SQLiteError) in row.integer(0) } == 3)
    #expect(try reading.first([5]) { row throws(SQLiteError) in row.integer(0) } == 5)
    let stop = SQLiteError(kind: .interrupted, code: 9, operation: "test")
    var seen: [Int64] = []
    let error = failure { () throws(SQLiteError) in
      try reading.forEach([0]) { row throws(SQLiteError) in
        seen.append(row.integer(0))
        if seen.count == 4 { throw stop }
      }
    }
    #expect(error == stop)
    #expect(seen == [0, 1, 2, 3])
    #expect(try reading.all([8]) { row throws(SQLiteError) in row.integer(0) } == [8, 9])
    try connection.execute("DROP TABLE t")
  }

  @Test func `A statement that is used inside its own rows refuses, and the rows continue`() throws {
    let connection = try Self.numbers(3)
    let reading = try connection.prepare("SELECT v FROM t WHERE v >= ?1 ORDER BY v")
    var seen: [Int64] = []
    var refusals = 0
    try reading.forEach([0]) { row throws(SQLiteError) in
      let inner = failure { () throws(SQLiteError) in try reading.run([1]) }
      if inner?.kind == .misuse { refusals += 1 }
      seen.append(row.integer(0))
    }
    #expect(seen == [0, 1, 2])
    #expect(refusals == 3)
  }

  @Test func `A statement keeps its connection alive`() throws {
    let reading = try Self.numbers(2).prepare("SELECT count(*) FROM t")
    #expect(try reading.first { row throws(SQLiteError) in row.integer(0) } == 2)
  }

  @Test func `A statement still works after another connection changed the schema`() throws {
    let file = try DatabaseFile()
    let (one, other) = (try file.open(), try file.open())
    try one.execute("CREATE TABLE t (v INTEGER) STRICT")
    let inserting = try one.prepare("INSERT INTO t (v) VALUES (?1)")
    try inserting.run([1])
    try other.execute("ALTER TABLE t ADD COLUMN w TEXT")
    try inserting.run([2])
    #expect(try other.integer("SELECT count(*) FROM t") == 2)
  }

  @Test(arguments: ["SELEC 1", "", "  ", "-- a"])
  func `Invalid or empty SQL is refused when it is prepared`(sql: String) throws {
    let connection = try memory()
    #expect(failure { () throws(SQLiteError) in _ = try connection.prepare(sql) }?.kind == .misuse)
  }
}
