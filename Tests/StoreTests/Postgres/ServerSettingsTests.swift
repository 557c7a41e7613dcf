// Tests that the settings of a server, a database and a role change nothing but what an administrator means
// by them: the schema, isolation, time limits, passwords, standbys.

import Domain
import Store
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Settings of a server", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct ServerSettingsTests {
  private let server: PostgresServer
  private let database: String

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
  }

  private func engine(
    _ url: String? = nil, isOwner: Bool = true, readURL: @escaping @Sendable () -> String? = { nil }
  ) throws(StoreError) -> PostgresEngine {
    try PostgresEngine(
      url ?? server.url(database), isOwner: isOwner, application: "settings", allowsUnsafe: true,
      readURL: readURL)
  }

  private func writer(_ engine: PostgresEngine) throws(StoreError) -> StoreWriter {
    try engine.openWriter(rules: TestStore.rules, random: SystemRandomNumberGenerator())
  }

  private func store(_ number: Int, _ writer: StoreWriter) throws {
    _ = try writer.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: EventID("evt_\(number)"), type: "t", body: [],
        content: .nothing(.ignored)), now: TestStore.start)
  }

  private func events(of engine: PostgresEngine) throws -> Int64? {
    try engine.openReader().connection.integer("SELECT count(*) FROM events")
  }

  @Test("A schema that gets the role's name hides no tables, from a running program or from the next one")
  func laterSchema() throws {
    let running = try engine()
    let writer = try writer(running)
    try store(1, writer)
    try server.connect(database).run("CREATE SCHEMA receiptd")
    try store(2, writer)
    let next = try engine()
    try store(3, try self.writer(next))
    try store(4, writer)
    #expect(try events(of: next) == 4)
    #expect(try events(of: try engine(isOwner: false)) == 4)
    let tables = try server.connect(database).run(
      "SELECT count(*) FROM pg_class WHERE relname IN ('schema_version', 'events')")
    #expect(tables.integer(0, 0) == 2, "there is one set")
  }

  @Test(
    "Tables in two schemas of the search path are refused, with both names; another program's are not ours")
  func twoSchemas() throws {
    let connection = try server.connect(database)
    try connection.run("CREATE SCHEMA receiptd")
    try connection.run("CREATE TABLE public.schema_version (version bigint)")
    try store(1, try writer(try engine()))
    try connection.run("DROP TABLE public.schema_version")
    try connection.run("CREATE TABLE public.schema_version (version bigint, usable_from bigint)")
    #expect(throws: StoreError.severalSchemas(["receiptd", "public"])) { try writer(try engine()) }
    #expect(throws: StoreError.severalSchemas(["receiptd", "public"])) {
      try engine(isOwner: false).openReader()
    }
  }

  @Test(
    "The isolation and the lock_timeout of a database change no migration and no batch",
    arguments: ["serializable", "repeatable read"])
  func ownSettings(isolation: String) throws {
    let connection = try server.connect(database)
    for setting in ["default_transaction_isolation TO '\(isolation)'", "lock_timeout TO '1ms'"] {
      try connection.run("ALTER DATABASE \"\(database)\" SET \(setting)")
    }
    let engines = [try engine(), try engine()]
    let writers = try engines.map(writer)
    for number in 0..<20 { try store(number, writers[number % 2]) }
    #expect(try events(of: engines[0]) == 20)
  }

  @Test("A query that waits for a locked table ends on the server, too, and leaves no session behind")
  func lockedTable() throws {
    let engine = try engine()
    try store(1, try writer(engine))
    let blocker = try server.connect(database)
    try blocker.run("BEGIN")
    try blocker.run("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
    for _ in 0..<2 {
      let reader = try engine.openReader()
      do throws(StoreFault) {
        _ = try reader.connection.integer("SELECT count(*) FROM events")
        Issue.record("the table is not locked")
      } catch {
        #expect(error.kind == .busy)
      }
      let waiting = try server.connect().run(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'",
        [.text(database)])
      #expect(waiting.integer(0, 0) == 0)
    }
    try blocker.run("ROLLBACK")
    #expect(try events(of: engine) == 1)
  }

  @Test func `A login that fails reads the URL again: its password may have been changed`() throws {
    let url = server.url(database)
    let engine = try engine(server.url("none"), readURL: { url })
    try store(1, try writer(engine))
    #expect(try events(of: engine) == 1)
    #expect(throws: StoreError.self) { try writer(try self.engine(server.url("none"))) }
  }

  @Test(
    "Several hosts without a synchronous standby are refused at the start, unless the operator accepts it")
  func asynchronous() throws {
    let none = ["synchronous_standby_names": ""]
    func fault(
      hosts: String = "a,b", accepts: Bool = false, isOwner: Bool = true, _ settings: [String: String],
      standbys: Int64 = 1
    ) throws -> String? {
      var source = try PostgresSource(
        "postgres://\(hosts)/x", application: "t", isOwner: isOwner, allowsUnsafe: false)
      source.allowsAsynchronous = accepts
      return source.failoverFault(settings, standbys: standbys)
    }
    #expect(try fault(none)?.contains("database_durability") == true)
    #expect(try fault(hosts: "a", none) == nil, "nothing follows a failover")
    #expect(try fault(accepts: true, none) == nil)
    #expect(try fault(isOwner: false, none) == nil, "receiptctl may look")
    #expect(try fault(none, standbys: 0) == nil, "the rest of a pair must go on")
    #expect(try fault(["synchronous_standby_names": "b"]) == nil)
  }
}
