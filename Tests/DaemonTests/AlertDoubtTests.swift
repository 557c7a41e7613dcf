// Notices that may have arrived: their answer was lost, or a reload cancelled them. Alerts that are not known
// because the database could not be read, or because another instance has sent notices.

import Domain
import Formats
import Platform
import Reports
import SQLiteStore
import Store
import Testing

@testable import Config
@testable import Upkeep

@Suite("Doubtful alerts") struct AlertDoubtTests {
  @Test("A notice whose answer was lost is sent again, and the end of its alert is always sent")
  func lostAnswer() throws {
    let alerts = [AlertBench.alert([.breakerOpen])]
    let bench = try AlertBench(alerts)
    bench.network.use { _ in ScriptedTransport.lost }
    try bench.setBreaker(.open)
    try bench.live { run throws in
      let sent = try bench.pass(.seconds(5), &run).map(\.notice)
      #expect(!sent.isEmpty)
      #expect(sent.allSatisfy { $0 == "breaker_open shop firing" })
    }
    // The trouble ends before the address answers again, and across a restart.
    try bench.setBreaker(.closed)
    bench.network.use { _ in 200 }
    try bench.live(alerts) { run throws in
      #expect(try bench.pass(.minutes(20), &run).map(\.notice) == ["breaker_open shop resolved"])
    }
  }

  /// Runs the alerter after the answer to its first notice, of an open breaker, was lost. From then on the
  /// address answers.
  private func afterDoubtfulNotice(
    _ body: (AlertBench, inout AlerterRun) throws -> Void
  ) throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    bench.network.use { _ in ScriptedTransport.lost }
    try bench.setBreaker(.open)
    try bench.live { run throws in
      try bench.pass(.seconds(1), &run)
      bench.network.use { _ in 200 }
      try body(bench, &run)
    }
  }

  @Test func `A doubtful notice is repeated at once while its alert fires, and then like any other`() throws {
    try afterDoubtfulNotice { bench, run throws in
      #expect(try bench.pass(.minutes(9), &run).map(\.notice) == ["breaker_open shop firing"])
    }
  }

  @Test func `An alert that fires again after a doubtful notice waits like any other`() throws {
    try afterDoubtfulNotice { bench, run throws in
      try bench.setBreaker(.closed)
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["breaker_open shop resolved"])
      try bench.setBreaker(.open)
      #expect(try bench.pass(.minutes(8), &run).isEmpty)
      #expect(try bench.pass(.minutes(3), &run).map(\.notice) == ["breaker_open shop firing"])
    }
  }

  @Test func `A restart remembers when a notice was sent whose answer was lost`() throws {
    let alerts = [AlertBench.alert([.breakerOpen])]
    let bench = try AlertBench(alerts)
    bench.network.use { _ in ScriptedTransport.lost }
    try bench.setBreaker(.open)
    try bench.live { run throws in try bench.pass(.seconds(1), &run) }
    bench.network.use { _ in 200 }
    try bench.setBreaker(.closed)
    try bench.live(alerts) { run throws in
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["breaker_open shop resolved"])
      try bench.setBreaker(.open)
      #expect(try bench.pass(.minutes(8), &run).isEmpty)
      #expect(try bench.pass(.minutes(3), &run).map(\.notice) == ["breaker_open shop firing"])
    }
  }

  @Test func `A repeated notice whose answer was lost delays the next one like any other`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(9), &run).map(\.notice) == ["breaker_open shop firing"])
      bench.network.use { _ in ScriptedTransport.lost }
      let repeats = try bench.pass(.minutes(1) + .seconds(10), &run).map(\.notice)
      #expect(!repeats.isEmpty)
      bench.network.use { _ in 200 }
      try bench.setBreaker(.closed)
      #expect(try bench.pass(.minutes(2), &run).map(\.notice) == ["breaker_open shop resolved"])
      try bench.setBreaker(.open)
      #expect(try bench.pass(.minutes(7), &run).isEmpty)
      #expect(try bench.pass(.minutes(4), &run).map(\.notice) == ["breaker_open shop firing"])
    }
  }

  @Test func `While the database cannot be read nothing is reported as over`() throws {
    let alerts = [AlertBench.alert([.breakerOpen])]
    let bench = try AlertBench(alerts)
    try bench.setBreaker(.open)
    try bench.live { run throws in #expect(try bench.pass(.seconds(1), &run).count == 1) }
    let connection = try Connection(path: bench.bench.path, mode: .readWrite, busyTimeout: .seconds(5))
    try connection.execute("ALTER TABLE breakers RENAME TO hidden")
    try bench.live(alerts, settles: false) { run throws in
      #expect(try bench.pass(.seconds(30), &run).isEmpty)
      bench.use(try AlertBench.plan(alerts, apps: [Bench.app()]))
      #expect(try bench.pass(.seconds(30), &run).isEmpty)
      try connection.execute("ALTER TABLE hidden RENAME TO breakers")
      // The notice from before the start is known, too.
      #expect(try bench.pass(.minutes(5), &run).isEmpty)
      try bench.setBreaker(.closed)
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["breaker_open shop resolved"])
    }
  }

  @Test func `Damage is reported although a table that other alerts need cannot be read`() throws {
    let alerts = [AlertBench.alert([.corruption, .noEvents(over: .minutes(30))])]
    let bench = try AlertBench(alerts)
    let connection = try Connection(path: bench.bench.path, mode: .readWrite, busyTimeout: .seconds(5))
    try connection.execute("ALTER TABLE events RENAME TO hidden")
    bench.database.withLock { $0 = [.databaseDamaged] }
    try bench.live(settles: false) { run throws in
      #expect(try bench.pass(.seconds(30), &run).map(\.notice) == ["corruption - firing"])
      try connection.execute("ALTER TABLE hidden RENAME TO events")
      bench.database.withLock { $0 = [] }
      // Only then receipts would have been found damaged, too.
      bench.clock.advance(.hours(2))
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["corruption - resolved"])
    }
  }

  @Test func `What another instance has sent meanwhile is not sent again`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      #expect(try bench.pass(.seconds(1), &run).map(\.notice) == ["breaker_open shop firing"])
      bench.duty.isOn.withLock { $0 = false }
      #expect(try bench.pass(.seconds(2), &run).isEmpty)
      try bench.setBreaker(.closed)
      let key = AlertRecord.Key(
        destination: AlertNotice.digest(of: AlertBench.hook), condition: "breaker_open", app: "shop")
      let record = AlertRecord(key: key, isFiring: false, since: bench.bench.now, notifiedAt: bench.bench.now)
      try bench.bench.store(SaveAlerts(sent: [record]))
      bench.duty.isOn.withLock { $0 = true }
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
    }
  }

  @Test func `A reload does not repeat a notice that was just sent and is not on disk yet`() throws {
    let alerts = [AlertBench.alert([.diskLow(underBytes: 1 << 30)])]
    // Without a writer, the saved alerts stay in the committer's queue.
    let bench = try AlertBench(alerts, writes: false)
    bench.freeBytes.withLock { $0 = 1 }
    try bench.live(settles: false) { run throws in
      #expect(try bench.pass(.seconds(1), &run).count == 1)
      bench.use(try AlertBench.plan(alerts, apps: [Bench.app()]))
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
    }
  }
}
