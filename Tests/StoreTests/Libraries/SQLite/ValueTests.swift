// Values are stored and read unchanged.

import SQLiteStore
import Testing

@testable import Store

@Suite("Values") struct ValueTests {
  private static func stored(_ value: StoreValue) throws -> (connection: Connection, reading: Statement) {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v ANY) STRICT")
    try connection.prepare("INSERT INTO t VALUES (?1)").run([value])
    return (connection, try connection.prepare("SELECT v, typeof(v) FROM t"))
  }

  @Test(arguments: [
    "", "a", "\u{0}", "a\u{0}b", "é", "e\u{301}", "漢字", "🧾\u{10FFFF}", "'; DROP TABLE t; --",
    "\n\r\t\u{1}\u{7F}", String(repeating: "x", count: 1_000_000),
  ])
  func `A text is read back byte for byte`(text: String) throws {
    let (connection, reading) = try Self.stored(.text(text))
    let read = try reading.first { row throws(SQLiteError) in
      (try row.text(0), try row.optionalText(0), try row.text(1), row.isNull(0))
    }
    let found = try #require(read)
    // As bytes, because `==` ignores Unicode normalisation.
    #expect(Array(found.0.utf8) == Array(text.utf8))
    #expect(found.1.map { Array($0.utf8) } == Array(text.utf8))
    #expect(found.2 == "text")
    #expect(!found.3)
    let finding = try connection.prepare("SELECT count(*) FROM t WHERE v = ?1")
    #expect(try finding.first([.text(text)]) { row throws(SQLiteError) in row.integer(0) } == 1)
  }

  @Test(
    arguments: [
      [], [0], [0, 0, 0], [0xFF, 0x00, 0xC3, 0x28], Array(repeating: 7, count: 1_000_000),
    ] as [[UInt8]])
  func `A blob is read back byte for byte`(bytes: [UInt8]) throws {
    let (_, reading) = try Self.stored(.blob(bytes))
    let read = try reading.first { row throws(SQLiteError) in
      (row.blob(0), row.optionalBlob(0), try row.text(1))
    }
    let found = try #require(read)
    #expect(found.0 == bytes)
    #expect(found.1 == bytes)
    #expect(found.2 == "blob")
  }

  @Test(arguments: [0, 1, -1, .max, .min, 1 << 53, -(1 << 53) - 1] as [Int64])
  func `Integers are read back up to their limits`(number: Int64) throws {
    let (_, reading) = try Self.stored(.integer(number))
    let read = try reading.first { row throws(SQLiteError) in
      (row.integer(0), row.optionalInteger(0), try row.text(1), row.flag(0))
    }
    let found = try #require(read)
    #expect(found.0 == number)
    #expect(found.1 == number)
    #expect(found.2 == "integer")
    #expect(found.3 == (number != 0))
  }

  @Test func `NULL differs from empty values`() throws {
    let values: [StoreValue] = [
      .null, .optional(String?.none), .optional(Int64?.none), .optional([UInt8]?.none),
    ]
    for value in values {
      let (_, reading) = try Self.stored(value)
      let read = try reading.first { row throws(SQLiteError) in
        #expect(row.isNull(0))
        #expect(row.optionalInteger(0) == nil)
        #expect(row.optionalBlob(0) == nil)
        #expect(row.integer(0) == 0)
        #expect(row.blob(0).isEmpty)
        #expect(!row.flag(0))
        return (try row.optionalText(0), try row.text(0))
      }
      let found = try #require(read)
      #expect(found.0 == nil)
      #expect(found.1 == "")
    }
    #expect(StoreValue.optional("") == .text(""))
    #expect(StoreValue.optional([UInt8]()) == .blob([]))
    #expect(StoreValue.optional(Int64(0)) == .integer(0))
    #expect(StoreValue.flag(true) == 1)
    #expect(StoreValue.flag(false) == 0)
  }

  @Test func `A stored text that is not UTF-8 is damage, and is not repaired silently`() throws {
    let connection = try memory()
    let reading = try connection.prepare("SELECT CAST(x'C328' AS TEXT)")
    let error = failure { () throws(SQLiteError) in
      _ = try reading.first { row throws(SQLiteError) in try row.text(0) }
    }
    #expect(error?.kind == .corrupt)
    #expect(error?.operation == "read text")
    #expect(throws: SQLiteError.self) { try connection.text("SELECT CAST(x'FF' AS TEXT)") }
    // The statement can be used again.
    #expect(try reading.first { row throws(SQLiteError) in row.blob(0) } == [0xC3, 0x28])
  }

  @Test func `A single value of a query can be read directly`() throws {
    let connection = try memory()
    #expect(try connection.integer("SELECT 42") == 42)
    #expect(try connection.text("SELECT 'a'") == "a")
    #expect(try connection.integer("SELECT 1 WHERE 0") == nil)
    #expect(try connection.text("SELECT 'a' WHERE 0") == nil)
    #expect(try connection.text("SELECT NULL") == nil)
  }

  @Test func `Changes are those of the last statement`() throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER) STRICT")
    let inserting = try connection.prepare("INSERT INTO t (v) VALUES (?1)")
    for number in 1...5 {
      try inserting.run([.integer(Int64(number))])
      #expect(connection.changes == 1)
    }
    try connection.prepare("UPDATE t SET v = 0 WHERE v > ?1").run([2])
    #expect(connection.changes == 3)
    try connection.prepare("DELETE FROM t WHERE v > ?1").run([100])
    #expect(connection.changes == 0)
  }
}
