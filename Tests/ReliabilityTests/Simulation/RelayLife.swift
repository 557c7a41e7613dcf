// One life of the relay in its world: its parts do their work in an order drawn by lot, one step at a time,
// and it may die between any two steps or in the middle of a write. One thread.

@testable import Delivery
import Domain
@testable import Housekeeping
@testable import Persistence
import Platform
import SQLite
import SQLiteStore
import SimulatedDisk
import Store

@testable import Relay

/// From a start to a stop, or to a crash.
struct RelayLife {
  /// More steps than that at one moment mean that a part never comes to rest.
  private static let stepsMax = 20_000
  /// The receipts are looked at after every commit, all the rest now and then and at the end of each life.
  private static let commitsBetweenLooks = 25

  private let world: SimulatedWorld
  private let core: RelayCore
  private let reader: Connection
  private let changes: Statement
  private let store: StoreReader
  private var commits = 0
  private var rounds: Housekeeper.Rounds
  private var dispatcherAt: Int64
  private var housekeeperAt: Int64
  private var hasNews = true
  private(set) var isDead = false

  init(_ world: SimulatedWorld, _ core: RelayCore) throws {
    let reader = try Connection(path: world.disk.path(), mode: .readOnly, busyTimeoutMilliseconds: 0)
    changes = try reader.prepare(Memory.changedReceipts)
    store = try StoreReader(path: world.disk.path())
    self.world = world
    self.core = core
    self.reader = reader
    rounds = Housekeeper.Rounds(world.clock)
    dispatcherAt = world.now
    housekeeperAt = world.now
  }

  mutating func live(_ run: inout DispatcherRun, until end: Int64) throws {
    try world.lookAtEverything(reader, store)
    core.housekeeper.followClock(FollowClock(jump: nil))
    try settle(&run)
    while !isDead, world.now < end {
      let moments = [world.agenda.nextAt, world.network.nextAnswerAt, dispatcherAt, housekeeperAt, end]
      world.clock.advance(toMonotonic: moments.compactMap(\.self).min() ?? end)
      while !isDead, let act = world.agenda.next(until: world.now) {
        try world.perform(act, core)
        try settle(&run)
      }
      if !isDead { try settle(&run) }
    }
  }

  /// Lets every part work until none has anything to do at this moment.
  private mutating func settle(_ run: inout DispatcherRun) throws {
    var steps = 0
    var isMoving = true
    while isMoving {
      isMoving = false
      for part in [0, 1, 2].shuffled(using: &world.random) {
        steps += 1
        if steps > Self.stepsMax { throw Restless(seed: world.seed) }
        orderDeath()
        switch part {
        case 0: if try commit() { isMoving = true }
        case 1: if dispatch(&run) { isMoving = true }
        default: if keepHouse() { isMoving = true }
        }
        if isDead || world.disk.isPowerCut { return isDead = true }
      }
    }
    world.steps += steps
  }

  /// A part never comes to rest.
  struct Restless: Error { let seed: UInt64 }

  private mutating func orderDeath() {
    guard !world.isHealed, world.oneIn(1500) else { return }
    if world.oneIn(2) {
      isDead = true
    } else {
      // In the middle of a commit that is to come.
      world.disk.cutPower(at: world.oneIn(2) ? .write : .sync, nth: Int(world.between(1...6)))
    }
  }

  private mutating func commit() throws -> Bool {
    guard !isDead, core.committer.commitWaiting() else { return false }
    hasNews = true
    guard !world.disk.isPowerCut else { return true }
    world.takeReplies(areLost: false)
    commits += 1
    if commits % Self.commitsBetweenLooks == 0 {
      try world.lookAtEverything(reader, store)
    } else {
      try world.memory.lookAtChanges(changes, wall: world.wall, now: world.now)
    }
    return true
  }

  private mutating func dispatch(_ run: inout DispatcherRun) -> Bool {
    guard !isDead, world.network.hasNews || world.now >= dispatcherAt else { return false }
    guard let sleep = run.turn() else { return false }
    run.takeAnswers(within: 0)
    dispatcherAt = world.now + max(1, sleep)
    for arrival in world.network.takeArrivals() { world.memory.arrived(arrival) }
    return true
  }

  private mutating func keepHouse() -> Bool {
    guard !isDead, hasNews || world.now >= housekeeperAt else { return false }
    hasNews = false
    let until = core.housekeeper.goRound(&rounds)
    housekeeperAt = max(world.now + 1, until.nanoseconds / 1_000_000)
    return true
  }
}
