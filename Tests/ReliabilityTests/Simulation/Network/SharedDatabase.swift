// A database that several relays share, as the simulated one sees it: its outages, the answers of COMMIT that
// are lost, the leases, and the notifications of the other relays. Thread-safe.

import Platform
import Store

/// The part of a database server that SQLite lacks. It outlives the relays.
final class SharedDatabase: Sendable {
  /// The lease of what one relay does for all apps.
  static let shared = "(shared)"
  /// For how long a relay uses a lease that it cannot renew. Others acquire it half a second later at the
  /// earliest.
  static let leaseTime: Int64 = 2_500
  static let outageMax = 20 * SimulatedWorld.minute
  /// The number of all other relays.
  static let others: Int64 = -1

  /// A row of `leases`.
  struct Lease {
    var owner: Int64?
    var epoch: Int64 = 0
    /// Until when another relay keeps it.
    var takenUntil: Int64 = 0
  }

  /// A lease that the simulated relay believes to have.
  struct Held {
    var epoch: Int64
    /// When the relay stops using it.
    var until = Int64.max
    /// Whether the previous owner's transactions have ended.
    var isSettled = false
    /// Whether it is being given up.
    var isLeaving = false
    var since: Int64
  }

  /// What happens at a later time.
  enum Event {
    case outage, recovery
    /// The relay is about to lose a lease.
    case trouble(String)
    /// The relay gives a lease up, as it does when another one has fewer.
    case leaving(String)
    /// Another relay acquires a lease, if it is still that of this epoch.
    case takeover(String, epoch: Int64)
    case acquisition(String)
    case call(Call)
  }

  /// A call to the relay by its instance's thread.
  enum Call {
    case ownership
    case news(StoreChanges?)
    case settle(String, epoch: Int64)
    /// Gives up a lease, once its deliveries have ended.
    case giveUp(String, epoch: Int64, until: Int64)
    case pulse
  }

  /// How the server answers a COMMIT.
  enum CommitFate {
    case answered
    /// The connection was lost before, and that is known.
    case conflict
    /// The outcome is unknown.
    case unknown(isStored: Bool)
  }

  /// For the report.
  struct Figures {
    var outages = 0
    var conflicts = 0
    var unknownStored = 0
    var unknownNotStored = 0
    var takeovers = 0
    var handOvers = 0
    var fenced = 0
    var lateNews = 0
    var lostNews = 0
    var elsewhere = 0

    /// With their names in the report.
    var all: [(name: String, count: Int)] {
      [
        ("outages", outages), ("answers of COMMIT lost, nothing stored", conflicts),
        ("answers of COMMIT lost, outcome unknown, stored", unknownStored),
        ("answers of COMMIT lost, outcome unknown, not stored", unknownNotStored),
        ("leases lost to another relay", takeovers), ("leases handed over as planned", handOvers),
        ("outcomes of past owners refused", fenced),
        ("requests stored by another relay", elsewhere), ("late notifications", lateNews),
        ("lost notifications", lostNews),
      ]
    }
  }

  struct State {
    var random: SeededGenerator
    var agenda = Agenda<Event>()
    /// The number of the present relay; each start has its own.
    var relay: Int64 = 0
    var isRelayUp = false
    var leases: [String: Lease]
    var held: [String: Held] = [:]
    /// Since when a lease is not held.
    var missingSince: [String: Int64] = [:]
    /// Tenures that ended when nothing was under way any more.
    var handedOver: Set<Fence> = []
    /// When a lease was not held.
    var gaps: [String: [ClosedRange<Int64>]] = [:]
    var outage: ClosedRange<Int64>?
    var outages: [ClosedRange<Int64>] = []
    var calls: [Call] = []
    /// When the relay next tries to reach the database, after a failure.
    var pulseAt: Int64?
    var isHealed = false
    /// When transactions were stored, when those of which the relay does not know it, and whether one has
    /// failed, since the last `drainCommits`.
    var commits: Set<Int64> = []
    var unknown: Set<Int64> = []
    var hasFailed = false
    var figures = Figures()

    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    mutating func between(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
  }

