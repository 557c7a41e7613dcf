// The disk fails at every place: acknowledged data is stored, every request is answered once, and after the
// fault the relay continues (R1, R4).

import SQLiteStore
import SimulatedDisk
import Store
import TestSupport
import Testing

@Suite("Storage faults")
struct StorageFaultTorture {
  /// A kind of fault.
  struct Kind: Sendable {
    enum Extent { case once, forEver, everythingForEver }

    var operation: SimulatedDisk.Operation
    /// nil for the code of SQLite's VFS for Unix.
    var code: Int32?
    var extent: Extent

    static let busy: Int32 = 5
    static let full: Int32 = 13

    static let all = SimulatedDisk.Operation.allCases.flatMap { operation in
      var kinds = [Extent.once, .forEver, .everythingForEver].map { Kind(operation: operation, extent: $0) }
      let code: Int32? = operation == .lock ? busy : (operation == .write ? full : nil)
      if let code {
        kinds += [.once, .forEver].map { Kind(operation: operation, code: code, extent: $0) }
      }
      return kinds
    }

    func order(nth: Int, of disk: SimulatedDisk) {
      switch extent {
      case .once: disk.fail(operation, nth: nth, code: code)
      case .forEver: disk.fail(operation, nth: nth, forEver: true, code: code)
      case .everythingForEver: disk.detach(at: operation, nth: nth)
      }
    }
  }

  @Test func `Nothing is acknowledged that is not on disk, whichever operation fails (R1)`() throws {
    let seed = Torture.seed(1)
    let stride = Torture.size(short: 59, long: 1)
    let stages = try LifeStage.all(before: Torture.isLong ? [0, 8] : [8], seed: seed)
    var injected = 0
    for stage in stages {
      for kind in Kind.all {
        var nth = 1
        var wasReached = true
        while wasReached {
          let fault = StorageFault { [nth] in kind.order(nth: nth, of: $0) }
          var run = StorageFaultRun(stage, seed: seed &+ UInt64(nth), fault)
          let wrong = try describing("stage \(stage.step), \(kind), \(nth)", seed) { try run.run() }
          try #require(
            wrong == nil, "TORTURE_SEED=\(seed): stage \(stage.step), \(kind), \(nth): \(wrong ?? "")")
          wasReached = run.injected > 0
          injected += run.injected
          nth += kind.extent == .once ? stride : 4 * stride
        }
      }
    }
    #expect(injected > 100)
    Torture.report("I/O faults", "operations that failed", injected)
  }

  @Test func `A full disk refuses and loses nothing, and is used again once there is room (R1, R8)`() throws {
    let seed = Torture.seed(1)
    let stages = try LifeStage.all(before: [0, 3, 8, 12], seed: seed)
    var injected = 0
    for stage in stages {
      let step = Torture.size(short: 65_536, long: 1024)
      for room in Swift.stride(from: 0, through: 400_000, by: step) {
        let capacity = stage.disk.usedBytes + room
        let full = StorageFault {
          $0.capacity = capacity
        } heal: {
          $0.capacity = nil
        }
        var run = StorageFaultRun(stage, seed: seed, full)
        let fault = try describing("stage \(stage.step), \(room) bytes", seed) { try run.run() }
        try #require(fault == nil, "TORTURE_SEED=\(seed): stage \(stage.step), \(room) bytes: \(fault ?? "")")
        injected += run.injected
      }
    }
    #expect(injected > 10)
    Torture.report("I/O faults", "writes that found the disk full", injected)
  }

  @Test func `A read-only disk is refused at the start, and its data does not change (R1)`() throws {
    for stage in try LifeStage.all(before: [0, 1, 5, 8, 11], seed: Torture.seed(1)) {
      let disk = stage.disk
      let life = Life(path: disk.path(), seed: stage.seed, ledger: Ledger(stage.page))
      disk.isReadOnly = true
      #expect(throws: StoreError.self, "stage \(stage.step)") { try life.open(at: stage.step) }
      life.close()
      disk.isReadOnly = false
      try life.open(at: stage.step)
      let file = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
      #expect(try Promises.faults(in: file, stage.page) == [], "stage \(stage.step)")
      #expect(life.run(stage.step) == nil)
    }
  }

  @Test func `A held lock is waited for and reported; nothing is lost (R1)`() throws {
    let disk = SimulatedDisk()
    let life = Life(path: disk.path(), seed: 1, ledger: Ledger())
    try life.open(at: 0)
    disk.fail(.memoryLock, nth: 1, forEver: true)
    guard case .fault(let error) = life.run(0) else {
      Issue.record("a transaction began without its lock")
      return
    }
    #expect(error.kind == .busy, "\(error)")
    disk.heal()
    #expect(life.run(0) == nil)
  }

  /// Adds the place to an error.
  private func describing<Result>(
    _ place: String, _ seed: UInt64, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      Issue.record("TORTURE_SEED=\(seed): \(place): \(error)")
      throw error
    }
  }
}
