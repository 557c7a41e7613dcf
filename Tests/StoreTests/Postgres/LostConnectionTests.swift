// Tests what a writer does when the network or the server fails: nothing that was answered is lost, and each
// command is stored once.

import Domain
import Platform
import Store
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Connections that are lost", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct LostConnectionTests {
  private let server: PostgresServer
  private let database: String
  private let proxy: CuttingProxy
  private let writer: StoreWriter

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
    proxy = try CuttingProxy(to: server.port)
    let engine = try PostgresEngine(
      "host=127.0.0.1 port=\(proxy.port) user=receiptd dbname=\(database) sslmode=disable", isOwner: true,
      application: "tests", allowsUnsafe: true, usesServerClock: false)
    writer = try engine.openWriter(rules: TestStore.rules, random: SystemRandomNumberGenerator())
  }

  private func events(_ numbers: Range<Int>, _ answers: Answers) -> [Submission] {
    numbers.map { number in
      answers.submission(
        "\(number)",
        IngestEvent(
          app: "ios", processor: "stripe", eventID: EventID("evt_\(number)"), type: "t", body: [],
          content: .nothing(.ignored)))
    }
  }

  /// The numbers of the stored events, read without the proxy.
  private func stored() throws -> [String] {
    let result = try server.connect(database).run("SELECT event_id FROM events ORDER BY received_at, row_id")
    return (0..<result.count).map { result.text($0, 0) }
  }

  @Test func `A lost answer to COMMIT: the batch is found, and answered once (R1, R2)`() throws {
    defer { proxy.end() }
    for round in 0..<5 {
      let answers = Answers()
      // Once: the transaction that looks for the batch commits, too.
      proxy.use(.cutsAnswerToCommit, once: true)
      let result = writer.apply(events(round * 10..<round * 10 + 10, answers), now: TestStore.start)
      #expect(result.fault == nil)
      #expect(answers.all == (round * 10..<round * 10 + 10).map { "\($0): stored" })
    }
    #expect(try Set(stored()).count == 50)
    #expect(try stored().count == 50)
    #expect(proxy.cutCount == 5)
  }

  @Test func `A COMMIT that does not arrive: the batch is run again (R1)`() throws {
    defer { proxy.end() }
    let answers = Answers()
    proxy.use(.cutsBeforeCommit, once: true)
    let result = writer.apply(events(0..<10, answers), now: TestStore.start)
    #expect(result.fault == nil)
    #expect(answers.all.allSatisfy { $0.hasSuffix("stored") })
    #expect(try stored().count == 10)
  }

  @Test("A database that cannot be reached: commands fail soon, and work again when it is back")
  func unreachable() throws {
    defer { proxy.end() }
    try server.connect().run("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
    try server.connect().run(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1", [.text(database)])
    let refused = Answers()
    #expect(
      writer.apply(events(0..<3, refused), now: TestStore.start).fault?.kind.mayConcernOneCommand == false)
    #expect(refused.all.count == 3)
    #expect(refused.all.allSatisfy { !$0.hasSuffix("stored") })
    try server.connect().run("ALTER DATABASE \(database) ALLOW_CONNECTIONS true")
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    while try stored().count < 3, MonotonicInstant.now() < deadline {
      _ = writer.apply(events(0..<3, Answers()), now: TestStore.start)
    }
    #expect(try stored().count == 3)
  }

  @Test func `A query whose connection is lost, as after a failover, is asked again over a new one`() throws {
    defer { proxy.end() }
    let engine = try PostgresEngine(
      server.url(database), isOwner: true, application: "tests", allowsUnsafe: true, usesServerClock: false)
    let reader = try engine.openReader()
    #expect(try reader.alerts().isEmpty)
    for _ in 0..<2 {
      try server.connect().run(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1", [.text(database)])
      #expect(try reader.alerts().isEmpty)
    }
  }

  @Test func `Two writers of one app: each event is stored once, and neither loses one (R2)`() throws {
    defer { proxy.end() }
    let engine = try PostgresEngine(
      server.url(database), isOwner: true, application: "tests", allowsUnsafe: true, usesServerClock: false)
    let other = Box(try engine.openWriter(rules: TestStore.rules, random: SystemRandomNumberGenerator()))
    let (mine, theirs) = (Answers(), Answers())
    let thread = try WorkerThread(name: "other") {
      for start in stride(from: 0, to: 100, by: 10) {
        _ = other.writer.apply(payments(start..<start + 10, theirs), now: TestStore.start)
      }
    }
    for start in stride(from: 90, through: 0, by: -10) {
      _ = writer.apply(payments(start..<start + 10, mine), now: TestStore.start)
    }
    thread.join()
    #expect(mine.all.count == 100)
    #expect((mine.all + theirs.all).allSatisfy { $0.hasSuffix("stored") })
    #expect(try stored().count == 100)
    let rows = try server.connect(database).run("SELECT count(*), count(DISTINCT object_id) FROM purchases")
    #expect(rows.integer(0, 0) == 100)
    #expect(rows.integer(0, 1) == 100)
    #expect(try engine.openReader().contradictions() == [])
  }
}

/// A writer that one other thread uses.
private final class Box: @unchecked Sendable {
  let writer: StoreWriter
  init(_ writer: StoreWriter) { self.writer = writer }
}

private func payments(_ numbers: Range<Int>, _ answers: Answers) -> [Submission] {
  numbers.map { number in
    let report = Said.completed("\(number)", user: "u\(number % 7)", prices: ["price_1"])
    return answers.submission(
      "\(number)",
      IngestEvent(
        app: "ios", processor: "stripe", eventID: EventID("evt_\(number)"), type: "t", body: [],
        content: .report(report, keep: true)))
  }
}
