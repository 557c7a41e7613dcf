// How much of the committer's time retention takes.

import Platform
import Store
import Testing

@testable import Config
@testable import Service
@testable import Upkeep

@Suite("The rests of retention") struct RetentionRestTests {
  @Test func `Retention rests after each slice, longer after one that took long, and not for ever`() throws {
    let clock = ManualClock()
    let bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    let run = RetentionRun(.init(), clock)
    func step() -> Bool {
      run.step(bench.committer, now: bench.now, log: bench.log) { table, error in
        Issue.record("\(table): \(error)")
      }
    }
    let slices: [(took: Duration, rest: Duration)] = [
      (.milliseconds(10), .milliseconds(90)), (.seconds(20), .seconds(5)),
    ]
    for (took, rest) in slices {
      #expect(!step())
      #expect(bench.committer.depth == 1)
      clock.advance(took)
      let didCommit = bench.committer.commitWaiting()
      #expect(didCommit)
      clock.advance(rest - .milliseconds(1))
      #expect(!step())
      #expect(bench.committer.depth == 0, "it rests")
      clock.advance(.milliseconds(1))
    }
    bench.committer.stop()
  }
}
