// When a daemon gives memory back.

import Platform
import Testing

@testable import Daemon
@testable import Service

@Suite("Memory after a load") struct IdleMemoryTests {
  private let clock = ManualClock()
  private let releases = Monitor(0)

  private func make() -> IdleMemory { IdleMemory(clock) { [releases] in releases.update { $0 += 1 } } }

  @Test func `Memory is released once when a load has ended, and again after the next one`() {
    let memory = make()
    for count in 1...2 {
      for _ in 0..<IdleMemory.commitsMin { memory.noteCommit() }
      memory.poll()
      #expect(releases.withLock { $0 } == count - 1)
      clock.advance(IdleMemory.pause)
      memory.poll()
      memory.poll()
      #expect(releases.withLock { $0 } == count)
    }
  }

  @Test func `A load that goes on keeps its memory`() {
    let memory = make()
    for _ in 0..<10 * IdleMemory.commitsMin {
      memory.noteCommit()
      clock.advance(.milliseconds(240))
      memory.poll()
    }
    #expect(releases.withLock { $0 } == 0)
  }

  @Test("A commit that changes no receipt is noted, as are those of apps that only post contexts")
  func unchanged() throws {
    let bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    for count in 1...3 {
      #expect(bench.committer.submit(Barrier(), from: .internal) { _ in })
      #expect(bench.committer.commitWaiting())
      #expect(bench.core.memory.commits == count)
    }
  }

  @Test func `A few commits are no load`() {
    let memory = make()
    for _ in 1..<IdleMemory.commitsMin { memory.noteCommit() }
    clock.advance(.seconds(60))
    memory.poll()
    #expect(releases.withLock { $0 } == 0)
  }
}
