// Interruptions of a copy, its comparison, and what keeps two databases from being used.

import Domain
import Platform
import TestSupport
import Testing

@testable import PostgresStore
@testable import Store

/// Ends a copy.
private let stop = StoreFault(.interrupted, operation: "copy", reason: "stopped")

@Suite("Marks of a copy", .bothEngines)
struct CopyMarkTests {
  private static let ways: [(from: TestEngine, to: TestEngine)] = [
    (.sqlite, .postgres), (.postgres, .sqlite), (.postgres, .postgres),
  ]

  /// A database with rows in each table.
  private func filled(_ engine: TestEngine, seed: UInt64 = 7, steps: Int = 60) throws -> CopyPlace {
    let filled = try TestEngine.$current.withValue(engine) { try FilledStore(seed: seed, steps: steps) }
    return CopyPlace(engine, of: filled.random.store)
  }

  /// A copy that has all rows, but is not finished.
  private func copied(
    _ from: TestEngine, to: TestEngine
  ) throws -> (source: CopyPlace, target: CopyPlace, copy: StoreCopy) {
    let (source, target) = (try filled(from), try CopyPlace(to))
    let copy = try source.copy(to: target)
    try copy.copyRows { _, _ in }
    return (source, target, copy)
  }

  /// In the first two ways each engine is a source and a target.
  @Test(arguments: 0...1)
  func `Interrupted after each slice, a copy continues and stores each row once`(way: Int) throws {
    let (from, to) = Self.ways[way]
    let (source, target) = (try filled(from), try CopyPlace(to))
    var runs = 0
    while true {
      let copy = try source.copy(to: target)
      #expect(copy.continuesEarlierRun == (runs > 0))
      runs += 1
      var calls = 0
      do {
        try copy.copyRows { _, _ throws(StoreFault) in
          calls += 1
          // The first call reports what was copied before.
          if calls == 2 { throw stop }
        }
      } catch {
        #expect(error == .fault(stop))
        continue
      }
      break
    }
    #expect(runs > CopyTable.all.count + 5)
    let copy = try source.copy(to: target)
    #expect(copy.progress.table == nil)
    try copy.copyRows { _, _ in }
    let found = try CopyTable.all.map { try copy.compare($0) { _ in } }
    #expect(found.filter { !$0.isEqual } == [])
    try copy.finish(CopyPlace.entry, now: TestStore.start)
    #expect(try target.rows().mapValues(\.count) == Self.counts(source))
  }

  /// The target's audit has an entry about the copy.
  private static func counts(_ source: CopyPlace) throws -> [String: Int] {
    var counts = try source.rows().mapValues(\.count)
    counts["audit", default: 0] += 1
    return counts
  }

