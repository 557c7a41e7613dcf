// Tests connection settings, and how a connection is opened.

import Platform
import PostgresStore
import TestSupport
import Testing

extension PostgresTests {
  @Suite("Connection settings")
  struct Settings {
    private func refusal(_ text: String) -> PostgresError? {
      failure { () throws(PostgresError) in _ = try PostgresSettings(text) }
    }

    @Test(arguments: [
      ("postgres://u:secret@db1,db2:5433/receipts", "database receipts on db1, db2:5433"),
      ("postgresql://u@%2Frun%2Fpostgresql/r?sslmode=require", "database r on /run/postgresql"),
      ("host=db port=5432 user=u password=secret dbname=r", "database r on db"),
      ("hostaddr=127.0.0.1 dbname=r", "database r on 127.0.0.1"),
      ("postgres://u:p%40ss@db/r", "database r on db"),
    ])
    func `They are described without user and password`(text: String, description: String) throws {
      #expect(try PostgresSettings(text).description == description)
    }

    @Test(arguments: [
      "postgres://u:se@cret@db/r", "postgres://u:p@secret/word@db/r", "postgres://u@db/r?secret=1",
      "postgres://u:se/cret@db/r", "postgres://u:p@ss:secret@db/r", "host=db password=se cr\"et",
      "postgres://u:%zz\"secret@db/r", "host=db port=secret", "host=db dbname=secret@db",
      "host=db password=se cret", "host='db secret", "postgres://u:%zzsecret@db/r", "a\0secret",
      "secret", "postgres://u@[secret/r",
    ])
    func `Mistakes are named without quoting what may be a password (R7)`(text: String) throws {
      let error = try #require(refusal(text))
      #expect(error.kind == .invalidSettings)
      #expect(!error.description.contains("cret"), "\(error)")
    }

    @Test func `Lists that do not match`() {
      #expect(refusal("host=a,b hostaddr=127.0.0.1")?.reason.contains("2 hosts but 1 addresses") == true)
      #expect(refusal("host=a,b port=1,2,3")?.reason.contains("2 hosts but 3 ports") == true)
      #expect(refusal("host=a,b port=1") == nil)
      #expect(refusal("host=a,,b")?.kind == .invalidSettings)
      #expect(refusal("host=a port=70000")?.kind == .invalidSettings)
    }

    @Test(arguments: ["service=s", "target_session_attrs=prefer-standby", "connect_timeout=soon"])
    func `Parameters that depend on several hosts, or on a file, are refused`(parameter: String) {
      let name = String(parameter.prefix { $0 != "=" })
      #expect(refusal("host=db \(parameter)")?.reason.contains(name) == true)
    }

    @Test(arguments: [("", 5), ("0", 5), ("-1", 5), ("1", 2), ("30", 30)])
    func `The time limit for a host`(text: String, seconds: Int64) throws {
      let settings = try PostgresSettings("host=db" + (text.isEmpty ? "" : " connect_timeout=\(text)"))
      #expect(settings.connectTime == .seconds(seconds))
    }
  }

  @Suite("Opening a connection")
  struct Opening {
    private let server: PostgresServer

    init() throws { server = try PostgresServer.shared.get() }

    /// Longer than a label of a name can be (RFC 1035 section 2.3.4), so that no resolver is asked.
    private static let noName = String(repeating: "x", count: 64)

    private func open(_ text: String) throws(PostgresError) -> PostgresConnection {
      try .open(PostgresSettings(text), timeLimit: .seconds(60), application: "relay tests")
    }

    @Test func `The server knows the program and its encoding, and this side the server's version`() throws {
      let connection = try open(server.url("postgres"))
      let result = try connection.run(
        "SELECT current_setting('application_name'), current_setting('client_encoding')")
      #expect(result.text(0, 0) == "relay tests")
      #expect(result.text(0, 1) == "UTF8")
      #expect(connection.serverVersion >= 130_000)
      let other = try open(server.url("postgres", ["application_name=mine"]))
      #expect(try other.run("SELECT current_setting('application_name')").text(0, 0) == "mine")
    }

