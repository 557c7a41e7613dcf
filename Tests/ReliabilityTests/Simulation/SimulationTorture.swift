// The whole relay in a simulated world: thousands of days with everything that can go wrong, and the promises held
// against the database after every commit.

import Platform
import TestSupport
import Testing

@Suite struct SimulationTorture {
  @Test("Whatever happens, everything that was promised is kept (R1–R5, R9, R11)")
  func simulate() throws {
    let days: Int64 = 20
    let worlds = Torture.size(short: 6, long: 400)
    let seed = Torture.seed(20_261_121)
    var (steps, crashes, stories) = (0, 0, 0)
    for number in 0..<worlds {
      let world = SimulatedWorld(seed: seed &+ UInt64(number))
      try world.live(days: days)
      let isWell = world.memory.faults.isEmpty
      #expect(isWell, "TORTURE_SEED=\(world.seed): \(world.memory.faults.prefix(5).joined(separator: "; "))")
      steps += world.steps
      print("DBG", unsafe dbg, world.steps, world.crashes, world.stories.count)
      crashes += world.crashes
      stories += world.stories.count
      if !world.memory.faults.isEmpty { break }
    }
    Torture.report("simulation", "virtual days", worlds * Int(days + 6))
    Torture.report("simulation", "seeds", "\(seed)…\(seed &+ UInt64(worlds) &- 1)")
    Torture.report("simulation", "steps", steps)
    Torture.report("simulation", "checkouts", stories)
    Torture.report("simulation", "crashes survived", crashes)
  }
}
