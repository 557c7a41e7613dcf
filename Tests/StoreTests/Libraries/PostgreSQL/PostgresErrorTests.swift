// Tests how errors are classified, and that they contain no data.

import Platform
import TestSupport
import Testing

@testable import PostgresStore

extension PostgresTests {
  @Suite("Errors of PostgreSQL")
  struct Errors {
    private let server: PostgresServer
    private let connection: PostgresConnection

    init() throws {
      server = try PostgresServer.shared.get()
      connection = try server.connect(server.makeDatabase())
      try connection.run("CREATE TABLE t (number bigint PRIMARY KEY CHECK (number < 9), name text NOT NULL)")
      try connection.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    }

    @Test(arguments: [
      ("INSERT INTO t VALUES (1, 'secret')", PostgresError.Kind.constraint),
      ("INSERT INTO t VALUES (9, 'secret')", .constraint), ("INSERT INTO t VALUES (3, NULL)", .constraint),
      ("SELECT secret FROM", .misuse), ("SELECT 'secret'::bigint", .misuse), ("SELECT 1 / 0", .misuse),
      ("SELECT chr(-1) || 'secret'", .misuse), ("LOCK t", .misuse),
    ])
    func `The kinds of statements that fail`(sql: String, kind: PostgresError.Kind) throws {
      let error = try #require(failure { () throws(PostgresError) in try connection.run(sql) })
      #expect(error.kind == kind)
      #expect(error.state?.utf8.count == 5)
      #expect(!error.description.contains("secret"))
      #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 2)
    }

    @Test func `A constraint's name is in the error, a row's values are not (R7)`() throws {
      let error = failure { () throws(PostgresError) in
        try connection.run("INSERT INTO t VALUES ($1, $2)", [.integer(1), .text("secret")])
      }
      #expect(error?.description == "INSERT: a row violates t_pkey (SQLSTATE 23505)")
      let value = failure { () throws(PostgresError) in
        try connection.run("SELECT $1::bigint", [.text("secret")])
      }
      #expect(value?.description == "SELECT: the server refused it (SQLSTATE 22P02)")
    }

    /// The name of the connection's database.
    private func database() throws -> String { try connection.run("SELECT current_database()").text(0, 0) }

    @Test func `A transaction that conflicts with another fails as a conflict`() throws {
      let other = try server.connect(database())
      for one in [connection, other] {
        try one.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        try one.run("SELECT 1 FROM t")
      }
      try other.runTogether([PostgresCommand("UPDATE t SET name = 'c'"), PostgresCommand("COMMIT")])
      let error = failure { () throws(PostgresError) in try connection.run("UPDATE t SET name = 'd'") }
      #expect(error?.kind == .conflict)
      #expect(error?.state == "40001")
    }

    @Test func `Of two transactions that wait for each other, one fails as a conflict`() throws {
      try connection.run("SET deadlock_timeout = '1ms'")
      try connection.run("BEGIN")
      try connection.run("SELECT 1 FROM t WHERE number = 1 FOR UPDATE")
      let (server, database) = (server, try database())
      let waiting = try WorkerThread(name: "waiting") {
        guard let other = try? server.connect(database) else { return }
        // This side does not look for a deadlock, so the other one fails.
        for sql in [
          "SET deadlock_timeout = '1h'", "BEGIN", "SELECT 1 FROM t WHERE number = 2 FOR UPDATE",
          "SELECT 1 FROM t WHERE number = 1 FOR UPDATE",
        ] { _ = try? other.run(sql) }
      }
      let observer = try server.connect(database)
      let blocked =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        + "AND wait_event_type = 'Lock'"
      while try observer.run(blocked).integer(0, 0) == 0 {}
      let error = failure { () throws(PostgresError) in
        try connection.run("SELECT 1 FROM t WHERE number = 2 FOR UPDATE")
      }
      try connection.run("ROLLBACK")
      waiting.join()
      #expect(error?.state == "40P01")
      #expect(error?.kind == .conflict)
    }

    @Test func `A lock that is held, and a statement that takes too long, time out`() throws {
      let other = try server.connect(database())
      try other.run("BEGIN")
      try other.run("SELECT 1 FROM t FOR UPDATE")
      for (limit, statement, state) in [
        ("lock_timeout", "DELETE FROM t", "55P03"), ("statement_timeout", "SELECT pg_sleep(60)", "57014"),
      ] {
        try connection.run("BEGIN")
        let error = failure { () throws(PostgresError) in
          try connection.runTogether([
            PostgresCommand("SET LOCAL \(limit) = '1ms'"), PostgresCommand(statement),
          ])
        }
        #expect(error?.state == state)
        #expect(error?.kind == .timedOut)
        try connection.run("ROLLBACK")
      }
    }

    @Test func `A transaction that only reads refuses a change`() throws {
      try connection.run("BEGIN READ ONLY")
      #expect(failure { () throws(PostgresError) in try connection.run("DELETE FROM t") }?.kind == .readOnly)
    }

