// Tests an engine's connection: values are read back unchanged, transactions are atomic, and faults have the
// right kind.

import Domain
import Testing

@testable import Store

@Suite("A connection of the engine", .everyEngine)
struct EngineConnectionTests {
  private let store: TestStore
  private let connection: any EngineConnection

  init() throws {
    store = try TestStore()
    connection = try TestEngine.current.connect(store.folder)
  }

  private static let insert = "INSERT INTO service_reports (name, at, content) VALUES (?1, ?2, ?3)"

  private func insert(_ name: String, at moment: Int64 = 1, _ content: String = "{}") throws(StoreFault) {
    try connection.run(Self.insert, [.text(name), .integer(moment), .text(content)])
  }

  private func count(_ connection: StoreConnection) throws -> Int64? {
    try connection.integer("SELECT count(*) FROM service_reports")
  }

  private func fault(_ body: () throws(StoreFault) -> Void) -> StoreFault? {
    do throws(StoreFault) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max])
  func `Numbers and texts are read back unchanged`(number: Int64) throws {
    let texts = ["", "'quoted'; --", "ä\u{301}😀", "a\nb", String(repeating: "x", count: 100_000)]
    for (index, text) in texts.enumerated() {
      try insert("\(index)", at: number, text)
      let found = try StoreConnection(connection).prepare(
        "SELECT at, content FROM service_reports WHERE name = ?1"
      ).all([.text("\(index)")]) { row throws(StoreFault) in (row.integer(0), try row.text(1)) }
      #expect(found.map(\.0) == [number])
      #expect(found.map(\.1) == [text])
    }
  }

  @Test func `Bytes are read back unchanged, and NULL differs from an empty value`() throws {
    let bytes = (0...255).map(UInt8.init) + [0]
    try connection.run(
      """
      INSERT INTO events (app, processor, event_id, type, outcome, received_at, purchase_row, body)
      VALUES ('ios', 'stripe', 'evt', '', 'ignored', 0, ?1, ?2)
      """, [.null, .blob(bytes)])
    let found = try StoreConnection(connection).prepare("SELECT purchase_row, body, type FROM events").all {
      row throws(StoreFault) in
      (row.optionalInteger(0), row.blob(1), try row.optionalText(2), row.isNull(2), row.integer(0))
    }
    #expect(found.count == 1)
    #expect(found.first?.0 == nil)
    #expect(found.first?.1 == bytes)
    #expect(found.first?.2 == "")
    #expect(found.first?.3 == false)
    #expect(found.first?.4 == 0)
  }

  @Test func `Rows are read in the requested order, each time`() throws {
    for (index, name) in ["c", "a", "b"].enumerated() { try insert(name, at: Int64(index)) }
    let asking = try StoreConnection(connection).prepare(
      "SELECT name FROM service_reports WHERE at >= ?1 ORDER BY name")
    for _ in 0..<2 {
      #expect(try asking.all([0]) { row throws(StoreFault) in try row.text(0) } == ["a", "b", "c"])
    }
    #expect(try asking.first([1]) { row throws(StoreFault) in try row.text(0) } == "a")
    #expect(try asking.all([9]) { row throws(StoreFault) in try row.text(0) } == [])
  }

  @Test func `A statement says how many rows it changed`() throws {
    for name in ["a", "b"] { try insert(name) }
    let statement = try StoreConnection(connection).prepare("UPDATE service_reports SET at = ?1")
    #expect(try statement.count([2]) == 2)
    let none = try StoreConnection(connection).prepare("DELETE FROM service_reports WHERE name = ?1")
    #expect(try none.count(["c"]) == 0)
    #expect(fault { () throws(StoreFault) in try none.changeOne(["c"], for: "test") }?.kind == .constraint)
    #expect(fault { () throws(StoreFault) in try none.changeOne(["a"], for: "test") } == nil)
  }

  @Test func `A reader sees a transaction when it is committed, and all of it at once (R1)`() throws {
    let reader = try store.engine.openReader().connection
    try connection.begin()
    #expect(connection.isInTransaction)
    try insert("a")
    #expect(try count(reader) == 0)
    #expect(try count(StoreConnection(connection)) == 1)
    try connection.commit()
    #expect(!connection.isInTransaction)
    #expect(try count(reader) == 1)
  }

  @Test func `A snapshot shows one moment, whatever is committed meanwhile`() throws {
    let reader = try store.engine.openReader().connection
    let seen = try reader.snapshot { () throws(StoreFault) in
      let before = try reader.integer("SELECT count(*) FROM service_reports")
      try insert("a")
      return [before, try reader.integer("SELECT count(*) FROM service_reports")]
    }
    #expect(seen == [0, 0])
    #expect(try count(reader) == 1)
  }

  @Test func `Nothing is left of a transaction that is rolled back, and the next one works`() throws {
    struct Stop: Error {}
    let whole = StoreConnection(connection)
    let error = fault { () throws(StoreFault) in
      try whole.transaction { () throws(StoreFault) in
        try insert("a")
        throw StoreFault(.misuse, operation: "test", reason: "test")
      }
    }
    #expect(error?.kind == .misuse)
    #expect(try count(whole) == 0)
    connection.rollBack()
    try whole.transaction { () throws(StoreFault) in try insert("b") }
    #expect(try count(whole) == 1)
  }

  @Test func `A reader cannot write`() throws {
    let reader = try store.engine.openReader().connection
    let error = fault { () throws(StoreFault) in
      try reader.prepare("DELETE FROM service_reports").run()
    }
    #expect(error?.kind == .readOnly || error?.kind == .standby)
  }

  @Test(arguments: [
    "INSERT INTO service_reports (name, at, content) VALUES ('a', 1, '{}')",
    "INSERT INTO service_reports (name, at, content) VALUES ('b', NULL, '{}')",
    "INSERT INTO breakers (app, destination, state, failures, paused_ms) VALUES ('ios', 'd', 'ajar', 0, 0)",
    "INSERT INTO look_ups (purchase_row, app, due_at, tries) VALUES (77, 'ios', 0, 0)",
  ])
  func `A violation of the schema is a constraint fault`(sql: String) throws {
    try insert("a")
    let error = fault { () throws(StoreFault) in try connection.run(sql) }
    #expect(error?.kind == .constraint)
    #expect(error?.kind.mayConcernOneCommand == true)
    #expect(error?.description.contains("ajar") == false, "nothing that was to be stored is in it (R7)")
  }

  @Test func `SQL that is wrong, and too few values, are this program's fault`() throws {
    #expect(
      fault { () throws(StoreFault) in try connection.run("SELECT nothing FROM nowhere") }?.kind == .misuse)
    #expect(fault { () throws(StoreFault) in try connection.run(Self.insert, ["a"]) }?.kind == .misuse)
    try insert("a")
    #expect(try count(StoreConnection(connection)) == 1, "the connection still works")
  }

  @Test(
    "A write that the engine cannot make fails with its kind, and is made once it can",
    arguments: [StoreFault.Kind.busy, .full, .readOnly])
  func failures(kind: StoreFault.Kind) throws {
    let failing = try #require(TestEngine.current.failures[kind])
    let whole = StoreConnection(connection)
    let end = try failing(store.folder, connection)
    let content = String(repeating: "x", count: 1 << 20)
    let error = fault { () throws(StoreFault) in
      try whole.transaction { () throws(StoreFault) in try insert("large", content) }
    }
    #expect(error?.kind == kind || (kind == .readOnly && error?.kind == .standby))
    #expect(try count(store.reader.connection) == 0)
    try end()
    try whole.transaction { () throws(StoreFault) in try insert("large", content) }
    #expect(try count(store.reader.connection) == 1)
    #expect(try whole.integrityFaults().isEmpty)
  }

  @Test func `A sync that failed concerns the whole database (R1), a constraint the command alone`() {
    let command: [StoreFault.Kind] = [.constraint, .misuse, .corrupt, .full]
    let whole: [StoreFault.Kind] = [
      .busy, .inputOutput, .syncFailed, .readOnly, .standby, .notPermitted, .moved, .cannotOpen, .outOfMemory,
      .interrupted,
      .unavailable, .conflict,
    ]
    #expect(command.allSatisfy { $0.mayConcernOneCommand })
    #expect(!whole.contains { $0.mayConcernOneCommand })
  }

  @Test func `What was committed is there after all connections were closed (R1, R9)`() throws {
    try insert("a")
    try store.reopen()
    #expect(try count(store.reader.connection) == 1)
    #expect(try store.reader.connection.freeBytes() >= 0)
    #expect(store.engine.troubles.isEmpty)
    #expect(store.engine.space.parts.contains { $0.bytes > 0 })
  }
}
