// The watcher of a server: the deadlines that libmicrohttpd does not know, and room for those who connect. A
// thread of its own.

internal import Platform

extension Core {
  /// Cuts the connections whose time is up, and the longest idle ones when few places are left, until
  /// `stopWatching`.
  ///
  /// It wakes at the next deadline, or after the shortest time in which a new one could pass: whatever is set
  /// after this look lies at least that far ahead, so nobody has to wake the watcher for it.
  func watch() {
    var next: MonotonicInstant?
    var checkAt = MonotonicInstant.now()
    var isEvicting = false
    while true {
      let isDone = registry.wait(until: next) { registry -> Bool? in
        if registry.isWatcherDone { return true }
        if next == nil && !registry.connections.isEmpty { return false }
        // Once it evicts, it does so at intervals: a look at all connections is not free.
        return registry.isFilling && !isEvicting ? false : nil
      }
      if isDone == true { return }
      let now = MonotonicInstant.now()
      let all = connections
      if now >= checkAt {
        for connection in all { connection.checkInput() }
        checkAt = now.advanced(byMilliseconds: Self.checkIntervalMilliseconds)
      }
      isEvicting = evictIdle(all)
      let shortest = now.advanced(byMilliseconds: min(limits.requestTimeoutMilliseconds, idleMilliseconds))
      let nearest = all.compactMap { $0.expire(now) }.min() ?? shortest
      // Many deadlines close to each other are one wake-up.
      let soonest = now.advanced(byMilliseconds: Self.watchIntervalMilliseconds)
      next = isEvicting ? soonest : all.isEmpty ? nil : max(soonest, min(nearest, shortest, checkAt))
    }
  }

  func stopWatching() { registry.update { $0.isWatcherDone = true } }

  /// Cuts the longest idle connections when there are more than `connectionsKept`.
  /// - Returns: whether there were.
  private func evictIdle(_ all: [Connection]) -> Bool {
    let isFilling = registry.withLock { registry in
      registry.isFilling =
        limits.reservedConnections > 0 && registry.connections.count > limits.connectionsKept
      return registry.isFilling
    }
    guard isFilling else { return false }
    var remaining = all.count
    var idle: [(since: MonotonicInstant, connection: Connection)] = []
    for connection in all {
      if let since = connection.idleSince {
        idle.append((since, connection))
      } else if connection.isEnding {
        remaining -= 1
      }
    }
    let excess = max(0, remaining - limits.connectionsKept)
    for entry in idle.sorted(by: { $0.since < $1.since }).prefix(excess) { entry.connection.evict() }
    return true
  }

  private static let watchIntervalMilliseconds: Int64 = 10
  private static let checkIntervalMilliseconds: Int64 = 500
}
