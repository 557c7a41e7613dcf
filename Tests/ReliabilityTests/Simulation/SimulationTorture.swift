// The whole relay in a simulated world: thousands of days with everything that can go wrong, and the promises
// held against the database after every commit.

import Platform
import TestSupport
import Testing

@Suite struct SimulationTorture {
  /// Days of trouble in one world; some quiet ones follow.
  private static let days: Int64 = 20

  @Test("Whatever happens, everything that was promised is kept (R1–R5, R9, R11)")
  func simulate() throws {
    try live(
      "simulation", worlds: Torture.size(short: 2, long: 150), seed: Torture.seed(20_261_121)
    ) { SimulatedWorld(seed: $0) }
  }

  @Test(
    "The wall clock may jump by an hour or a year and back: nothing is lost, frozen or sent twice (R3, R9)")
  func wildClock() throws {
    try live(
      "simulation, clock set at random", worlds: Torture.size(short: 1, long: 50),
      seed: Torture.seed(20_261_122)
    ) { SimulatedWorld(seed: $0, hasWildClock: true) }
  }

  private func live(
    _ name: String, worlds: Int, seed: UInt64, _ make: (UInt64) -> SimulatedWorld
  ) throws {
    var (steps, crashes, stories) = (0, 0, 0)
    for number in 0..<worlds {
      let world = make(seed &+ UInt64(number))
      try world.live(days: Self.days)
      let faults = world.memory.faults
      try #require(
        faults.isEmpty, "TORTURE_SEED=\(world.seed): \(faults.prefix(5).joined(separator: "; "))")
      steps += world.steps
      crashes += world.crashes
      stories += world.stories.count
    }
    Torture.report(name, "virtual days", worlds * Int(Self.days + SimulatedWorld.quietDays))
    Torture.report(name, "seeds", "\(seed)…\(seed &+ UInt64(worlds) &- 1)")
    Torture.report(name, "steps of the relay's parts", steps)
    Torture.report(name, "checkouts", stories)
    Torture.report(name, "crashes survived", crashes)
  }
}
