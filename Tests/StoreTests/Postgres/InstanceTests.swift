// Tests that of several programs on a database each app has one owner, also if programs hang or end.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@testable import PostgresStore

/// A program of a test: what its instance reports, and a writer.
private final class Program: Sendable {
  let engine: PostgresEngine
  let instance: PostgresInstance
  let news: Monitor<[StoreChanges?]>
  /// Lines of the log.
  let warnings = Monitor<[String]>([])
  private let busy: Monitor<Set<AppSlug>>

  init(_ url: String, apps: [AppSlug]) throws {
    engine = try PostgresEngine(url, isOwner: true, application: "tests", allowsUnsafe: true)
    let (news, busy) = (Monitor<[StoreChanges?]>([]), Monitor<Set<AppSlug>>([]))
    (self.news, self.busy) = (news, busy)
    let calls = InstanceCalls(
      version: "1", onOwnership: {}, onChanges: { changes in news.withLock { $0.append(changes) } },
      settle: { _, done in done(true) }, pulse: {}, isBusy: { app in busy.withLock { $0.contains(app) } },
      queueDepth: { 0 }, unreadiness: { ["queue_full", "disk_full"] })
    let warnings = warnings
    let log = Log(level: .warning, clock: SystemClock()) { line in
      warnings.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    instance = try #require(engine.makeInstance(calls, log: log) as? PostgresInstance)
    instance.use(apps: apps, clockMax: .minutes(5))
    try instance.start()
  }

  func set(busy apps: Set<AppSlug>) { busy.withLock { $0 = apps } }

  var apps: Set<AppSlug> { instance.apps ?? [] }
}

@Suite("Instances", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct InstanceTests {
  private static let apps: [AppSlug] = ["a", "b", "c", "d", "e"]
  private let server: PostgresServer
  private let database: String

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
  }

  private func program(_ apps: [AppSlug] = apps) throws -> Program {
    try Program(server.url(database), apps: apps)
  }

  /// Waits until something is so; a test fails after five minutes.
  private func wait(_ what: String, _ isSo: () -> Bool) throws {
    let end = MonotonicInstant.now() + .minutes(5)
    while !isSo() {
      try #require(MonotonicInstant.now() < end, "\(what)")
      PostgresConnection.pause(.milliseconds(5))
    }
  }

  @Test func `One owns all, two share, and what one gives up at its stop the other has at once`() throws {
    let first = try program()
    try wait("the first has all") { first.apps == Set(Self.apps) && first.instance.doesSharedWork }
    let second = try program()
    try wait("they share") { first.apps.count + second.apps.count == 5 && second.apps.count >= 2 }
    #expect(first.apps.isDisjoint(with: second.apps))
    #expect(first.instance.doesSharedWork != second.instance.doesSharedWork)
    let began = MonotonicInstant.now()
    first.instance.stop()
    try wait("the second has all") { second.apps == Set(Self.apps) && second.instance.doesSharedWork }
    #expect(MonotonicInstant.now().duration(since: began) < HeldLeases.leaseTime)
    second.instance.stop()
    let left = try server.connect(database).run("SELECT count(*) FROM leases WHERE owner IS NOT NULL")
    #expect(left.integer(0, 0) == 0)
  }

  @Test("Renewing leases changes no row of them, however many: a snapshot that stays open keeps old rows")
  func renewal() throws {
    let program = try program()
    try wait("it has all") { program.apps == Set(Self.apps) && program.instance.doesSharedWork }
    let connection = try server.connect(database)
    func versions() throws -> (leases: Int64, beat: Int64) {
      let result = try connection.run(
        "SELECT max(xmin::text::bigint), (SELECT beat FROM heartbeats) FROM leases")
      return (result.integer(0, 0), result.integer(0, 1))
    }
    let before = try versions()
    try wait("it has renewed them") { ((try? versions().beat) ?? 0) >= before.beat + 3 }
    #expect(try versions().leases == before.leases)
    #expect(program.apps == Set(Self.apps))
    program.instance.stop()
    #expect(try connection.run("SELECT count(*) FROM heartbeats").integer(0, 0) == 0)
  }

  @Test func `An instance is not ready before its first contact with the database`() throws {
    let port = try ReservedPort()
    let program = try Program("host=127.0.0.1 port=\(port.number) user=receiptd dbname=x", apps: Self.apps)
    #expect(program.engine.troubles == [.unreachable])
    program.instance.stop()
  }

  @Test("A program that gives leases up does not acquire them again before the other sees them")
  func givingUp() throws {
    let first = try program()
    try wait("the first has all") { first.apps == Set(Self.apps) && first.instance.doesSharedWork }
    let second = try program()
    try wait("they share") {
      first.apps.count + second.apps.count == 5 && second.apps.count >= 2
        && first.instance.doesSharedWork != second.instance.doesSharedWork
    }
    let epochs = try server.connect(database).run("SELECT max(epoch), sum(epoch)::bigint FROM leases")
    #expect(epochs.integer(0, 0) == 2, "each moved once at most")
    #expect(epochs.integer(0, 1) == 9)
    first.instance.stop()
    second.instance.stop()
  }

  @Test("An instance reports why it is not ready, and warns once what the loss of the server would cost (R1)")
  func reports() throws {
    let program = try program()
    try wait("it has all") { program.apps == Set(Self.apps) }
    let found = try #require(try program.engine.instances()).running
    #expect(found.map(\.unreadiness) == [["queue_full", "disk_full"]])
    program.instance.stop()
    // A test of pg_basebackup may be a standby of this server at this moment.
    let risks = program.warnings.withLock { $0 }.filter { $0.contains("no standby ") }
    #expect(risks.count == 1)
    #expect(risks.first?.contains("synchronous_standby_names") == true)
  }

  @Test func `An app whose deliveries are under way is given up after them`() throws {
    let first = try program(["a"])
    try wait("the first has all") { first.apps == ["a"] && first.instance.doesSharedWork }
    first.set(busy: ["a"])
    let second = try program(["a"])
    try wait("nothing new begins") { first.apps.isEmpty }
    let kept = try server.connect(database).run(
      "SELECT count(*) FROM leases WHERE name = 'a' AND owner IS NOT NULL AND epoch = 1")
    #expect(kept.integer(0, 0) == 1, "until its deliveries have ended")
    #expect(second.apps.isEmpty)
    first.set(busy: [])
    try wait("the second has it") { second.apps == ["a"] }
    #expect(first.apps.isEmpty)
    first.instance.stop()
    second.instance.stop()
  }

  @Test func `With a larger difference between the clocks than signatures allow, it is not ready`() throws {
    let program = try program(["a"])
    try wait("it has all") { program.apps == ["a"] }
    #expect(program.engine.troubles == [])
    // No difference is as small.
    program.instance.use(apps: ["a"], clockMax: .milliseconds(-1))
    try wait("it is not ready") {
      program.engine.troubles.contains { if case .clockDiffers = $0 { true } else { false } }
    }
    program.instance.use(apps: ["a"], clockMax: .minutes(5))
    try wait("it is ready") { program.engine.troubles == [] }
    program.instance.stop()
  }

  @Test func `An app that a reload removes is given up after its deliveries, too`() throws {
    let program = try program(["a", "b"])
    try wait("it has all") { program.apps == ["a", "b"] }
    let lease = program.instance.lease(of: "a")
    program.set(busy: ["a"])
    program.instance.use(apps: ["b"], clockMax: .minutes(5))
    try wait("nothing new begins") { program.apps == ["b"] }
    #expect(program.instance.endingLease(of: "a") == lease)
    // Its lease is renewed meanwhile.
    let connection = try server.connect(database)
    func owners() throws -> Int64 {
      try connection.run("SELECT count(*) FROM leases WHERE name = 'a' AND owner IS NOT NULL").integer(0, 0)
    }
    #expect(try owners() == 1)
    program.set(busy: [])
    try wait("it is given up") { (try? owners()) == 0 }
    #expect(program.instance.endingLease(of: "a") == nil)
    program.instance.stop()
  }

  @Test("A program that waits for its own row leaves no session behind with each attempt, and recovers")
  func lockedLeases() throws {
    let program = try program()
    try wait("it has all") { program.apps == Set(Self.apps) }
    let blocker = try server.connect(database)
    try blocker.run("BEGIN")
    try blocker.run("SELECT id FROM heartbeats FOR UPDATE")
    let observer = try server.connect()
    let sessions = """
      SELECT pid FROM pg_stat_activity WHERE datname = $1 AND application_name = 'tests'
        AND wait_event_type = 'Lock'
      """
    // Each attempt has a new session.
    var seen: Set<Int64> = []
    try wait("it tries five times") {
      guard let found = try? observer.run(sessions, [.text(database)]) else { return false }
      #expect(found.count <= 1)
      if found.count > 0 { seen.insert(found.integer(0, 0)) }
      return seen.count >= 5
    }
    try wait("its leases have ended") { program.apps.isEmpty }
    try blocker.run("ROLLBACK")
    try wait("it has all again") { program.apps == Set(Self.apps) }
    program.instance.stop()
  }

  @Test func `A program that cannot reach the database stops before another acquires its apps (R2)`() throws {
    let proxy = try CuttingProxy(to: server.port)
    let cut = try Program(
      "host=127.0.0.1 port=\(proxy.port) user=receiptd dbname=\(database) sslmode=disable", apps: Self.apps)
    try wait("the first has all") { cut.apps == Set(Self.apps) }
    let fence = try #require(cut.instance.lease(of: "a")?.fence)
    let other = try program(["f"])
    try wait("the second has its own") { other.apps == ["f"] }
    other.instance.use(apps: Self.apps + ["f"], clockMax: .minutes(5))
    proxy.use(.silent)
    let began = MonotonicInstant.now()
    while other.apps.count < 6 {
      // Whatever the other has, the first has given up.
      let theirs = other.apps
      #expect(cut.apps.isDisjoint(with: theirs))
      try #require(MonotonicInstant.now().duration(since: began) < .seconds(30))
      PostgresConnection.pause(.milliseconds(2))
    }
    // The time of a lease and two looks, and what a busy machine adds.
    #expect(MonotonicInstant.now().duration(since: began) < .seconds(10))
    let writer = try other.engine.openWriter(rules: TestStore.rules, random: SystemRandomNumberGenerator())
    let late = Fenced(fence, SaveBreaker(AppDestination("a", "purchasely"), Breaker(failures: 7)))
    #expect(try writer.apply(late, now: TestStore.start) == nil)
    let present = try #require(other.instance.lease(of: "a")?.fence)
    #expect(present.epoch > fence.epoch)
    #expect(try writer.apply(Fenced(present, SettleApp("a")), now: TestStore.start) != nil)
    #expect(try other.engine.openReader().breakers().isEmpty)
    proxy.end()
    cut.instance.stop()
    other.instance.stop()
  }

  @Test func `A commit's changes reach the other programs, and not the own one`() throws {
    let first = try program(["a"])
    let second = try program(["b"])
    // Each listens once its own tests come back.
    for program in [first, second] {
      try wait("notifications arrive") { program.instance.worker.withInbox { $0.heardAt } != nil }
    }
    var changes = StoreChanges()
    changes.dueAt = ["b": TestStore.start]
    first.instance.note(changes)
    try wait("the second is notified") { second.news.withLock { $0.contains(changes) } }
    #expect(!first.news.withLock { $0.contains(changes) })
    first.instance.stop()
    second.instance.stop()
  }

  @Test func `The database's time is known without a call, and not by this machine's clock`() {
    let clock = DatabaseClock()
    let now = MonotonicInstant.now()
    let ahead = clock.note(1_000_000, between: now, and: now)
    #expect(ahead.ahead > 1_000_000_000)
    #expect((1_000_000..<1_060_000).contains(clock.wallMilliseconds))
  }
}

extension PostgresInstance {
  fileprivate func use(apps: [AppSlug], clockMax: Duration) {
    use(apps: apps, configuration: "c", secrets: "s", clockMax: clockMax)
  }
}
