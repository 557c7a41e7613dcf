// Which instance sends alerts when no instance has the shared work, because the database cannot be reached.

import Domain
import Formats
import Platform
import Reports
import Testing

@testable import Config
@testable import Upkeep

@Suite("Alerts without the database") struct AlertDutyTests {
  /// Runs the alerter of an instance that is on duty, with an open breaker that was reported.
  private func onDuty(_ body: (AlertBench, inout AlerterRun) throws -> Void) throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen, .database])])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      #expect(try bench.pass(.seconds(2), &run).map(\.notice) == ["breaker_open shop firing"])
      try bench.authorize()
      try body(bench, &run)
    }
  }

  private func set(_ bench: AlertBench, isReachable: Bool, isOnDuty: Bool) {
    bench.database.withLock { $0 = isReachable ? [] : [.databaseUnreachable] }
    bench.duty.isOn.withLock { $0 = isOnDuty }
  }

  @Test("The instance that was last on duty reports that the database cannot be reached, and the end of it")
  func lastOnDuty() throws {
    try onDuty { bench, run throws in
      set(bench, isReachable: false, isOnDuty: false)
      #expect(try bench.pass(.seconds(20), &run).map(\.notice) == ["database - firing"])
      // Only that: another instance may have acquired the shared work.
      try bench.setBreaker(.closed)
      #expect(try bench.pass(.minutes(9), &run).isEmpty)
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["database - firing"])
      set(bench, isReachable: true, isOnDuty: false)
      #expect(try bench.pass(.seconds(20), &run).map(\.notice) == ["database - resolved"])
      #expect(try bench.pass(.minutes(20), &run).isEmpty)
    }
  }

  @Test func `If it is on duty again, it reports the end of all alerts`() throws {
    try onDuty { bench, run throws in
      set(bench, isReachable: false, isOnDuty: false)
      #expect(try bench.pass(.seconds(20), &run).map(\.notice) == ["database - firing"])
      try bench.setBreaker(.closed)
      set(bench, isReachable: true, isOnDuty: true)
      let ends = Set(try bench.pass(.seconds(20), &run).map(\.notice))
      #expect(ends == ["database - resolved", "breaker_open shop resolved"])
      #expect(try bench.pass(.minutes(20), &run).isEmpty)
    }
  }

  @Test func `An instance that was not on duty reports nothing`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen, .database])])
    set(bench, isReachable: true, isOnDuty: false)
    try bench.live { run throws in
      #expect(try bench.pass(.seconds(5), &run).isEmpty)
      set(bench, isReachable: false, isOnDuty: false)
      #expect(try bench.pass(.minutes(20), &run).isEmpty)
    }
  }

  @Test func `An instance whose work another one does reports nothing more`() throws {
    try onDuty { bench, run throws in
      set(bench, isReachable: true, isOnDuty: false)
      #expect(try bench.pass(.seconds(5), &run).isEmpty)
      set(bench, isReachable: false, isOnDuty: false)
      #expect(try bench.pass(.minutes(20), &run).isEmpty)
    }
  }
}
