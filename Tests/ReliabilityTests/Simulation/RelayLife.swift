// One life of the relay: its workers step in random order, each may be delayed, and the relay may die between
// any two steps or in the middle of a write. One thread.

@testable import Alerts
@testable import Apps
@testable import Delivery
import Domain
@testable import Intake
@testable import Lookups
import Platform
import SQLite
@testable import SQLiteStore
import SimulatedDisk
import Store

@testable import Relay

/// A running relay: the daemon without its listeners and its threads.
struct SimulatedRelay {
  let core: RelayCore
  let alerter: Alerter
}

/// From a start to a stop or a crash.
final class RelayLife {
  /// More steps at one moment, or of one worker within an hour, mean a busy loop.
  private static let stepsMax = 10_000
  /// Receipts are checked after every commit; everything else after this many commits and at the end of each
  /// life.
  private static let commitsBetweenLooks = 25

  private let world: SimulatedWorld
  private let relay: SimulatedRelay
  private let reader: Connection
  private let changes: Statement
  private let store: StoreReader
  private var workers: [(worker: any SimulatedWorker, heldUntil: Int64)] = []
  /// Steps of each worker in this hour.
  private var recent: (hour: Int64, steps: [Int]) = (-1, [])
  private var commits = 0
  private(set) var isDead = false

  init(_ world: SimulatedWorld, _ relay: SimulatedRelay, _ reader: Connection) throws {
    self.world = world
    self.relay = relay
    self.reader = reader
    store = try StoreReader(path: world.disk.path())
    changes = try reader.prepare(Memory.changedReceipts)
    workers = try makeWorkers().map { ($0, Int64.min) }
  }

  private func makeWorkers() throws -> [any SimulatedWorker] {
    let (core, world, directory) = (relay.core, world, relay.core.apps.current)
    func reader() throws -> StoreReader { try RelayCore.reader(core.engine) }
    let deliveries = DispatcherRun(core.dispatcher, reader: try reader(), directory: directory)
    let alerts = AlerterRun(relay.alerter, reader: try reader(), plan: try AlertPlan(world.configuration))
    var workers: [any SimulatedWorker] = [
      CommitterWorker(core.committer) { [unowned self] in try lookAtCommit() },
      AskingWorker(
        world, world.network, deliveries,
        onStep: { world.destinations.drainArrivals().forEach { world.memory.arrived($0) } }),
      HousekeeperWorker(world, core),
      JobWorker(world, core),
      AskingWorker(
        world, world.alertNetwork, alerts, onStep: { try world.judgeNotices() },
        onCommit: { world.alerts.noteCommit() }),
    ]
    if let lookupWorker = core.lookupWorker {
      let lookups = LookupRun(lookupWorker, reader: try reader(), directory: directory)
      workers.append(
        AskingWorker(
          world, world.stripeNetwork, lookups, onStep: { try world.judgeLookups() },
          onCommit: { world.lookups.noteCommit() }))
    }
    if let fetcher = core.keyFetcher {
      workers.append(AskingWorker(world, world.keyNetwork, KeyFetcherRun(fetcher)))
    }
    return workers
  }

  func live(until end: Int64) throws {
    try world.jobs.checkChanges(reader, wall: nil, &world.memory)
    try world.checkEverything(reader, store)
    try stepWorkers()
    while !isDead, world.now < end {
      let moments = workers.map { max($0.worker.dueAt, $0.heldUntil) } + [world.agenda.nextAt ?? end, end]
      world.clock.advance(toMonotonic: moments.min() ?? end)
      while !isDead, let act = world.agenda.next(until: world.now) {
        try world.perform(act, relay)
        // Sometimes two acts happen before any worker reacts to the first.
        if !world.isTroubled || !world.oneIn(4) { try stepWorkers() }
      }
      if !isDead { try stepWorkers() }
    }
  }

  /// Steps the workers until none has anything to do at this moment.
  private func stepWorkers() throws {
    var steps = 0
    var isMoving = true
    while isMoving {
      isMoving = false
      for index in workers.indices.shuffled(using: &world.random) {
        steps += 1
        if steps > Self.stepsMax { throw Restless(worker: "some worker") }
        orderDeath()
        if isDead || world.disk.isPowerCut { return isDead = true }
        guard max(workers[index].worker.dueAt, workers[index].heldUntil) <= world.now else { continue }
        isMoving = true
        try workers[index].worker.step()
        try countStep(index)
        if world.disk.isPowerCut { return isDead = true }
        // The worker gets no CPU time, or the disk is slow.
        if world.isTroubled, world.oneIn(300) {
          workers[index].heldUntil = world.now + world.between(1...3 * SimulatedWorld.second)
        }
      }
    }
    world.steps += steps
  }

  private func countStep(_ index: Int) throws {
    let hour = world.now / SimulatedWorld.hour
    if recent.hour != hour { recent = (hour, workers.map { _ in 0 }) }
    recent.steps[index] += 1
    guard recent.steps[index] > Self.stepsMax else { return }
    throw Restless(worker: "\(type(of: workers[index].worker))")
  }

  /// A worker in a busy loop.
  struct Restless: Error { let worker: String }

  private func orderDeath() {
    guard world.isTroubled, world.oneIn(4000) else { return }
    if world.oneIn(2) {
      isDead = true
    } else {
      // In the middle of a later commit.
      world.disk.cutPower(at: world.oneIn(2) ? .write : .sync, nth: Int(world.between(1...6)))
    }
  }

  private func lookAtCommit() throws {
    guard !world.disk.isPowerCut else { return }
    for (worker, _) in workers { worker.noteCommit() }
    world.drainReplies(areLost: false)
    commits += 1
    try world.jobs.checkChanges(reader, wall: world.wall, &world.memory)
    if commits % Self.commitsBetweenLooks == 0 {
      try world.checkEverything(reader, store)
    } else {
      try world.memory.checkChanges(changes, wall: world.wall, now: world.now)
    }
  }
}