    @Test func `A host that refuses and one that does not exist are passed over`() throws {
      let port = try ReservedPort()
      let text =
        "host=127.0.0.1,\(Self.noName),\(server.folder) port=\(port.number),5432,\(server.port) "
        + "user=receiptd dbname=postgres"
      #expect(try open(text).isOpen)
    }

    @Test func `A silent host is passed over after its time limit`() throws {
      // It is connected by the kernel, and nobody answers.
      let silent = try ReservedPort(listens: true)
      let text =
        "host=127.0.0.1,\(server.folder) port=\(silent.number),\(server.port) user=receiptd dbname=postgres "
        + "connect_timeout=2"
      let start = MonotonicInstant.now()
      #expect(try open(text).isOpen)
      #expect(MonotonicInstant.now().duration(since: start) >= .seconds(2))
    }

    @Test func `If no host accepts, the error has the reason of each`() throws {
      let port = try ReservedPort()
      let error = failure { () throws(PostgresError) in
        _ = try open("host=localhost,/nowhere port=\(port.number) user=u password=secret dbname=postgres")
      }
      #expect(error?.kind == .cannotConnect)
      #expect(error?.reason.contains("Connection refused") == true)
      #expect(error?.reason.contains("No such file or directory") == true)
      #expect(error?.description.contains("secret") == false)
    }

    @Test func `A database and a user that do not exist are not allowed`() {
      let database = failure { () throws(PostgresError) in _ = try open(server.url("nothing")) }
      #expect(database?.kind == .notAllowed)
      #expect(database?.state == "3D000")
      #expect(database?.reason.contains("database \"nothing\" does not exist") == true)
      let user = failure { () throws(PostgresError) in
        _ = try open("host=\(server.folder) port=\(server.port) user=nobody dbname=postgres")
      }
      #expect(user?.kind == .notAllowed)
      #expect(user?.state == "28000")
    }

    @Test func `A database whose encoding is not UTF-8 is refused`() throws {
      let name = "latin_\(try server.makeDatabase())"
      try server.connect().run(
        "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc")
      let error = failure { () throws(PostgresError) in _ = try open(server.url(name)) }
      #expect(error?.kind == .invalidSettings)
      #expect(error?.reason.contains("LATIN1") == true)
    }

    @Test(arguments: [true, false])
    func `With TLS: large answers, and a certificate that is not trusted`(isTrusted: Bool) throws {
      let file = isTrusted ? server.folder + "/server.crt" : "/nowhere"
      let text =
        "host=localhost port=\(server.port) user=receiptd dbname=postgres sslmode=verify-full "
        + "sslrootcert=\(file)"
      guard isTrusted else {
        #expect(failure { () throws(PostgresError) in _ = try open(text) }?.kind == .cannotConnect)
        return
      }
      let connection = try open(text)
      #expect(
        try connection.run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").integer(0, 0) == 1)
      let sent = String(repeating: "x", count: 3 << 20)
      let results = try connection.runTogether(
        (0..<8).map { _ in PostgresCommand("SELECT $1", [.text(sent)]) })
      #expect(results.allSatisfy { $0.text(0, 0) == sent })
    }

    @Test func `A server that is killed is lost, and can be connected to when it is back`() throws {
      let own = try PostgresServer(["fsync=off"])
      let connection = try own.connect()
      try own.kill()
      let error = failure { () throws(PostgresError) in try connection.run("SELECT 1") }
      #expect(error?.kind == .connectionLost)
      #expect(failure { () throws(PostgresError) in _ = try own.connect() }?.kind == .cannotConnect)
      try own.start()
      #expect(try own.connect().run("SELECT 1").integer(0, 0) == 1)
    }

    @Test func `A database that only reads is not one to write to`() throws {
      let name = try server.makeDatabase()
      try server.connect().run("ALTER DATABASE \(name) SET default_transaction_read_only = on")
      let error = failure { () throws(PostgresError) in
        _ = try open(server.url(name, ["target_session_attrs=read-write"]))
      }
      #expect(error?.kind == .cannotConnect)
      #expect(error?.reason.contains("read-only") == true)
      #expect(try open(server.url(name)).isOpen)
    }
  }
}