  let clock: SimulatedClock
  /// All leases, in order.
  let names: [String]
  let state: Monitor<State>

  init(seed: UInt64, clock: SimulatedClock, apps: [String]) {
    self.clock = clock
    let names = apps + [Self.shared]
    self.names = names
    var state = State(
      random: SeededGenerator(seed: seed),
      leases: Dictionary(uniqueKeysWithValues: names.map { ($0, Lease()) }))
    let now = clock.monotonicMilliseconds
    for name in names {
      state.missingSince[name] = now
      state.agenda.add(.trouble(name), at: now + state.between(0...8 * SimulatedWorld.hour))
    }
    state.agenda.add(.outage, at: now + state.between(0...12 * SimulatedWorld.hour))
    self.state = Monitor(state)
  }

  /// Runs `body` after what is due has happened.
  func withState<Result>(_ body: (inout State, _ now: Int64) -> Result) -> Result {
    let now = clock.monotonicMilliseconds
    return state.withLock { state in
      while let event = state.agenda.next(until: now) { state.apply(event, names, now: now) }
      return body(&state, now)
    }
  }

  /// Ends all faults: the leases come back, and stay.
  func heal() {
    withState { state, now in
      state.isHealed = true
      if state.outage != nil { state.apply(.recovery, names, now: now) }
      for name in names {
        state.leases[name]?.takenUntil = now
        state.agenda.add(.acquisition(name), at: now + 1)
      }
    }
  }

  var figures: Figures { withState { state, _ in state.figures } }

  // MARK: The writer and the readers

  /// Called before each transaction and each read. Each attempt of the writer takes a while.
  func reach(isWriter: Bool) throws(StoreFault) {
    let (isOut, wait) = withState { state, _ in
      let wait = state.outage != nil && isWriter ? state.between(500...3_000) : 0
      return (state.outage != nil, wait)
    }
    guard isOut else { return }
    clock.advance(toMonotonic: clock.monotonicMilliseconds + wait)
    if isWriter { noteFailure() }
    throw StoreFault(.unreachable, operation: "connect", reason: "simulated outage")
  }

  /// A connection that only reads is lost now and then, and the next read connects again.
  func reachForReading() throws(StoreFault) {
    try reach(isWriter: false)
    let isLost = withState { state, _ in !state.isHealed && state.oneIn(500) }
    if isLost { throw StoreFault(.unavailable, operation: "SELECT", reason: "simulated loss") }
  }

  /// Whether another relay's transaction is in the way of a batch.
  func hasConflict() -> Bool {
    let isInWay = withState { state, _ in !state.isHealed && state.oneIn(40) }
    if isInWay { noteFailure() }
    return isInWay
  }

  func fateOfCommit() -> CommitFate {
    withState { state, now in
      guard !state.isHealed, state.oneIn(40) else { return .answered }
      if state.oneIn(3) {
        state.figures.conflicts += 1
        return .conflict
      }
      let isStored = state.oneIn(2)
      if isStored { state.figures.unknownStored += 1 } else { state.figures.unknownNotStored += 1 }
      // Most often the server itself has failed.
      if state.outage == nil, state.oneIn(8) { state.beginOutage(names, now: now) }
      return .unknown(isStored: isStored)
    }
  }

  func noteFailure() {
    withState { state, now in
      state.hasFailed = true
      state.pulseAt = state.pulseAt ?? now + 500
    }
  }

  /// Notes that a transaction with this time was stored.
  func noteStored(at wall: Int64, isKnown: Bool) {
    withState { state, _ in
      state.commits.insert(wall)
      if !isKnown { state.unknown.insert(wall) }
    }
  }

  /// The times of the transactions that were stored since the last call, those of which the relay does not
  /// know it, and whether one has failed.
  func drainCommits() -> (walls: [Int64], unknown: [Int64], hasFailed: Bool) {
    withState { state, _ in
      defer { (state.commits, state.unknown, state.hasFailed) = ([], [], false) }
      return (state.commits.sorted(), state.unknown.sorted(), state.hasFailed)
    }
  }

  /// The row of a lease.
  func lease(_ name: String) -> Lease? { withState { state, _ in state.leases[name] } }
}
