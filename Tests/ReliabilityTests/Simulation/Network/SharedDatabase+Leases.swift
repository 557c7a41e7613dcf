// The course of the leases and outages of a shared database. Thread-safe.

import Domain
import Platform
import Store

extension SharedDatabase.State {
  typealias Database = SharedDatabase
  typealias Call = SharedDatabase.Call

  mutating func apply(_ event: Database.Event, _ names: [String], now: Int64) {
    switch event {
    case .outage: if !isHealed, outage == nil { beginOutage(names, now: now) }
    case .recovery: endOutage(now: now)
    case .trouble(let name):
      guard !isHealed else { return }
      if oneIn(3) { leave(name, now: now) } else { lose(name, at: now + between(0...2_000)) }
      agenda.add(event, at: now + between(SimulatedWorld.minute...16 * SimulatedWorld.hour))
    case .leaving(let name): leave(name, now: now)
    case .takeover(let name, let epoch):
      guard !isHealed, leases[name]?.epoch == epoch else { return }
      figures.takeovers += 1
      leases[name] = Database.Lease(
        owner: Database.others, epoch: epoch + 1, takenUntil: now + absence(of: name))
    case .acquisition(let name): acquire(name, now: now)
    // What was sent during an outage does not arrive.
    case .call(.news) where outage != nil: figures.lostNews += 1
    case .call(let call): calls.append(call)
    }
  }

  // MARK: Outages

  mutating func beginOutage(_ names: [String], now: Int64) {
    figures.outages += 1
    let lengths = [0...3_000, 0...30_000, 0...SimulatedWorld.minute, 0...Database.outageMax]
    let length = between(lengths.randomElement(using: &random) ?? 0...0)
    outage = now...now + length
    agenda.add(.recovery, at: now + length)
    // It cannot renew its leases.
    if length > Database.leaseTime { for name in names { lose(name, at: now + Database.leaseTime) } }
  }

  private mutating func endOutage(now: Int64) {
    guard let ended = outage else { return }
    outages.append(ended.lowerBound...now)
    outage = nil
    pulseAt = now
    // What was sent before the relay listens again is lost, so it looks for everything.
    calls.append(.news(nil))
    agenda.add(.outage, at: now + between(SimulatedWorld.hour...2 * SimulatedWorld.day))
  }

  // MARK: Leases

  /// The relay's time with a lease ends; another relay may acquire it from that moment on.
  mutating func lose(_ name: String, at end: Int64) {
    guard let epoch = held[name]?.epoch, held[name]?.until == .max else { return }
    held[name]?.until = end
    missingSince[name] = end
    // The relay may notice it late: it must look at its clock.
    agenda.add(.call(.ownership), at: end + (oneIn(2) ? 0 : between(0...2_000)))
    let takeover = end + (oneIn(2) ? 0 : between(0...3_000))
    if !oneIn(4) { agenda.add(.takeover(name, epoch: epoch), at: takeover) }
    agenda.add(.acquisition(name), at: takeover + between(1...3_000))
  }

  /// Begins to give a lease up.
  private mutating func leave(_ name: String, now: Int64) {
    guard let lease = valid(name, now: now), lease.until == .max else { return }
    held[name]?.isLeaving = true
    missingSince[name] = now
    calls.append(.ownership)
    let end = Call.giveUp(name, epoch: lease.epoch, until: now + 10_000)
    agenda.add(.call(end), at: now + 500)
  }

  /// Ends a lease that is being given up.
  /// - Parameter isIdle: whether nothing of it is under way.
  mutating func giveUp(_ name: String, epoch: Int64, isIdle: Bool, now: Int64) {
    guard held[name]?.epoch == epoch, let end = held[name]?.until, now < end else { return }
    if isIdle {
      figures.handOvers += 1
      handedOver.insert(Fence(app: AppSlug(name), owner: relay, epoch: epoch))
    }
    held[name] = nil
    leases[name]?.owner = nil
    calls.append(.ownership)
    agenda.add(.takeover(name, epoch: epoch), at: now + between(0...1_000))
    agenda.add(.acquisition(name), at: now + between(1_000...3_000))
  }

  private mutating func absence(of name: String) -> Int64 {
    var lengths = [0...2_000, 0...2 * SimulatedWorld.minute, 0...20 * SimulatedWorld.minute]
    // What one relay does for all apps is looked at every second.
    if name != Database.shared { lengths.append(0...3 * SimulatedWorld.hour) }
    return between(lengths.randomElement(using: &random) ?? 0...0)
  }

