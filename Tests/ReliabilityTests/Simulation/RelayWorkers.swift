// The relay's workers without threads: each is a step and the time at which the next one is due. To add a
// worker that asks servers, add its line in `RelayLife.makeWorkers`; any other needs a class here, too. The
// other end of its network is a `SimulatedServer`.

import Formats
import HTTPClient
import Platform
import Store

@testable import Daemon
@testable import Service
@testable import Upkeep

/// One worker of the relay.
protocol SimulatedWorker: AnyObject {
  /// When the next step is due, on the monotonic clock; a time in the past means now.
  var dueAt: Int64 { get }
  /// Does what is due, without waiting.
  func step() throws
  /// Notifies the worker that a transaction was committed.
  func noteCommit()
}

extension SimulatedWorker {
  func noteCommit() {}
}

/// The committer; after each commit the world checks what it did.
final class CommitterWorker: SimulatedWorker {
  private let committer: Committer
  private let onCommit: () throws -> Void

  init(_ committer: Committer, onCommit: @escaping () throws -> Void) {
    self.committer = committer
    self.onCommit = onCommit
  }

  var dueAt: Int64 { committer.depth > 0 ? Int64.min : Int64.max }

  func step() throws { if committer.commitWaiting() { try onCommit() } }
}

/// The housekeeper.
final class HousekeeperWorker: SimulatedWorker {
  private let clock: SimulatedClock
  private let housekeeper: Housekeeper
  private let clockSetAt: () -> Int64
  private var rounds: Housekeeper.Rounds
  private var wakesAt: Int64
  private var lookedAt: Int64

  /// - Parameter clockSetAt: when the wall clock was last set.
  init(_ clock: SimulatedClock, _ core: RelayCore, clockSetAt: @escaping () -> Int64 = { 0 }) {
    self.clock = clock
    self.clockSetAt = clockSetAt
    housekeeper = core.housekeeper
    rounds = Housekeeper.Rounds(clock)
    (wakesAt, lookedAt) = (clock.monotonicMilliseconds, clock.monotonicMilliseconds)
    housekeeper.followClock(FollowClock(step: nil))
  }

  /// It looks rarely in a simulation, but must notice a clock step within seconds.
  var dueAt: Int64 {
    clockSetAt() > lookedAt
      ? min(wakesAt, clockSetAt() + Dependencies.lookInterval.milliseconds) : wakesAt
  }

  func step() {
    lookedAt = clock.monotonicMilliseconds
    let until = housekeeper.step(&rounds)
    wakesAt = max(clock.monotonicMilliseconds + 1, until.nanoseconds / 1_000_000)
  }

  func noteCommit() { wakesAt = clock.monotonicMilliseconds }
}

/// Jobs.
final class JobWorker: SimulatedWorker {
  /// A thread may be late. This one would poll several times a second for receipts that are under way for
  /// days, although the change that it waits for comes with a commit.
  private static let pause: Int64 = 600_000

  private let world: SimulatedWorld
  private let jobs: JobRunner
  private var rounds: JobRunner.Rounds
  private var wakesAt: Int64
  private var hasNews = true

  init(_ world: SimulatedWorld, _ core: RelayCore) {
    self.world = world
    jobs = core.jobs
    rounds = JobRunner.Rounds(world.clock)
    wakesAt = world.now
  }

  var dueAt: Int64 { hasNews ? Int64.min : wakesAt }

  func step() {
    hasNews = false
    let until = jobs.step(&rounds).nanoseconds / 1_000_000
    // A short wait is the pause between two steps of a large job.
    wakesAt =
      until - world.now <= 50 ? max(world.now + 1, until) : max(world.now + Self.pause, until)
  }

  func noteCommit() { hasNews = true }
}

/// A worker that asks servers: deliveries, lookups and backfills, keys of token issuers, payments, alerts.
final class AskingWorker<Run: NetworkRun>: SimulatedWorker {
  private let clock: SimulatedClock
  private let network: SimulatedTransport
  private var run: Run
  private let onStep: () throws -> Void
  private let onCommit: () -> Void
  private var wakesAt: Int64

  /// - Parameter onStep: checks what a step did.
  init(
    _ clock: SimulatedClock, _ network: SimulatedTransport, _ run: Run,
    onStep: @escaping () throws -> Void = {}, onCommit: @escaping () -> Void = {}
  ) {
    self.clock = clock
    self.network = network
    self.run = run
    self.onStep = onStep
    self.onCommit = onCommit
    wakesAt = clock.monotonicMilliseconds
  }

  var dueAt: Int64 { min(wakesAt, network.newsAt ?? Int64.max) }

  func step() throws {
    run.handleAnswers(within: .zero)
    guard let sleep = run.step()?.milliseconds else { return }
    wakesAt = clock.monotonicMilliseconds + max(1, sleep)
    try onStep()
  }

  func noteCommit() { onCommit() }
}
