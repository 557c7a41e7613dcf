// The relay's workers without threads: each is a step and the time at which the next one is due. To add a
// worker of the relay, add a class here and a line in `RelayLife.makeWorkers`. The other end of its network
// is a `SimulatedServer`.

@testable import Alerts
@testable import Apps
@testable import Delivery
import Durations
@testable import Housekeeping
@testable import Intake
@testable import Lookups
@testable import Persistence
import Platform
import SimulatedDisk
import Store

@testable import Relay

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

/// Deliveries.
final class DispatcherWorker: SimulatedWorker {
  private let world: SimulatedWorld
  private var run: DispatcherRun
  private var wakesAt: Int64

  init(_ world: SimulatedWorld, _ core: RelayCore) throws {
    self.world = world
    let reader = try RelayCore.reader(core.engine)
    run = DispatcherRun(core.dispatcher, reader: reader, directory: core.apps.current)
    wakesAt = world.now
  }

  var dueAt: Int64 { min(wakesAt, world.network.newsAt ?? Int64.max) }

  func step() {
    run.handleAnswers(within: .zero)
    guard let sleep = run.step()?.milliseconds else { return }
    wakesAt = world.now + max(1, sleep)
    for arrival in world.destinations.drainArrivals() { world.memory.arrived(arrival) }
  }
}

/// The housekeeper.
final class HousekeeperWorker: SimulatedWorker {
  private let world: SimulatedWorld
  private let housekeeper: Housekeeper
  private var rounds: Housekeeper.Rounds
  private var wakesAt: Int64
  private var lookedAt: Int64

  init(_ world: SimulatedWorld, _ core: RelayCore) {
    self.world = world
    housekeeper = core.housekeeper
    rounds = Housekeeper.Rounds(world.clock)
    (wakesAt, lookedAt) = (world.now, world.now)
    housekeeper.followClock(FollowClock(jump: nil))
  }

  /// It looks rarely in a simulation, but must notice a clock step within seconds.
  var dueAt: Int64 {
    world.clockSetAt > lookedAt
      ? min(wakesAt, world.clockSetAt + Dependencies.lookInterval.milliseconds) : wakesAt
  }

  func step() {
    lookedAt = world.now
    let until = housekeeper.step(&rounds)
    wakesAt = max(world.now + 1, until.nanoseconds / 1_000_000)
  }

  func noteCommit() { wakesAt = world.now }
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

/// Lookups and backfills.
final class LookupSimulation: SimulatedWorker {
  private let world: SimulatedWorld
  private let reader: StoreReader
  private var run: LookupRun
  private var wakesAt: Int64

  init(_ world: SimulatedWorld, _ core: RelayCore, _ lookupWorker: LookupWorker) throws {
    self.world = world
    reader = try RelayCore.reader(core.engine)
    run = LookupRun(lookupWorker, reader: reader, directory: core.apps.current)
    wakesAt = world.now
  }

  var dueAt: Int64 { min(wakesAt, world.stripeNetwork.newsAt ?? Int64.max) }

  func step() throws {
    run.handleAnswers(within: .zero)
    guard let sleep = run.step()?.milliseconds else { return }
    wakesAt = world.now + max(1, sleep)
    try world.judgeQuestions()
  }

  func noteCommit() { world.lookups.noteCommit() }
}

/// The keys of the token issuers.
final class KeyFetcherWorker: SimulatedWorker {
  private let world: SimulatedWorld
  private var run: KeyFetcherRun
  private var wakesAt: Int64

  init(_ world: SimulatedWorld, _ fetcher: KeyFetcher) {
    self.world = world
    run = KeyFetcherRun(fetcher)
    wakesAt = world.now
  }

  var dueAt: Int64 { min(wakesAt, world.keyNetwork.newsAt ?? Int64.max) }

  func step() {
    run.handleAnswers(within: .zero)
    guard let sleep = run.step()?.milliseconds else { return }
    wakesAt = world.now + max(1, sleep)
  }
}

/// Alerts.
final class AlerterWorker: SimulatedWorker {
  private let world: SimulatedWorld
  private var run: AlerterRun
  private var wakesAt: Int64

  init(_ world: SimulatedWorld, _ core: RelayCore, _ alerter: Alerter, _ plan: AlertPlan) throws {
    self.world = world
    run = AlerterRun(alerter, reader: try RelayCore.reader(core.engine), plan: plan)
    wakesAt = world.now
  }

  var dueAt: Int64 { min(wakesAt, world.alertNetwork.newsAt ?? Int64.max) }

  func step() throws {
    run.handleAnswers(within: .zero)
    guard let sleep = run.step()?.milliseconds else { return }
    wakesAt = world.now + max(1, sleep)
    try world.judgeNotices()
  }

  func noteCommit() { world.alerts.noteCommit() }
}
