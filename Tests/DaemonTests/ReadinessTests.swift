// Why the daemon is not ready, collected from all components.

import Platform
import Testing

@testable import Reports
@testable import Service

@Suite("Readiness")
struct ReadinessTests {
  @Test func `Reasons that are raised and reasons that a component reports are one list`() {
    let readiness = Readiness()
    #expect(readiness.reasons() == [])
    let reported = Monitor<[ReadinessReason]>([])
    readiness.add { reported.withLock { $0 } }
    readiness.raise(.starting)
    reported.withLock { $0 = [.diskFull] }
    #expect(readiness.reasons() == [.starting, .diskFull])
    readiness.clear(.starting)
    reported.withLock { $0 = [] }
    #expect(readiness.reasons() == [])
  }

  @Test("A reason that is raised again with another value replaces the first, and is cleared by its name")
  func sameName() {
    let readiness = Readiness()
    readiness.raise(.writeStuck(seconds: 11))
    readiness.raise(.writeStuck(seconds: 12))
    #expect(readiness.reasons() == [.writeStuck(seconds: 12)])
    readiness.clear(.writeStuck(seconds: 0))
    #expect(readiness.reasons() == [])
  }

  @Test func `A component may ask for the reasons while it reports its own`() {
    let readiness = Readiness()
    readiness.add { [weak readiness] in
      readiness?.clear(.stopping)
      return []
    }
    readiness.raise(.stopping)
    _ = readiness.reasons()
    #expect(readiness.reasons() == [])
  }
}
