// kill -9 at any moment, again and again, under load. Two ledgers are compared afterwards: what was
// acknowledged to the senders, and what the destination received (R1, R3, R9).

import Domain
import Formats
import Glibc
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct KillTorture {
  private static let suite = "kill -9"
  private static let kills = Torture.size(short: 8, long: 320)
  private static let senders = 4
  private static let concurrency = 8
  /// How many receipts one kill may duplicate: those in flight, and as many whose outcome is being written.
  private static let unsettledMax = 2 * concurrency
  /// The maximum number of checkouts that are accepted between two kills.
  private static let takenBetweenMax = 40
  /// The time limit of the wait for a checkpoint.
  private static let checkpoint: Duration = .milliseconds(1500)

  /// The activity during which the daemon is killed.
  private enum Moment: CaseIterable {
    case load, startUp, repeatedStartUp, stop, checkpoint
  }

  @Test(
    "kill -9 at any moment loses no acknowledged data and doubles only requests in flight (R1, R3, R9)")
  func killAtAnyMoment() throws {
    let seed = Torture.seed(20_261_120)
    let app: JSONValue = [
      "delivery": ["rate": 10_000, "concurrency": .integer(Int64(Self.concurrency))],
      "join": ["wait_for_context": "1h"],
    ]
    let ledger = DestinationLedger()
    try withRelay(app: app) { relay, destination in
      destination.answerAll { ledger.answer($0) }
      let senders = try Senders(Self.senders, port: relay.outside.api.port)
      defer { senders.stop() }
      var random = SeededGenerator(seed: seed)
      var run = Run()
      for number in 0..<Self.kills {
        // In the short form each moment occurs.
        let moment = Moment.allCases[number % Moment.allCases.count]
        let goal = senders.taken + Int.random(in: 1...Self.takenBetweenMax, using: &random)
        try waitUntil("more is taken (seed \(seed))") { senders.taken >= goal }
        let replay =
          number % 6 == 5 ? try relay.operate(["receipts", "replay", "--state", "failed", "--yes"]) : nil
        try Self.kill(relay, moment, &random, &run)
        // The replaying receiptctl may be killed, too, or continue without the daemon.
        if let replay, Bool.random(using: &random) { replay.send(SIGKILL) }
        try run.note(ledger, databasePath: relay.databasePath)
        let start = MonotonicInstant.now()
        try relay.start()
        run.recoveries.append(MonotonicInstant.now().duration(since: start).milliseconds)
        senders.use(port: relay.outside.api.port)
        _ = try replay?.end()
      }
      let taken = senders.stop()
      try Self.finish(relay)
      run.compare(taken, ledger, destination.ledger, seed: seed, doublesMax: run.kills * Self.unsettledMax)
      try Self.check(relay)
      Self.report(run, taken, ledger)
    }
  }

  // MARK: Kills

  private static func kill(
    _ relay: Relay, _ moment: Moment, _ random: inout SeededGenerator, _ run: inout Run
  ) throws {
    func wait(_ range: ClosedRange<Int32>) { _ = poll(nil, 0, .random(in: range, using: &random)) }
    switch moment {
    case .load: break
    case .startUp, .repeatedStartUp:
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      run.kills += 1
      for _ in 0..<(moment == .startUp ? 0 : 3) {
        try relay.launch()
        wait(0...30)
        _ = try relay.stop(SIGKILL)
        run.kills += 1
      }
      try relay.launch()
      wait(0...60)
    case .stop:
      relay.signal(SIGTERM)
      wait(0...20)
    case .checkpoint:
      // Only a checkpoint writes the database file.
      let before = TextFile.modified(relay.databasePath)
      let deadline = MonotonicInstant.now().advanced(by: checkpoint)
      while TextFile.modified(relay.databasePath) == before, MonotonicInstant.now() < deadline {}
      if TextFile.modified(relay.databasePath) != before { run.checkpoints += 1 }
    }
    // It may have ended already, because this kill follows a stop.
    let code = try relay.stop(SIGKILL)
    #expect(code == 128 + SIGKILL || (moment == .stop && code == 0), "\(code)")
    if code != 0 { run.kills += 1 }
  }

  // MARK: The end

  /// Delivers the rest; refused receipts are replayed.
  private static func finish(_ relay: Relay) throws {
    let connection = try Connection(path: relay.databasePath, mode: .readOnly, busyTimeout: .seconds(10))
    let sql = "SELECT count(*) FROM purchases WHERE state IS NOT 'delivered' AND state IS NOT NULL"
    try waitUntil("everything is delivered", within: Waiting.patience * 4) {
      if try connection.integer("SELECT count(*) FROM purchases WHERE state = 'failed'") != 0 {
        _ = try relay.operate(["receipts", "replay", "--state", "failed", "--yes"]).end()
      }
      return try connection.integer(sql) == 0
    }
  }

  private static func check(_ relay: Relay) throws {
    #expect(try relay.stop() == 0)
    let receipts = try relay.receipts()
    #expect(
      Set(receipts.map(\.purchase.key.id)).count == receipts.count, "one purchase makes one receipt (R2)")
    #expect(try relay.read { try $0.integrityFaults() }.isEmpty)
  }

  private static func report(_ run: Run, _ taken: [Checkout], _ ledger: DestinationLedger) {
    Torture.report(suite, "kills survived", run.kills)
    Torture.report(suite, "of these while a checkpoint wrote", run.checkpoints)
    Torture.report(suite, "receipts promised", taken.count)
    Torture.report(suite, "receipts lost", run.lost)
    Torture.report(suite, "receipts sent twice", run.doubles)
    Torture.report(suite, "receipts in flight at a kill, at most in all", run.kills * unsettledMax)
    Torture.report(suite, "median recovery, ms", run.recoveries.percentile(0.5))
    Torture.report(suite, "p99 recovery, ms", run.recoveries.percentile(0.99))
  }

  /// The counters of a run.
  private struct Run {
    var kills = 0
    var checkpoints = 0
    var recoveries: [Int64] = []
    var lost = 0
    var doubles = 0
    /// How often each receipt had been requested when it was recorded as delivered: the number must not grow
    /// (R3).
    private var asked: [String: Int] = [:]
    private var lastDelivery: Int64 = 0

    /// Reads the dead daemon's database.
    mutating func note(_ ledger: DestinationLedger, databasePath: String) throws {
      let connection = try Connection(path: databasePath, mode: .readOnly, busyTimeout: .seconds(10))
      // Deliveries of the same moment may have been recorded one after another.
      let since = lastDelivery - 60_000
      let rows = try connection.prepare(
        "SELECT object_id, delivered_at FROM purchases WHERE app = 'shop' AND delivered_at >= \(since)"
      )
      .all { row throws(SQLiteError) in (try row.text(0), row.integer(1)) }
      for (object, at) in rows {
        lastDelivery = max(lastDelivery, at)
        if asked[object] == nil { asked[object] = ledger.asked(object) }
      }
    }

    mutating func compare(
      _ taken: [Checkout], _ ledger: DestinationLedger, _ entries: [Destination.Entry], seed: UInt64,
      doublesMax: Int
    ) {
      let byObject = Dictionary(grouping: entries) { $0.objectID ?? "" }
      for checkout in taken {
        let entries = byObject[checkout.subscription] ?? []
        if ledger.taken(checkout.subscription) == 0 {
          lost += 1
          Issue.record("\(checkout.subscription) was promised and never came (seed \(seed))")
        }
        #expect(
          Set(entries.map(\.body)).count == 1,
          "\(checkout.subscription) came with different bytes (seed \(seed))")
        #expect(entries.first?["ply_context"] == checkout.context, "\(checkout.subscription) (seed \(seed))")
      }
      doubles = byObject.keys.reduce(0) { $0 + max(0, ledger.taken($1) - 1) }
      #expect(doubles <= doublesMax, "\(doubles) doubles (seed \(seed))")
      for (object, count) in asked {
        #expect(
          byObject[object]?.count == count,
          "\(object) was sent again after its 2xx was recorded (seed \(seed))")
      }
    }
  }
}