  @Test func `A lost connection interrupts a copy, too; two runs at once do not both store a slice`() throws {
    let (source, target) = (try filled(.sqlite), try CopyPlace(.postgres))
    let name = try PostgresDatabases.name(of: target.folder)
    let server = try PostgresServer.shared.get()
    let copy = try source.copy(to: target)
    #expect(throws: CopyFault.self) {
      try copy.copyRows { table, rows throws(StoreFault) in
        guard table.name == "purchases", rows > 0 else { return }
        do {
          try server.connect().run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        } catch { throw stop }
      }
    }
    let (first, second) = (try source.copy(to: target), try source.copy(to: target))
    try first.copyRows { _, _ in }
    #expect(throws: CopyFault.fault(.rowChanged("note the progress"))) {
      try second.copyRows { _, _ in }
    }
    let found = try CopyTable.all.map { try first.compare($0) { _ in } }
    #expect(found.filter { !$0.isEqual } == [])
  }

  @Test func `A row that differs in the copy is found and named, whichever column it is`() throws {
    let changes: [(sql: String, table: String, difference: String)] = [
      ("UPDATE events SET body = body || X'00' WHERE row_id = 3", "events", "row_id 3"),
      ("UPDATE purchases SET note = 'x' WHERE row_id = 2", "purchases", "row_id 2"),
      ("DELETE FROM audit WHERE row_id = 1", "audit", "row_id 1"),
      (
        "UPDATE payers SET user_id = ''", "payers",
        "processor pay, account , payer , app ios, customer_id payer"
      ),
      (
        "INSERT INTO backfills (app, processor, since) VALUES ('zz', 'stripe', 1)", "backfills",
        "app zz, processor stripe"
      ),
    ]
    let copied = try copied(.sqlite, to: .postgres)
    let connection = try PostgresServer.shared.get().connect(PostgresDatabases.name(of: copied.target.folder))
    for change in changes {
      try connection.run("BEGIN")
      try connection.run(change.sql.replacing("X'00'", with: "'\\x00'::bytea"))
      try connection.run("COMMIT")
      let found = try CopyTable.all.map { try copied.copy.compare($0) { _ in } }.filter { !$0.isEqual }
      let last = found.first { $0.table == change.table }
      #expect(last?.difference == change.difference, "\(found)")
    }
  }

  @Test(arguments: 0...2)
  func `A retired database and an unfinished copy are not written, and can be read`(way: Int) throws {
    let (from, to) = Self.ways[way]
    let (source, target) = (try filled(from), try CopyPlace(to))
    let copy = try source.copy(to: target)
    #expect(throws: StoreError.unfinishedCopy(of: from.name)) { try target.writer() }
    try copy.copyRows { _, _ in }
    #expect(throws: StoreError.unfinishedCopy(of: from.name)) { try target.writer() }
    try copy.finish(CopyPlace.entry, now: TestStore.start)
    #expect(throws: StoreError.retired(to: to.name, at: TestStore.start)) { try source.writer() }
    #expect(try !source.reader().receipts(ReceiptFilter(), limit: 1).isEmpty)
    _ = try target.writer()
    #expect(throws: CopyFault.retired(to: to.name, at: TestStore.start)) { try source.copy(to: target) }
    let database = try source.opened()
    #expect(try database.writing.retirement()?.place == to.name)
    #expect(try database.writing.unretire(CopyPlace.entry) == to.name)
    #expect(try database.writing.unretire(CopyPlace.entry) == nil)
    _ = try source.writer()
  }

  @Test("A crash between retiring the source and completing the copy leaves a copy that can be completed")
  func crashAtTheEnd() throws {
    let (source, target, _) = try copied(.sqlite, to: .postgres)
    try source.execute("UPDATE copies SET state = 'retired' WHERE role = 'source'")
    #expect(throws: StoreError.self) { try source.writer() }
    #expect(throws: StoreError.self) { try target.writer() }
    try source.copyAll(to: target)
    _ = try target.writer()
  }

  @Test("A source that was used after the copy began is not retired; a new copy needs an empty target")
  func usedSource() throws {
    let (source, target, copy) = try copied(.sqlite, to: .postgres)
    _ = try source.writer()
    #expect(throws: CopyFault.sourceChanged) { try copy.finish(CopyPlace.entry, now: TestStore.start) }
    #expect(throws: CopyFault.sourceChanged) { try source.copy(to: target) }
    let other = try filled(.sqlite, seed: 8, steps: 10)
    _ = try other.copy(to: CopyPlace(.postgres))
    #expect(throws: CopyFault.otherCopy(of: "SQLite")) { try other.copy(to: target) }
    #expect(throws: CopyFault.unfinished(of: "SQLite")) { try target.copy(to: CopyPlace(.sqlite)) }
    let new = try CopyPlace(.sqlite)
    try source.copyAll(to: new)
    #expect(throws: CopyFault.notEmpty("purchases")) { try new.copy(to: other) }
  }

  @Test("A database of a server is not copied, and no copy is made there, while an instance uses it")
  func instances() throws {
    let (file, server) = (try filled(.sqlite), try CopyPlace(.postgres))
    let insertion = """
      INSERT INTO instances (id, host, version, configuration, started_at, seen_at, clock_ahead, queue_depth,
        is_notified, unreadiness, leases, secrets)
      VALUES (1, 'db7', '1', '', 0, (extract(epoch FROM now()) * 1000)::bigint - 50000, 0, 0, 1, '', '', '')
      """
    try server.execute(insertion)
    #expect(throws: CopyFault.used(isSource: false, by: ["db7"])) { try file.copy(to: server) }
    try server.execute("UPDATE instances SET seen_at = seen_at - 20000")
    try file.copyAll(to: server)
    let back = try CopyPlace(.sqlite)
    let copy = try server.copy(to: back)
    try copy.copyRows { _, _ in }
    try server.execute("INSERT INTO leases (name, owner, epoch, renewed_at) VALUES ('ios', 1, 4, 0)")
    try server.execute("UPDATE instances SET seen_at = seen_at + 20000")
    #expect(throws: CopyFault.used(isSource: true, by: ["db7"])) {
      try copy.finish(CopyPlace.entry, now: TestStore.start)
    }
    try server.execute("DELETE FROM instances")
    try copy.finish(CopyPlace.entry, now: TestStore.start)
    let fenced = try server.reader().connection.integer("SELECT epoch FROM leases WHERE owner IS NULL")
    #expect(fenced == 5)
  }

  @Test("A connection that is older than a copy is refused once its database is retired, with any command")
  func openConnections() throws {
    let (server, target) = (try filled(.postgres), try CopyPlace(.sqlite))
    let writers = try (0..<2).map { _ in try server.writer() }
    for writer in writers { try writer.apply(WriteAudit(CopyPlace.entry), now: TestStore.start) }
    try server.copyAll(to: target)
    let report = ServiceReport(name: .health, at: TestStore.start, content: "{}")
    #expect(throws: StoreFault.self) {
      try writers[0].apply(WriteAudit(CopyPlace.entry), now: TestStore.start)
    }
    // It names no app.
    #expect(throws: StoreFault.self) { try writers[1].apply(SaveServiceReport(report), now: TestStore.start) }
    #expect(try server.rows()["audit"]?.count == target.rows()["audit"].map { $0.count - 1 })
  }

  @Test func `A copy ends after a batch that has begun, and no batch begins while it ends`() throws {
    let copied = try copied(.postgres, to: .sqlite)
    let name = try PostgresDatabases.name(of: copied.source.folder)
    let other = try PostgresServer.shared.get().connect(name)
    // As a batch does.
    try other.run("BEGIN")
    try other.run("LOCK TABLE app_locks IN ROW SHARE MODE")
    #expect(throws: CopyFault.self) { try copied.copy.finish(CopyPlace.entry, now: TestStore.start) }
    try other.run("COMMIT")
    try copied.copy.finish(CopyPlace.entry, now: TestStore.start)
    #expect(throws: StoreError.retired(to: "SQLite", at: TestStore.start)) { try copied.source.writer() }
  }

  @Test func `A mark that was set meanwhile is not removed by a program that starts`() throws {
    let copied = try copied(.postgres, to: .sqlite)
    let name = try PostgresDatabases.name(of: copied.source.folder)
    let other = try PostgresServer.shared.get().connect(name)
    try other.run("BEGIN")
    try other.run("UPDATE copies SET state = 'retired' WHERE role = 'source'")
    // The program waits for the row, which was "copying" when it looked.
    let refusal = Monitor<(any Error)?>(nil)
    let url = try PostgresServer.shared.get().url(name)
    let starting = try WorkerThread(name: "starting") {
      do {
        _ = try PostgresEngine(url, isOwner: true, application: "tests", allowsUnsafe: true)
          .openWriter(rules: TestStore.rules, random: SeededGenerator(seed: 1))
      } catch {
        refusal.withLock { $0 = error }
      }
    }
    let observer = try PostgresServer.shared.get().connect()
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = $1"
    let deadline = MonotonicInstant.now().advanced(by: .seconds(60))
    while try observer.run(waiting, [.text(name)]).integer(0, 0) == 0 {
      try #require(MonotonicInstant.now() < deadline)
      PostgresConnection.pause(.milliseconds(5))
    }
    try other.run("COMMIT")
    starting.join()
    #expect(refusal.withLock { $0 } as? StoreError == .retired(to: "SQLite", at: TestStore.start))
    #expect(try copied.source.opened().reading.retirement()?.place == "SQLite")
  }

  @Test("A connection that is lost and made again finds that its database was retired meanwhile")
  func cutOff() throws {
    let (server, target) = (try filled(.postgres), try CopyPlace(.sqlite))
    let writer = try server.writer()
    try server.copyAll(to: target)
    let name = try PostgresDatabases.name(of: server.folder)
    try PostgresServer.shared.get().connect().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
    #expect {
      for _ in 0..<3 { try writer.apply(WriteAudit(CopyPlace.entry), now: TestStore.start) }
    } throws: { error in
      (error as? StoreFault)?.reason.contains("is retired") == true
    }
  }

  @Test func `A database is not copied into itself`() throws {
    let empty = try CopyPlace(.postgres)
    _ = try empty.writer()
    #expect(throws: CopyFault.sameDatabase) { try empty.copy(to: empty) }
    _ = try empty.writer()
  }
}
