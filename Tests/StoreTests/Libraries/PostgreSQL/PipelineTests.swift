// Tests several statements in one round trip, transactions, and the messages of the server.

import PostgresStore
import TestSupport
import Testing

extension PostgresTests {
  @Suite("Statements that are sent together")
  struct Pipelines {
    private let connection: PostgresConnection

    init() throws {
      connection = try PostgresServer.shared.get().connect()
      try connection.run("CREATE TEMPORARY TABLE t (number bigint PRIMARY KEY, name text)")
    }

    private func insert(_ number: Int64) -> PostgresCommand {
      PostgresCommand("INSERT INTO t VALUES ($1, $2)", [.integer(number), .text("n\(number)")])
    }

    private func count() throws -> Int64 { try connection.run("SELECT count(*) FROM t").integer(0, 0) }

    @Test func `They cost one round trip, and each has its result`() throws {
      let before = (connection.roundTrips, connection.statements)
      let results = try connection.runTogether(
        [PostgresCommand("BEGIN")] + (0..<100).map(insert)
          + [PostgresCommand("SELECT name FROM t ORDER BY number DESC"), PostgresCommand("COMMIT")])
      #expect(connection.roundTrips == before.0 + 1)
      #expect(connection.statements == before.1 + 103)
      #expect(results.count == 103)
      #expect(results[1].changedRows == 1)
      #expect(results[101].count == 100)
      #expect(results[101].text(0, 0) == "n99")
      #expect(!connection.isInTransaction)
      #expect(try connection.runTogether([]).isEmpty)
    }

    @Test func `If one fails, none of them has an effect, and its error is thrown`() throws {
      let error = failure { () throws(PostgresError) in
        try connection.runTogether([insert(1), insert(1), PostgresCommand("SELECT nothing"), insert(2)])
      }
      #expect(error?.kind == .constraint)
      #expect(try count() == 0)
      try connection.runTogether([insert(1), insert(2)])
      #expect(try count() == 2)
    }

    @Test func `A failed transaction stays open until it is rolled back`() throws {
      try connection.runTogether([PostgresCommand("BEGIN"), insert(1)])
      #expect(connection.isInTransaction)
      #expect(
        failure { () throws(PostgresError) in try connection.run("SELECT nothing FROM t") }?.kind == .misuse)
      #expect(connection.isInTransaction)
      #expect(failure { () throws(PostgresError) in try connection.run("SELECT 1") }?.state == "25P02")
      try connection.run("ROLLBACK")
      #expect(!connection.isInTransaction)
      #expect(try count() == 0)
    }

    @Test func `More than fits into the buffers of a socket, in both directions at once`() throws {
      let text = String(repeating: "x", count: 1 << 20)
      let results = try connection.runTogether(
        (0..<24).map { _ in PostgresCommand("SELECT $1, $1", [.text(text)]) })
      #expect(results.allSatisfy { $0.text(0, 1) == text })
    }

    @Test func `Errors name the statement by its first word; one call is one statement`() {
      for (sql, word) in [("  SELECT nothing", "SELECT"), ("nonsense", "nonsense"), ("(SELECT 1", "SELECT")] {
        #expect(failure { () throws(PostgresError) in try connection.run(sql) }?.operation == word)
      }
      #expect(
        failure { () throws(PostgresError) in try connection.run("SELECT 1; SELECT 2") }?.kind == .misuse)
    }

    @Test func `Notifications arrive, in order, also with other results`() throws {
      let other = try PostgresServer.shared.get().connect()
      try connection.run("LISTEN pipeline_tests")
      #expect(try connection.notifications(within: .zero) == [])
      try other.run("SELECT pg_notify('pipeline_tests', $1)", [.text("first")])
      try other.run("SELECT pg_notify('pipeline_tests', $1)", [.text("second")])
      var found: [PostgresNotification] = []
      while found.count < 2 { found += try connection.notifications(within: .seconds(60)) }
      #expect(found.map(\.payload) == ["first", "second"])
      #expect(found.map(\.channel) == ["pipeline_tests", "pipeline_tests"])
      try other.run("SELECT pg_notify('pipeline_tests', 'third')")
      // The server sends it before the next result.
      try connection.run("SELECT 1")
      #expect(try connection.notifications(within: .zero).map(\.payload) == ["third"])
    }
  }
}
