// The watcher of a server. It enforces the deadlines that libmicrohttpd does not know, and makes room for new
// connections. Runs on its own thread.

internal import Platform

extension Core {
  /// Cuts the connections whose deadline has passed, and idle ones when few places are left (`Eviction`),
  /// until `stopWatching`.
  ///
  /// Wakes at the next deadline, or after the shortest time in which a new one could pass. A deadline that is
  /// set after this pass is at least that far ahead, so setting it need not wake the watcher.
  func watch() {
    var next: MonotonicInstant?
    var (checkAt, expireAt) = (MonotonicInstant.now(), MonotonicInstant.now())
    var isEvicting = false
    while true {
      let isDone = registry.wait(until: next) { registry -> Bool? in
        if registry.isWatcherDone { return true }
        if next == nil && !registry.connections.isEmpty { return false }
        // While it evicts, it runs at intervals, because a pass over all connections is expensive.
        return registry.isFilling && !isEvicting ? false : nil
      }
      if isDone == true { return }
      let now = MonotonicInstant.now()
      let soonest = now.advanced(by: Self.watchInterval)
      let all = connections
      if now >= checkAt {
        for connection in all { connection.checkInput() }
        checkAt = now.advanced(by: Self.checkInterval)
      }
      if now >= expireAt {
        let shortest = now.advanced(by: min(limits.requestTimeout, idleTimeMax))
        let nearest = all.compactMap { $0.expire(now) }.min() ?? shortest
        // One wake-up serves several deadlines that are close together.
        expireAt = max(soonest, min(nearest, shortest))
      }
      isEvicting = evictIdle(all, now)
      next = isEvicting ? Self.pause(since: now) : all.isEmpty ? nil : max(soonest, min(expireAt, checkAt))
    }
  }

  /// When to look for room again. With very many connections the pause is longer, so that the passes take at
  /// most a tenth of a processor.
  private static func pause(since begin: MonotonicInstant) -> MonotonicInstant {
    let now = MonotonicInstant.now()
    let pause = min(max(now.duration(since: begin) * 10, watchInterval), pauseMax)
    return now.advanced(by: pause)
  }

  func stopWatching() { registry.update { $0.isWatcherDone = true } }

  /// Cuts the connections that must make room.
  /// - Returns: whether more than `Eviction.kept` connections are open.
  private func evictIdle(_ all: [ClientConnection], _ now: MonotonicInstant) -> Bool {
    let eviction = limits.eviction
    let isFilling = registry.withLock { registry in
      registry.isFilling = registry.connections.count > eviction.kept
      return registry.isFilling
    }
    guard isFilling else { return false }
    var remaining = all.count
    var idle: [(since: MonotonicInstant, element: (ClientConnection, isBody: Bool))] = []
    var bodies = idle
    for connection in all {
      switch connection.occupancy {
      case .idle(let since): idle.append((since, (connection, isBody: false)))
      case .body(let since): bodies.append((since, (connection, isBody: true)))
      case .request: break
      case .ending: remaining -= 1
      }
    }
    for (connection, isBody) in eviction.chosen(from: idle, bodies: bodies, connections: remaining, at: now) {
      if isBody { connection.evictBody(.crowded) } else { connection.evict() }
    }
    return true
  }

  /// Cuts the slowest bodies until there is room for more bytes in the budget: the oldest ones first, and
  /// none that began within the grace, so that many clients that send at full speed do not cut each other.
  /// Called while no connection's lock is held.
  func makeRoom(for bytes: Int64, from address: AddressGroup) -> Bool {
    let latest = MonotonicInstant.now() - limits.evictionGrace
    let isShareFull = !bodies.hasRoomInShare(for: bytes, of: address)
    let slow = connections.compactMap {
      connection -> (since: MonotonicInstant, connection: ClientConnection)? in
      guard let since = connection.bodySince, since <= latest, !isShareFull || connection.group == address
      else {
        return nil
      }
      return (since, connection)
    }
    for (_, connection) in slow.sorted(by: { $0.since < $1.since }) {
      if bodies.hasRoom(for: bytes, from: address) { return true }
      connection.evictBody(.noRoom)
    }
    return bodies.hasRoom(for: bytes, from: address)
  }

  private static let watchInterval: Duration = .milliseconds(10)
  private static let pauseMax: Duration = .milliseconds(100)
  private static let checkInterval: Duration = .milliseconds(500)
}
