// The workers of one life of the relay: they step in random order, each may be delayed, and the relay may die
// between any two steps or in the middle of a write. One thread.

import Platform
import SimulatedDisk

/// The world around the workers.
protocol SimulatedStage: AnyObject {
  var random: SeededGenerator { get set }
  var clock: SimulatedClock { get }
  var disk: SimulatedDisk { get }
  /// Whether faults happen.
  var isTroubled: Bool { get }
  /// Counts the steps of all workers.
  var steps: Int { get set }
}

extension SimulatedStage {
  var now: Int64 { clock.monotonicMilliseconds }
  var wall: Int64 { clock.wallMilliseconds }

  func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
  func between(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
}

/// The workers, from a start to a stop or a crash.
final class WorkerCrowd {
  /// More steps at one moment, or of one worker within an hour, mean a busy loop.
  private static let stepsMax = 10_000
  private static let second: Int64 = 1000
  private static let hour: Int64 = 3_600_000

  /// A worker in a busy loop.
  struct Restless: Error { let worker: String }

  private let stage: any SimulatedStage
  private var workers: [(worker: any SimulatedWorker, heldUntil: Int64)]
  /// Steps of each worker in this hour.
  private var recent: (hour: Int64, steps: [Int]) = (-1, [])
  private(set) var isDead = false

  init(_ stage: any SimulatedStage, _ workers: [any SimulatedWorker]) {
    self.stage = stage
    self.workers = workers.map { ($0, Int64.min) }
  }

  /// When the next worker has something to do.
  var dueAt: Int64? { workers.map { max($0.worker.dueAt, $0.heldUntil) }.min() }

  func noteCommit() { for (worker, _) in workers { worker.noteCommit() } }

  /// Steps the workers until none has anything to do at this moment, or the relay is dead.
  /// - Parameter afterStep: called after each step of a worker.
  func step(afterStep: () -> Void = {}) throws {
    var steps = 0
    var isMoving = true
    while isMoving {
      isMoving = false
      for index in workers.indices.shuffled(using: &stage.random) {
        steps += 1
        if steps > Self.stepsMax { throw Restless(worker: "some worker") }
        orderDeath()
        if isDead || stage.disk.isPowerCut { return isDead = true }
        guard max(workers[index].worker.dueAt, workers[index].heldUntil) <= stage.now else { continue }
        isMoving = true
        try workers[index].worker.step()
        try countStep(index)
        if stage.disk.isPowerCut { return isDead = true }
        afterStep()
        // The worker gets no CPU time, or the disk is slow.
        if stage.isTroubled, stage.oneIn(300) {
          workers[index].heldUntil = stage.now + stage.between(1...3 * Self.second)
        }
      }
    }
    stage.steps += steps
  }

  private func countStep(_ index: Int) throws {
    let hour = stage.now / Self.hour
    if recent.hour != hour { recent = (hour, workers.map { _ in 0 }) }
    recent.steps[index] += 1
    guard recent.steps[index] > Self.stepsMax else { return }
    throw Restless(worker: "\(type(of: workers[index].worker))")
  }

  private func orderDeath() {
    guard stage.isTroubled, stage.oneIn(4000) else { return }
    if stage.oneIn(2) {
      isDead = true
    } else {
      // In the middle of a later commit.
      stage.disk.cutPower(at: stage.oneIn(2) ? .write : .sync, nth: Int(stage.between(1...6)))
    }
  }
}
