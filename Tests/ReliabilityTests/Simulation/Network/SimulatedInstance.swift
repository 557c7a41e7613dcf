// The simulated relay as one of several on a shared database. Thread-safe; its worker runs on one thread.

import Domain
import Platform
import Store

/// What the relay may do, by its own clock.
final class SimulatedInstance: StoreInstance {
  private let database: SharedDatabase
  private let calls: InstanceCalls
  private let number: Int64

  init(_ database: SharedDatabase, _ calls: InstanceCalls) {
    self.database = database
    self.calls = calls
    number = database.startRelay()
  }

  func lease(of app: AppSlug) -> Lease? {
    database.epoch(of: app.text).map {
      Lease(fence: Fence(app: app, owner: number, epoch: $0))
    }
  }

  func endingLease(of app: AppSlug) -> Lease? {
    database.withState { state, now in
      guard let lease = state.held[app.text], lease.isLeaving, now < lease.until else { return nil }
      return Lease(fence: Fence(app: app, owner: number, epoch: lease.epoch))
    }
  }

  var apps: Set<AppSlug>? {
    Set(SimulatedWorld.apps.filter { database.epoch(of: $0) != nil }.map { AppSlug($0) })
  }

  var doesSharedWork: Bool { database.epoch(of: SharedDatabase.shared) != nil }
  var clock: any Clock { database.clock }
  func start() throws(SystemError) {}
  func stop() {}
  func use(apps: [AppSlug], configuration: String, secrets: String, clockMax: Duration) {}
  func note(_ changes: StoreChanges) {}

  /// Does what the instance's thread does about a change.
  func perform(_ call: SharedDatabase.Call) {
    switch call {
    case .ownership: calls.onOwnership()
    case .news(let changes): calls.onChanges(changes)
    case .pulse: calls.pulse()
    case .giveUp(let name, let epoch, let until):
      let isBusy = name != SharedDatabase.shared && calls.isBusy(AppSlug(name))
      database.withState { state, now in
        guard isBusy, now < until else { return state.giveUp(name, epoch: epoch, isIdle: !isBusy, now: now) }
        state.agenda.add(.call(call), at: now + 500)
      }
    case .settle(let name, let epoch):
      calls.settle(AppSlug(name)) { [database] isSettled in
        database.withState { state, now in
          if isSettled {
            state.settle(name, epoch: epoch, now: now)
          } else if state.held[name]?.epoch == epoch {
            state.agenda.add(.call(.settle(name, epoch: epoch)), at: now + 500)
          }
        }
      }
    }
  }
}

/// The instance's thread.
final class InstanceWorker: SimulatedWorker {
  private let database: SharedDatabase
  private let instance: SimulatedInstance

  init(_ database: SharedDatabase, _ instance: SimulatedInstance) {
    self.database = database
    self.instance = instance
  }

  var dueAt: Int64 { database.callsDueAt }
  func step() { for call in database.drainCalls() { instance.perform(call) } }
}
