// Tests that values arrive at the server and come back unchanged.

import PostgresStore
import TestSupport
import Testing

extension PostgresTests {
  @Suite("Values of PostgreSQL")
  struct Values {
    private let connection: PostgresConnection

    init() throws { connection = try PostgresServer.shared.get().connect() }

    @Test(arguments: [Int64.min, -1, 0, 1, 255, 256, .max])
    func `Numbers`(number: Int64) throws {
      let result = try connection.run("SELECT $1, $1 + 0", [.integer(number)])
      #expect(result.count == 1)
      #expect(result.integer(0, 0) == number)
      #expect(result.integer(0, 1) == number)
      #expect(result.text(0, 0) == String(number))
    }

    @Test(arguments: ["", "'quoted'; --", "ä\u{301}😀", "a\nb", String(repeating: "x", count: 1_000_000)])
    func `Texts`(text: String) throws {
      let result = try connection.run("SELECT $1, length($1)", [.text(text)])
      #expect(result.text(0, 0) == text)
      #expect(result.integer(0, 1) == text.unicodeScalars.count)
      #expect(result.bytes(0, 0) == Array(text.utf8))
    }

    @Test func `Bytes, also none`() throws {
      let all = (0...255).map(UInt8.init)
      let result = try connection.run("SELECT $1, $2", [.bytes(all), .bytes([])])
      #expect(result.bytes(0, 0) == all)
      #expect(result.bytes(0, 1) == [])
      #expect(!result.isNull(0, 1))
    }

    @Test func `Lists of numbers and of texts, also empty ones`() throws {
      let numbers: [Int64] = [.min, -1, 0, 7, .max]
      let texts = ["", "ä😀", "{\"quoted\",'}", "NULL"]
      let result = try connection.runTogether([
        PostgresCommand("SELECT unnest($1)", [.integers(numbers)]),
        PostgresCommand("SELECT unnest($1)", [.texts(texts)]),
        PostgresCommand("SELECT 1 = ANY($1), 'a' = ANY($2)", [.integers([]), .texts([])]),
      ])
      #expect((0..<result[0].count).map { result[0].integer($0, 0) } == numbers)
      #expect((0..<result[1].count).map { result[1].text($0, 0) } == texts)
      #expect(result[2].integer(0, 0) == 0)
      #expect(result[2].integer(0, 1) == 0)
    }

    @Test func `Lists of each type with NULL, as the columns of a table`() throws {
      let result = try connection.run(
        "SELECT * FROM unnest($1, $2, $3)",
        [
          .array(of: .integer, [.integer(7), .null, .integer(-1)]),
          .array(of: .text, [.null, .text(""), .text("ä,}")]),
          .array(of: .bytes, [.bytes([0, 255]), .bytes([]), .null]),
        ])
      #expect(result.count == 3)
      #expect((0..<3).map { result.isNull($0, $0 == 0 ? 1 : $0 == 1 ? 0 : 2) } == [true, true, true])
      #expect([result.integer(0, 0), result.integer(2, 0)] == [7, -1])
      #expect([result.text(1, 1), result.text(2, 1)] == ["", "ä,}"])
      #expect([result.bytes(0, 2), result.bytes(1, 2)] == [[0, 255], []])
      #expect(!result.isNull(1, 1))
      #expect(!result.isNull(1, 2))
    }

    @Test func `NULL differs from an empty value, and its type follows from the statement`() throws {
      try connection.run("CREATE TEMPORARY TABLE t (number bigint, name text, content bytea)")
      try connection.run("INSERT INTO t VALUES ($1, $2, $3)", [.null, .null, .null])
      try connection.run("INSERT INTO t VALUES ($1, $2, $3)", [.integer(0), .text(""), .bytes([])])
      let result = try connection.run("SELECT * FROM t ORDER BY number NULLS FIRST")
      for column in 0..<3 {
        #expect(result.isNull(0, column))
        #expect(!result.isNull(1, column))
        #expect(result.integer(0, column) == 0)
        #expect(result.text(0, column) == "")
        #expect(result.bytes(0, column) == [])
      }
      let same = try connection.run("SELECT count(*) FROM t WHERE name IS NOT DISTINCT FROM $1", [.null])
      #expect(same.integer(0, 0) == 1)
    }

    @Test func `Types that a query may compute`() throws {
      let result = try connection.run(
        "SELECT true, false, 7::int2, -7::int4, 'n'::name, 'v'::varchar, 42::oid, pg_notify('nobody', '')")
      #expect(result.integer(0, 0) == 1)
      #expect(result.integer(0, 1) == 0)
      #expect(result.integer(0, 2) == 7)
      #expect(result.integer(0, 3) == -7)
      #expect(result.text(0, 4) == "n")
      #expect(result.text(0, 5) == "v")
      #expect(result.integer(0, 6) == 42)
      #expect(result.text(0, 7) == "")
    }

    /// sum(bigint) is a numeric.
    @Test(arguments: [
      ("0", 0), ("1", 1), ("-1", -1), ("9999", 9999), ("10000", 10_000),
      ("-123456789012", -123_456_789_012),
      ("100000000", 100_000_000), ("1.9", 1), ("-0.5", 0), ("9223372036854775807", Int64.max),
      ("9223372036854775808", .max), ("-9223372036854775808", .min), ("1e30", .max), ("-1e30", .min),
    ])
    func `Sums`(text: String, number: Int64) throws {
      #expect(try connection.run("SELECT \(text)::numeric").integer(0, 0) == number)
    }

    @Test func `A type that is not read is refused, and the connection works on`() throws {
      #expect(failure { () throws(PostgresError) in try connection.run("SELECT now()") }?.kind == .misuse)
      #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
    }

    @Test func `A NUL in a text is refused by the server, not cut off`() throws {
      let error = failure { () throws(PostgresError) in try connection.run("SELECT $1", [.text("a\0secret")])
      }
      #expect(error?.kind == .misuse)
      #expect(error?.description.contains("secret") == false)
      #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
    }

    @Test func `What is outside a result reads as NULL`() throws {
      let result = try connection.run("SELECT 1")
      for (row, column) in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
        #expect(result.isNull(row, column))
        #expect(result.integer(row, column) == 0)
        #expect(result.bytes(row, column) == [])
      }
    }
  }
}
