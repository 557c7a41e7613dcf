// The whole relay in a simulated world: thousands of days with every kind of fault. The promises are checked
// against the database after every commit.

import Platform
import TestSupport
import Testing

@Suite struct SimulationTorture {
  /// Days of trouble in one world; quiet days follow.
  private static let days: Int64 = 20

  @Test func `All promises hold under random faults (R1–R5, R9, R11)`() throws {
    try live(
      "simulation", worlds: Torture.size(short: 1, long: 20), seed: Torture.seed(20_261_121)
    ) { try SimulatedWorld(seed: $0) }
  }

  @Test(
    "The wall clock may jump by an hour or a year and back: nothing is lost, frozen or sent twice (R3, R9)")
  func wildClock() throws {
    try live(
      "simulation, clock set at random", worlds: Torture.size(short: 1, long: 8),
      seed: Torture.seed(20_261_122)
    ) { try SimulatedWorld(seed: $0, hasWildClock: true) }
  }

  @Test(
    """
    A database behind a network may lose answers, notifications and the relay's leases: nothing is lost or \
    sent twice, and the relay delivers only what it owns (R1–R5, R9, R11)
    """)
  func network() throws {
    try live(
      "simulation, database behind a network", worlds: Torture.size(short: 1, long: 8),
      days: Torture.isLong ? Self.days : 2, seed: Torture.seed(20_261_130)
    ) { try SimulatedWorld(seed: $0, isNetworked: true) }
  }

  /// The progress of the threads that simulate worlds.
  private struct Tally {
    var next = 0
    var steps = 0
    var crashes = 0
    var stories = 0
    var jobs = 0
    var jobReceipts = 0
    var missed = 0
    var questions = 0
    var keyFetches = 0
    var notices = 0
    var repeats = 0
    /// By what they count.
    var network: [(name: String, count: Int)] = []
    var failures: [String] = []

    mutating func add(_ world: SimulatedWorld, _ faults: [String]) {
      steps += world.steps
      crashes += world.crashes
      stories += world.stories.count
      jobs += world.jobs.count
      jobReceipts += world.jobs.released
      missed += world.memory.missed.count
      questions += world.lookups.count
      keyFetches += world.provider.count
      notices += world.receivers.count
      repeats += world.deliveries.repeats
      let figures = world.database?.figures.all ?? []
      network = network.isEmpty ? figures : zip(network, figures).map { ($0.name, $0.count + $1.count) }
      guard !faults.isEmpty else { return }
      failures.append("TORTURE_SEED=\(world.seed): \(faults.prefix(5).joined(separator: "; "))")
    }
  }

  /// Simulates this many worlds, two at a time, each on one thread.
  private func live(
    _ name: String, worlds: Int, days: Int64 = days, seed: UInt64,
    _ make: @escaping @Sendable (UInt64) throws -> SimulatedWorld
  ) throws {
    let tally = Monitor(Tally())
    let began = MonotonicInstant.now()
    let threads = try (0..<2).map { number in
      try WorkerThread(name: "worlds-\(number)") {
        while let world = tally.withLock({ Self.nextWorld(&$0, worlds) }) {
          Self.live(seed &+ UInt64(world), days: days, make, tally)
        }
      }
    }
    for thread in threads { thread.join() }
    let (end, days) = (tally.withLock { $0 }, worlds * Int(days + SimulatedWorld.quietDays))
    #expect(end.failures.isEmpty, "\(end.failures.joined(separator: "\n"))")
    Torture.report(name, "virtual days", days)
    let minutes = MonotonicInstant.now().seconds(since: began) / 60
    Torture.report(name, "virtual days a minute", Int(Double(days) / minutes))
    Torture.report(name, "seeds", "\(seed)…\(seed &+ UInt64(worlds) &- 1)")
    Torture.report(name, "steps of the relay's parts", end.steps)
    Torture.report(name, "checkouts", end.stories)
    Torture.report(name, "jobs", end.jobs)
    Torture.report(name, "receipts changed by jobs", end.jobReceipts)
    Torture.report(name, "events given up by Stripe, and fetched", end.missed)
    Torture.report(name, "questions to Stripe", end.questions)
    Torture.report(name, "fetches of keys", end.keyFetches)
    Torture.report(name, "notices", end.notices)
    Torture.report(name, "crashes survived", end.crashes)
    Torture.report(name, "receipts accepted twice because the relay could not know the first", end.repeats)
    for (figure, count) in end.network { Torture.report(name, figure, count) }
  }

  /// The number of the next world; nil when none is left, or one has failed.
  private static func nextWorld(_ tally: inout Tally, _ worlds: Int) -> Int? {
    guard tally.next < worlds, tally.failures.isEmpty else { return nil }
    defer { tally.next += 1 }
    return tally.next
  }

  private static func live(
    _ seed: UInt64, days: Int64, _ make: (UInt64) throws -> SimulatedWorld, _ tally: Monitor<Tally>
  ) {
    do {
      let world = try make(seed)
      var faults: [String] = []
      do {
        try world.live(days: days)
      } catch {
        faults.append("\(error)")
      }
      faults += world.memory.faults
      tally.withLock { $0.add(world, faults) }
    } catch {
      tally.withLock { $0.failures.append("\(error)") }
    }
  }
}
