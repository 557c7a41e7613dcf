// A few steps of a relay's storage life on a disk that fails at one place, and the checks that follow. One
// thread.

import Platform
import SQLiteStore
import SimulatedDisk
import Store

/// A starting point: a disk as a killed process left it, and the acknowledgements so far.
struct LifeStage: Sendable {
  let disk: SimulatedDisk
  let page: Ledger.State
  let step: Int
  let seed: UInt64

  /// Stages of one life, before the given steps.
  static func all(before steps: [Int], seed: UInt64) throws -> [LifeStage] {
    let disk = SimulatedDisk(seed: seed)
    let ledger = Ledger()
    let life = Life(path: disk.path(), seed: seed, ledger: ledger)
    var stages: [LifeStage] = []
    for step in 0...(steps.max() ?? 0) {
      if steps.contains(step) {
        stages.append(LifeStage(disk: disk.afterKill(), page: ledger.page, step: step, seed: seed))
      }
      if step == 0 { try life.open(at: 0) }
      if let failure = life.run(step) { throw Unexpected(description: "step \(step): \(failure)") }
    }
    return stages
  }

  struct Unexpected: Error, CustomStringConvertible { let description: String }
}

/// How a fault is caused, and how it ends.
struct StorageFault {
  var order: (SimulatedDisk) -> Void
  var heal: (SimulatedDisk) -> Void = { $0.heal() }
  /// How many faults happened.
  var count: (SimulatedDisk) -> Int = { $0.faultsInjected }
  /// Runs a closure without the fault, to check the result.
  var aside: (() throws -> String?) throws -> String? = { try $0() }
}

/// One run from a stage on a failing disk.
struct StorageFaultRun {
  /// The steps that run from a stage, so that each kind of step meets a fault, and the steps after the fault.
  private static let stepsBefore = 5
  private static let stepsAfter = 1

  private let disk: SimulatedDisk
  private let stage: LifeStage
  private let ledger: Ledger
  private let life: Life
  private let fault: StorageFault
  private var random: SeededGenerator
  private let countBefore: Int
  private var seen: Int

  /// How many operations failed.
  var injected: Int { fault.count(disk) - countBefore }

  init(_ stage: LifeStage, seed: UInt64, _ fault: StorageFault) {
    self.fault = fault
    disk = stage.disk.afterKill(seed: seed)
    self.stage = stage
    ledger = Ledger(stage.page)
    life = Life(path: disk.path(), seed: stage.seed, ledger: ledger)
    random = SeededGenerator(seed: ~seed)
    countBefore = fault.count(disk)
    seen = countBefore
    fault.order(disk)
  }

  /// - Returns: the first fault; nil when there is none.
  mutating func run() throws -> String? {
    var starts = 0
    if !start(at: stage.step) { return "it does not start once the fault has passed" }
    var last = stage.step + Self.stepsBefore
    var step = stage.step
    while step < last {
      defer { step += 1 }
      let failure = life.run(step)
      guard fault.count(disk) > seen else {
        if let failure { return "step \(step) fails without a fault: \(failure)" }
        continue
      }
      seen = fault.count(disk)
      if let lost = try fault.aside({ try lostByCrash() }) { return "step \(step), then the power: \(lost)" }
      fault.heal(disk)
      if failure?.endsTheProcess == true {
        starts += 1
        life.close()
        if Bool.random(using: &random) {
          disk.crash(random: &random)
        } else {
          disk.kill()
          disk.forgetCache()
        }
        if !start(at: step + 1000 * starts) { return "step \(step): it does not start again" }
      }
      last = min(last, step + 1 + Self.stepsAfter)
      // Refused requests are retried.
      if let failure = life.run(step) { return "step \(step), after the fault has passed: \(failure)" }
    }
    if !ledger.page.unanswered.allSatisfy({ $0 < stage.page.submitted }) {
      return "a submission has not one answer"
    }
    fault.heal(disk)
    return try faults(on: disk)
  }

  /// Starts as a service manager does: again after a failure.
  private mutating func start(at step: Int) -> Bool {
    for attempt in 0..<3 {
      do {
        try life.open(at: step + attempt * 10_000)
        return true
      } catch {
        life.close()
        disk.kill()
        // As the daemon does when it starts.
        disk.forgetCache()
        if attempt == 1 { fault.heal(disk) }
      }
    }
    return false
  }

  /// Acknowledged data that a power loss would lose now.
  private mutating func lostByCrash() throws -> String? {
    let crashed = disk.afterCrash(random: &random)
    let recovered = Life(path: crashed.path(), seed: stage.seed, ledger: ledger)
    try recovered.open(at: 50_000)
    return try faults(on: crashed)
  }

  private func faults(on disk: SimulatedDisk) throws -> String? {
    let connection = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
    return try Promises.faults(in: connection, ledger.page).first
  }
}
