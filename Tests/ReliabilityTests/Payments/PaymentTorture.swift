// The relay as a merchant's backend in a simulated world: thousands of payments with every kind of fault. At
// the end the processors, the relay and the merchants' backends must agree.

import Platform
import TestSupport
import Testing

@Suite struct PaymentTorture {
  /// Days of trouble in one world; quiet days follow.
  private static let days = Int64(Torture.size(short: 4, long: 12))

  private struct Tally {
    var next = 0
    var worlds: [String: Int] = [:]
    var failures: [String] = []

    mutating func add(_ name: String, _ count: Int) { worlds[name, default: 0] += count }
  }

  @Test("No customer is charged twice, and no payment is lost, whatever fails (R1–R3, R9, R11)")
  func simulate() throws {
    let (worlds, seed) = (Torture.size(short: 2, long: 20), Torture.seed(20_261_123))
    let tally = Monitor(Tally())
    let threads = try (0..<2).map { number in
      try WorkerThread(name: "payments-\(number)") {
        while let world = tally.update({ Self.nextWorld(&$0, worlds) }) {
          Self.live(seed &+ UInt64(world), tally)
        }
      }
    }
    for thread in threads { thread.join() }
    let end = tally.withLock { $0 }
    #expect(end.failures.isEmpty, "\(end.failures.joined(separator: "\n"))")
    let name = "simulation of payments"
    Torture.report(name, "virtual days", worlds * Int(Self.days + PaymentWorld.quietDays))
    Torture.report(name, "seeds", "\(seed)…\(seed &+ UInt64(worlds) &- 1)")
    for (word, count) in end.worlds.sorted(by: { $0.key < $1.key }) { Torture.report(name, word, count) }
    #expect(end.worlds["payments reported", default: 0] > worlds)
  }

  /// The number of the next world; nil when none is left, or one has failed.
  private static func nextWorld(_ tally: inout Tally, _ worlds: Int) -> Int? {
    guard tally.next < worlds, tally.failures.isEmpty else { return nil }
    defer { tally.next += 1 }
    return tally.next
  }

  private static func live(_ seed: UInt64, _ tally: Monitor<Tally>) {
    do {
      let world = try PaymentWorld(seed: seed)
      var faults: [String] = []
      do {
        try world.live(days: days)
      } catch {
        faults.append("\(error)")
      }
      faults += world.faults
      let reported = PaymentWorld.apps.map { world.backends.purchases(of: $0).count }.reduce(0, +)
      tally.update { tally in
        tally.add("customers", world.shoppers.count)
        tally.add("requests of apps and callbacks", world.requests)
        tally.add("requests to processors", world.processors.count)
        tally.add("payments reported", reported)
        tally.add("crashes survived", world.crashes)
        guard !faults.isEmpty else { return }
        tally.failures.append("TORTURE_SEED=\(seed): \(faults.prefix(5).joined(separator: "; "))")
      }
    } catch {
      tally.update { $0.failures.append("\(error)") }
    }
  }
}
