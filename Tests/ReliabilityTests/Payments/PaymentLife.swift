// One life of the relay as a merchant's backend: its workers, and the answers that they give. One thread.

import Store

@testable import Daemon
@testable import Service

/// From a start to a stop or a crash.
final class PaymentLife {
  private let world: PaymentWorld
  private let core: RelayCore
  private var crowd: WorkerCrowd

  var isDead: Bool { crowd.isDead }

  init(_ world: PaymentWorld, _ core: RelayCore) throws {
    self.world = world
    self.core = core
    crowd = WorkerCrowd(world, [])
    func reader() throws -> StoreReader { try RelayCore.reader(core.engine) }
    var all: [any SimulatedWorker] = [
      CommitterWorker(core.committer) { [unowned self] in
        crowd.noteCommit()
      },
      AskingWorker(world.clock, world.deliveryNetwork, DispatcherRun(core.dispatcher, reader: try reader())),
      HousekeeperWorker(world.clock, core) { world.clockSetAt },
    ]
    if let lookups = core.lookupWorker {
      let run = LookupRun(lookups, reader: try reader())
      all.append(AskingWorker(world.clock, world.lookupNetwork, run))
    }
    if let requests = core.backendWorker, let captures = core.captureWorker {
      all.append(
        AskingWorker(world.clock, world.requestNetwork, BackendWorkerRun(requests, reader: try reader())))
      all.append(
        AskingWorker(world.clock, world.captureNetwork, CaptureWorkerRun(captures, reader: try reader())))
    }
    crowd = WorkerCrowd(world, all)
  }

  func live(until end: Int64) throws {
    try step()
    while !isDead, world.now < end {
      world.clock.advance(toMonotonic: min(crowd.dueAt ?? end, world.agenda.nextAt ?? end, end))
      while !isDead, let act = world.agenda.next(until: world.now) {
        try world.perform(act, core)
        // Sometimes two acts happen before any worker reacts to the first.
        if !world.isTroubled || !world.oneIn(4) { try step() }
      }
      if !isDead { try step() }
      world.checkPatience()
    }
  }

  private func step() throws { try crowd.step { world.drainReplies(areLost: false) } }
}
