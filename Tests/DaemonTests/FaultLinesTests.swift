// Log lines about a database that cannot be written: limited, and with advice.

import Domain
import Platform
import Store
import Testing

@testable import Reports
@testable import Service

@Suite("Lines of the log about a fault of the database") struct FaultLinesTests {
  private func error(_ kind: StoreFault.Kind) -> StoreFault {
    StoreFault(kind, operation: "COMMIT", reason: "test")
  }

  @Test func `Requests that cannot be stored write one line a second for each fault, with a count`() throws {
    let clock = ManualClock()
    let lines = Monitor<[String]>([])
    let log = Log(level: .warning, clock: clock) { line in
      lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    let requestLog = RequestLog(log, clock: clock)
    func fail(_ kind: StoreFault.Kind) {
      requestLog.couldNotStore(error(kind), route: "stripe", app: "shop", requestID: "r")
    }
    for _ in 0..<1000 { fail(.moved) }
    #expect(lines.withLock { $0.count } == 1)
    #expect(lines.withLock { $0[0].contains("Put the file back") && !$0[0].contains("disk") })
    // Another kind of fault is logged at once.
    fail(.corrupt)
    #expect(lines.withLock { $0.last?.contains("receiptctl db check") } == true)
    clock.advance(LogLimiter.pause)
    fail(.moved)
    #expect(lines.withLock { $0.last?.contains(" left_out=999") } == true)
    #expect(lines.withLock { $0.count } == 3)
  }

  @Test func `Only a fault of the disk sends the operator to the disk`() {
    for kind in [
      StoreFault.Kind.moved, .corrupt, .busy, .readOnly, .standby, .notPermitted, .cannotOpen, .misuse,
    ] {
      #expect(!kind.advice.contains("the disk"), "\(kind)")
    }
    #expect(StoreFault.Kind.inputOutput.advice.contains("the disk"))
    #expect(StoreFault.Kind.full.advice.contains("Free space"))
  }
}