  private mutating func acquire(_ name: String, now: Int64) {
    guard isRelayUp, let lease = leases[name], held[name].map({ now >= $0.until }) ?? true else { return }
    let obstacle = max(lease.takenUntil, outage?.upperBound ?? now)
    guard obstacle <= now else {
      return agenda.add(.acquisition(name), at: obstacle + between(1...1_000))
    }
    leases[name] = Database.Lease(owner: relay, epoch: lease.epoch + 1)
    held[name] = Database.Held(epoch: lease.epoch + 1, since: now)
    if name == Database.shared {
      settle(name, epoch: lease.epoch + 1, now: now)
    } else {
      calls.append(.settle(name, epoch: lease.epoch + 1))
    }
  }

  /// The previous owner's transactions have ended.
  mutating func settle(_ name: String, epoch: Int64, now: Int64) {
    guard held[name]?.epoch == epoch, held[name]?.isSettled == false else { return }
    held[name]?.isSettled = true
    held[name]?.since = now
    if let since = missingSince.removeValue(forKey: name) {
      gaps[name, default: []].append(since...max(since, now))
    }
    calls.append(.ownership)
  }

  func valid(_ name: String, now: Int64) -> Database.Held? {
    guard let lease = held[name], lease.isSettled, !lease.isLeaving, now < lease.until else { return nil }
    return lease
  }
}

extension SharedDatabase {
  /// A relay starts. What it held before it died is free after the time of a lease, unless another relay is
  /// faster.
  /// - Returns: its number.
  func startRelay() -> Int64 {
    withState { state, now in
      state.relay += 1
      state.isRelayUp = true
      for name in names {
        let lease = state.leases[name] ?? Lease()
        let free = lease.owner == state.relay - 1 ? now + 3_000 : max(now, lease.takenUntil)
        if state.oneIn(4) { state.agenda.add(.takeover(name, epoch: lease.epoch), at: free) }
        state.agenda.add(.acquisition(name), at: free + state.between(1...1_500))
      }
      return state.relay
    }
  }

  func endRelay() {
    withState { state, now in
      state.isRelayUp = false
      state.held = [:]
      state.calls = []
      for name in names { state.missingSince[name] = state.missingSince[name] ?? now }
    }
  }

  /// Lets the relay lose an app soon, because it delivers just now.
  func threaten(_ name: String) {
    withState { state, now in
      guard !state.isHealed, state.oneIn(5) else { return }
      let soon = now + state.between(1...400)
      if state.oneIn(3) { state.agenda.add(.leaving(name), at: soon) } else { state.lose(name, at: soon) }
    }
  }

  /// The epoch with which the relay may deliver; nil if it may not.
  func epoch(of name: String) -> Int64? { withState { state, now in state.valid(name, now: now)?.epoch } }

  /// Whether the database names the relay as the owner.
  func isOwner(of name: String) -> Bool {
    withState { state, _ in
      let lease = state.leases[name]
      return state.isRelayUp && lease?.owner == state.relay && lease?.epoch == state.held[name]?.epoch
    }
  }

  /// The leases of other relays.
  var foreign: Set<String> {
    withState { state, _ in Set(names.filter { state.leases[$0]?.owner == Self.others }) }
  }

  /// The leases that ended when nothing was under way any more.
  var handedOver: Set<Fence> { withState { state, _ in state.handedOver } }

  /// Since when the relay has a lease and can reach the database; nil if it does not.
  func worksSince(_ name: String) -> Int64? {
    withState { state, now in
      guard state.outage == nil, let since = state.valid(name, now: now)?.since else { return nil }
      return max(since, state.outages.last?.upperBound ?? since)
    }
  }

  /// When the relay could not work for an app, although it may have been running.
  func interruptions(of name: String) -> [ClosedRange<Int64>] {
    withState { state, now in
      let open = state.missingSince[name].map { [min($0, now)...now] } ?? []
      return state.gaps[name, default: []] + open + state.outages + (state.outage.map { [$0] } ?? [])
    }
  }

  // MARK: The instance's thread

  /// When it has something to do.
  var callsDueAt: Int64 {
    withState { state, now in
      if !state.calls.isEmpty { return .min }
      return min(state.agenda.nextAt ?? .max, state.pulseAt ?? .max)
    }
  }

  func drainCalls() -> [Call] {
    withState { state, now in
      if let pulseAt = state.pulseAt, pulseAt <= now {
        state.pulseAt = nil
        state.calls.append(.pulse)
      }
      defer { state.calls = [] }
      return state.calls
    }
  }

  /// Another program notifies the relay of a change, late or never.
  func announce(_ changes: StoreChanges?) {
    withState { state, now in
      guard !state.isHealed, state.oneIn(3) else {
        state.figures.lateNews += 1
        return state.agenda.add(.call(.news(changes)), at: now + state.between(0...20_000))
      }
      state.figures.lostNews += 1
    }
  }

  func noteElsewhere() { withState { state, _ in state.figures.elsewhere += 1 } }
  func noteFenced() { withState { state, _ in state.figures.fenced += 1 } }
}
