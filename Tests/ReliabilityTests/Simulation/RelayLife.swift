// One life of the relay: its workers, and what is checked after its commits. One thread.

import Platform
import SimulatedDisk
import Store

@testable import Daemon
@testable import SQLiteStore
@testable import Service
@testable import Upkeep

/// A running relay: the daemon without its listeners and its threads.
struct SimulatedRelay {
  let core: RelayCore
  let alerter: Alerter
  let dependencies: Dependencies
}

/// From a start to a stop or a crash.
final class RelayLife {
  /// Receipts are checked after every commit; everything else after this many commits and at the end of each
  /// life.
  private static let commitsBetweenLooks = 25

  private let world: SimulatedWorld
  private let relay: SimulatedRelay
  private let reader: Connection
  private let changes: Statement
  private let store: StoreReader
  private var crowd: WorkerCrowd
  private var commits = 0

  var isDead: Bool { crowd.isDead }

  init(_ world: SimulatedWorld, _ relay: SimulatedRelay, _ reader: Connection) throws {
    self.world = world
    self.relay = relay
    self.reader = reader
    store = try StoreReader(path: world.disk.path())
    changes = try reader.prepare(Memory.changedReceipts)
    crowd = WorkerCrowd(world, [])
    crowd = WorkerCrowd(world, try makeWorkers())
  }

  private func makeWorkers() throws -> [any SimulatedWorker] {
    let (core, world) = (relay.core, world)
    func reader() throws -> StoreReader { try RelayCore.reader(core.engine) }
    let deliveries = DispatcherRun(core.dispatcher, reader: try reader())
    let alerts = AlerterRun(relay.alerter, reader: try reader())
    var workers: [any SimulatedWorker] = [
      CommitterWorker(core.committer) { [unowned self] in try lookAtCommit() },
      AskingWorker(
        world.clock, world.network, deliveries,
        onStep: { world.destinations.drainArrivals().forEach { world.noteArrival($0) } }),
      HousekeeperWorker(world.clock, core) { world.clockSetAt },
      JobWorker(world, core),
      AskingWorker(
        world.clock, world.alertNetwork, alerts, onStep: { try world.judgeNotices() },
        onCommit: { world.alerts.noteCommit() }),
    ]
    if let lookupWorker = core.lookupWorker {
      let lookups = LookupRun(lookupWorker, reader: try reader())
      workers.append(
        AskingWorker(
          world.clock, world.stripeNetwork, lookups, onStep: { try world.judgeLookups() },
          onCommit: { world.lookups.noteCommit() }))
    }
    if let database = world.database, let instance = core.instance as? SimulatedInstance {
      workers.append(InstanceWorker(database, instance))
    }
    if let fetcher = core.keyFetcher {
      workers.append(AskingWorker(world.clock, world.keyNetwork, KeyFetcherRun(fetcher)))
    }
    return workers
  }

  func live(until end: Int64) throws {
    world.memory.foreignApps = []
    try world.jobs.checkChanges(reader, wall: nil, &world.memory)
    try world.checkEverything(reader, store)
    try crowd.step()
    while !isDead, world.now < end {
      world.clock.advance(toMonotonic: min(crowd.dueAt ?? end, world.agenda.nextAt ?? end, end))
      while !isDead, let act = world.agenda.next(until: world.now) {
        try world.perform(act, relay)
        // Sometimes two acts happen before any worker reacts to the first.
        if !world.isTroubled || !world.oneIn(4) { try crowd.step() }
      }
      if !isDead { try crowd.step() }
    }
  }

  private func lookAtCommit() throws {
    guard !world.disk.isPowerCut else { return }
    let walls = try world.drainCommits()
    crowd.noteCommit()
    world.drainReplies(areLost: false)
    commits += 1
    for wall in walls { try world.jobs.checkChanges(reader, wall: wall, &world.memory) }
    if commits % Self.commitsBetweenLooks == 0 {
      try world.checkEverything(reader, store)
    } else {
      for wall in walls { try world.memory.checkChanges(changes, wall: wall, now: world.now) }
    }
  }
}
