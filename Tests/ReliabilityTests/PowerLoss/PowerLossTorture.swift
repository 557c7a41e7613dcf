// A power cut at every write, truncation, sync, creation and deletion in a relay's storage life: acknowledged
// data survives, nothing is stored in part, and the relay continues (R1, R9, R10). One thread.

import Platform
import SQLiteStore
import SimulatedDisk
import Store
import Synchronization
import TestSupport
import Testing

@Suite("Power loss")
struct PowerLossTorture {
  static let disks = [512, 4096].flatMap { sector in
    [true, false].map { SimulatedDisk.Properties(sectorBytes: sector, isPowersafe: $0) }
  }

  @Test func `Acknowledged data survives a power loss at any write or sync (R1, R9)`() throws {
    let seed = Torture.seed(1)
    let stride = Torture.size(short: 47, long: 1)
    let lives = Torture.size(short: 2, long: 4)
    var explored = 0
    for life in 0..<lives {
      var trace = PowerLossTrace(
        disk: Self.disks[life % Self.disks.count], seed: seed &+ UInt64(life), stride: stride)
      let failure = try trace.run(steps: 30)
      explored += trace.explored
      try #require(failure == nil, "TORTURE_SEED=\(seed): life \(life): \(failure ?? "")")
    }
    #expect(explored > 60)
    Torture.report("power loss", "crash points explored", explored)
  }
}

/// One life, with a crash at every n-th moment at which a crash may leave another state.
struct PowerLossTrace {
  /// A disk after a crash, and the acknowledgements at that moment.
  private struct Point: Sendable {
    let number: Int
    let operation: SimulatedDisk.Operation
    let disk: SimulatedDisk
    let page: Ledger.State
  }

  private struct Watch {
    var seen = 0
    var random: SeededGenerator
    var points: [Point] = []
  }

  private let disk: SimulatedDisk
  private let seed: UInt64
  private let stride: Int
  private let ledger = Ledger()
  private var random: SeededGenerator
  /// The number of moments at which a crash may leave another state.
  private(set) var moments = 0
  private(set) var explored = 0

  init(disk properties: SimulatedDisk.Properties, seed: UInt64, stride: Int) {
    disk = SimulatedDisk(seed: seed, properties)
    self.seed = seed
    self.stride = stride
    random = SeededGenerator(seed: ~seed)
  }

  /// - Returns: the first fault and its place; nil when there is none.
  mutating func run(steps: Int) throws -> String? {
    let life = Life(path: disk.path(), seed: seed, ledger: ledger)
    var before = try Self.emptySnapshot()
    for step in -1..<steps {
      let answered = ledger.page.successes
      let points = try crashes {
        if step < 0 { try life.open(at: 0) } else { try #require(life.run(step) == nil) }
      }
      let after = try snapshot()
      for point in points {
        explored += 1
        let expected = point.page.successes > answered ? [after] : [before, after]
        if let fault = faultOf(point, step: step, steps: steps, expected) {
          return "step \(step), \(point.operation) \(point.number): \(fault)"
        }
      }
      before = after
    }
    return nil
  }

  /// Runs a closure, and crashes a copy of the disk at every n-th moment in it.
  private mutating func crashes(during body: () throws -> Void) rethrows -> [Point] {
    let watch = Monitor(Watch(random: SeededGenerator(seed: random.next())))
    let number = moments
    disk.watch { [disk, stride, ledger] operation in
      watch.withLock { watch in
        watch.seen += 1
        guard (watch.seen + number) % stride == 0 else { return }
        let crashed = disk.afterCrash(random: &watch.random)
        watch.points.append(Point(number: watch.seen, operation: operation, disk: crashed, page: ledger.page))
      }
    }
    defer { disk.watch(nil) }
    try body()
    moments += watch.withLock { $0.seen }
    return watch.withLock { $0.points }
  }

  private func snapshot() throws -> Snapshot {
    try Snapshot(of: Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero))
  }

  private static func emptySnapshot() throws -> Snapshot {
    let disk = SimulatedDisk()
    let life = Life(path: disk.path(), seed: 0, ledger: Ledger())
    try life.open(at: 0)
    return try Snapshot(of: Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero))
  }

  /// Turns a thrown error into a fault, too, and adds the place.
  private mutating func faultOf(
    _ point: Point, step: Int, steps: Int, _ expected: [Snapshot]
  ) -> String? {
    do {
      return try check(point, step: step, steps: steps, expected)
    } catch {
      return "\(error)"
    }
  }

  /// Restarts after a crash, and continues.
  private mutating func check(
    _ point: Point, step: Int, steps: Int, _ expected: [Snapshot]
  ) throws -> String? {
    let disk = point.disk
    let ledger = Ledger(point.page)
    let life = Life(path: disk.path(), seed: seed, ledger: ledger)
    // In every eighth recovery the power is cut again.
    let again = explored % 8 == 0 ? Watch(random: SeededGenerator(seed: random.next())) : nil
    let watch = Monitor(again)
    disk.watch { operation in
      watch.withLock { watch in
        watch?.seen += 1
        guard var inner = watch, inner.seen % 3 == 1 else { return }
        let crashed = disk.afterCrash(random: &inner.random)
        inner.points.append(Point(number: inner.seen, operation: operation, disk: crashed, page: ledger.page))
        watch = inner
      }
    }
    try life.open(at: max(0, step) + 1000)
    disk.watch(nil)
    let connection = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
    let found = try Snapshot(of: connection)
    guard expected.contains(found) else {
      return "what stands there is none of \(expected.count): \(found.difference(from: expected[0]))"
    }
    for second in watch.withLock({ $0?.points ?? [] }) {
      explored += 1
      let recovered = Life(path: second.disk.path(), seed: seed, ledger: Ledger(second.page))
      try recovered.open(at: 2000)
      let reopened = try Connection(path: second.disk.path(), mode: .readOnly, busyTimeout: .zero)
      let recoveredRows = try Snapshot(of: reopened)
      if recoveredRows != found {
        return "a second crash changed it: \(recoveredRows.difference(from: found))"
      }
    }
    // The requests without an answer are retried; then life continues, sometimes to its end.
    let last = explored % 50 == 0 ? steps : min(steps, step + 2)
    for next in max(0, step)..<max(last, 1) {
      if let failure = life.run(next) { return "going on with step \(next): \(failure)" }
    }
    let unanswered = ledger.page.unanswered.filter { $0 >= point.page.submitted }
    if !unanswered.isEmpty { return "submissions without one answer: \(unanswered)" }
    return try Promises.faults(in: connection, ledger.page).first
  }
}