    @Test func `A COMMIT of a failed transaction is an error, and so is one without a transaction`() throws {
      try connection.run("BEGIN")
      try connection.run("INSERT INTO t VALUES (3, 'c')")
      _ = failure { () throws(PostgresError) in try connection.run("SELECT nothing FROM t") }
      let failed = failure { () throws(PostgresError) in try connection.run("COMMIT") }
      #expect(failed?.description == "COMMIT: the transaction had failed and was rolled back")
      let none = failure { () throws(PostgresError) in try connection.run("COMMIT") }
      #expect(none?.description == "COMMIT: there is no transaction (SQLSTATE 25P01)")
      #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 2)
      try connection.runTogether(
        ["BEGIN", "INSERT INTO t VALUES (3, 'c')", "COMMIT"].map { PostgresCommand($0) })
      #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 3)
    }

    @Test func `An error at the end of statements without a transaction is one of them`() throws {
      try connection.run("CREATE TABLE d (number bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
      let error = failure { () throws(PostgresError) in
        try connection.run("INSERT INTO d VALUES (1), (1)")
      }
      #expect(error?.kind == .constraint)
      #expect(connection.isOpen)
      #expect(try connection.run("SELECT count(*) FROM d").integer(0, 0) == 0)
    }

    @Test(arguments: ["", "-- nothing", "COPY t FROM STDIN"])
    func `Statements without a plain result are refused`(sql: String) throws {
      #expect(failure { () throws(PostgresError) in try connection.run(sql) }?.kind == .misuse)
    }

    @Test func `A wrong number of parameters is this program's fault, and the connection works on`() throws {
      let error = failure { () throws(PostgresError) in try connection.run("SELECT $1 || $2", [.text("a")]) }
      #expect(error?.kind == .misuse)
      #expect(connection.isOpen)
    }

    @Test func `A user without a right`() throws {
      let backend = try connection.backend()
      try connection.run("CREATE ROLE guest_\(backend)")
      try connection.run("SET ROLE guest_\(backend)")
      #expect(
        failure { () throws(PostgresError) in try connection.run("DELETE FROM t") }?.kind == .notAllowed)
      try connection.run("RESET ROLE")
      try connection.run("DROP ROLE guest_\(backend)")
    }

    @Test func `A session that the server ends is lost, and the next call says so`() throws {
      let backend = try connection.backend()
      // The server answers when the session has ended.
      let isEnded = try server.connect().run(
        "SELECT pg_terminate_backend($1::int, 60000)", [.integer(backend)])
      #expect(isEnded.integer(0, 0) == 1)
      let error = failure { () throws(PostgresError) in try connection.run("SELECT 1") }
      #expect(error?.kind == .connectionLost)
      #expect(error?.state == "57P01")
      #expect(!connection.isOpen)
      #expect(!connection.isInTransaction)
      let next = failure { () throws(PostgresError) in try connection.run("SELECT 1") }
      #expect(next?.description == "SELECT: the connection is closed")
      let waiting = failure { () throws(PostgresError) in _ = try connection.notifications(within: .zero) }
      #expect(waiting?.kind == .connectionLost)
    }

    @Test func `An idle transaction that the server ends is lost, with the reason`() throws {
      try connection.run("SET idle_in_transaction_session_timeout = '1ms'")
      try connection.run("BEGIN")
      let error = failure { () throws(PostgresError) in
        _ = try connection.notifications(within: .seconds(60))
      }
      #expect(error?.kind == .connectionLost)
      #expect(error?.state == "25P03")
    }

    @Test func `A server that is silent is noticed within the time limit`() throws {
      let backend = try connection.backend()
      try server.run("kill -STOP \(backend)")
      connection.timeLimit = .milliseconds(50)
      let error = failure { () throws(PostgresError) in try connection.run("SELECT 1") }
      try server.run("kill -CONT \(backend)")
      #expect(error?.kind == .connectionLost)
      #expect(error?.reason.hasPrefix("no answer within") == true)
      #expect(!connection.isOpen)
    }
  }

  @Suite("The kinds of errors")
  struct Kinds {
    @Test(arguments: [
      ("40001", PostgresError.Kind.conflict), ("40P01", .conflict), ("40003", .unknownOutcome),
      ("57014", .timedOut), ("55P03", .timedOut), ("57P03", .cannotConnect), ("3D000", .notAllowed),
      ("28P01", .notAllowed), ("42501", .notAllowed), ("53100", .full), ("53200", .exhausted),
      ("53300", .exhausted), ("25006", .readOnly), ("23505", .constraint), ("23503", .constraint),
      ("XX001", .corrupt), ("XX002", .corrupt), ("58030", .inputOutput), ("08P01", .misuse),
      ("22P02", .misuse), ("42P01", .misuse), ("XX000", .misuse),
    ])
    func `SQLSTATEs`(state: String, kind: PostgresError.Kind) {
      #expect(PostgresError.kind(of: state) == kind)
    }

    @Test func `An error that ends the session is a loss, whatever its SQLSTATE`() {
      for state in ["40001", "53200", "25P04", "57P01"] {
        let error = PostgresError(
          state: state, endsSession: true, message: "m", constraint: nil, operation: "SELECT")
        #expect(error.kind == .connectionLost)
      }
    }
  }
}

extension PostgresConnection {
  /// The process of the server that serves this connection.
  fileprivate func backend() throws -> Int64 { try run("SELECT pg_backend_pid()").integer(0, 0) }
}
