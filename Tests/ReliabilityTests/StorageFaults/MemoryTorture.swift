// Every allocation of SQLite fails once: the same promises hold as on a failing disk (R1, R8). Runs in its
// own process, because SQLite has one allocator.

import SimulatedDisk
import TestSupport
import Testing

@Suite("SQLite without memory")
struct MemoryTorture {
  @Test func `Nothing is acknowledged that is not on disk, whichever allocation fails (R1)`() async {
    await #expect(processExitsWith: .success) {
      try #require(FailingMemory.install(), "SQLite was used before")
      try Self.run()
    }
  }

  private static func run() throws {
    let seed = Torture.seed(1)
    let stride = Torture.size(short: 331, long: 37)
    var refused = 0
    for stage in try LifeStage.all(before: Torture.isLong ? [0, 8] : [8], seed: seed) {
      for forEver in [false, true] {
        var nth = 1
        var wasReached = true
        while wasReached {
          let fault = StorageFault { [nth] _ in
            FailingMemory.fail(nth: nth, forEver: forEver)
          } heal: { _ in
            FailingMemory.heal()
          } count: { _ in
            FailingMemory.refused
          } aside: {
            try FailingMemory.aside($0)
          }
          var run = StorageFaultRun(stage, seed: seed, fault)
          let place = "TORTURE_SEED=\(seed): stage \(stage.step), piece \(nth), for ever: \(forEver)"
          do {
            let wrong = try run.run()
            try #require(wrong == nil, "\(place): \(wrong ?? "")")
          } catch let error where !(error is ExpectationFailedError) {
            Issue.record("\(place): \(error)")
            return
          }
          wasReached = run.injected > 0
          refused += run.injected
          nth += stride
        }
      }
    }
    #expect(refused > 30)
    Torture.report("I/O faults", "allocations refused", refused)
  }
}
