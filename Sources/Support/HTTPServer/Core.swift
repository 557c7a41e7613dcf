// The state that all connections of a server share: the application, the limits, and the list of connections.
// Thread-safe.

internal import Platform
internal import Synchronization

/// The part of a server that libmicrohttpd's callbacks use.
///
/// Owned by `Server` and by every connection. The lock of the list is a leaf: no other lock is acquired and
/// no other component is called while it is held, because libmicrohttpd may hold its own locks when it
/// notifies of a connection.
final class Core: Sendable {
  let handler: any RequestHandler
  let limits: ServerConfiguration
  let log: @Sendable (String) -> Void
  let bodies: BodyBudget
  var isEncrypted: Bool { limits.tls != nil }

  /// The data of a connection before libmicrohttpd serves it.
  struct Admission {
    let moment: MonotonicInstant
    /// A result of `PeerAddress.text`.
    let address: String
    /// The group it is counted in; nil when it is not limited.
    let group: AddressGroup?
  }

  struct Registry {
    var connections: [ObjectIdentifier: ClientConnection] = [:]
    /// Accepted connections that libmicrohttpd does not serve yet, by descriptor. If the library has no
    /// memory for one, it never serves it and does not report that. Such a connection counts until its
    /// descriptor is reused, or until the time of a request has passed (`forgetUnserved`).
    var accepted: [Int32: Admission] = [:]
    /// The limited connections by group, including accepted ones.
    var countByGroup: [AddressGroup: Int] = [:]
    /// More connections than `Eviction.kept` have been open since the watcher last checked.
    var isFilling = false
    /// Incremented on each event that may end a wait of the stopping thread.
    var progress: UInt64 = 0
    var isWatcherDone = false
    /// The acceptor waits until a connection ends.
    var isFull = false
    /// No more connections are accepted.
    var isClosed = false

    var total: Int { connections.count + accepted.count }

    /// Releases the places of connections that were accepted before a moment and never served.
    mutating func forgetUnserved(since moment: MonotonicInstant) {
      for (descriptor, admission) in accepted where admission.moment < moment {
        uncount(admission.group)
        accepted[descriptor] = nil
      }
    }

    mutating func uncount(_ group: AddressGroup?) {
      guard let group, let ofGroup = countByGroup[group] else { return }
      countByGroup[group] = ofGroup > 1 ? ofGroup - 1 : nil
    }
  }

  /// Messages that libmicrohttpd logs while it starts; nil at any other time.
  let startMessages = Monitor<[String]?>(nil)
  let registry = Monitor(Registry())
  let hangUps: HangUps
  let count: ConnectionCount
  let requests = RequestCount()
  private let stopping = Atomic<Bool>(false)
  private let identities = Atomic<Int>(0)
  private let draining = Atomic<Bool>(false)

  init(
    _ configuration: ServerConfiguration, _ handler: any RequestHandler, _ hangUps: HangUps,
    log: @escaping @Sendable (String) -> Void
  ) {
    limits = configuration
    self.handler = handler
    self.hangUps = hangUps
    count = ConnectionCount(max: configuration.connections)
    self.log = log
    bodies = BodyBudget(total: configuration.bodyBytesTotalMax)
  }

  /// Every answer closes its connection from now on.
  var isStopping: Bool {
    get { stopping.load(ordering: .sequentiallyConsistent) }
    set { stopping.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// Counts the certificates. A connection of an earlier one ends with its next answer.
  var identityNumber: Int { identities.load(ordering: .sequentiallyConsistent) }
  func noteNextIdentity() { identities.add(1, ordering: .sequentiallyConsistent) }

  /// No request may be suspended from now on.
  var isDraining: Bool {
    get { draining.load(ordering: .sequentiallyConsistent) }
    set { draining.store(newValue, ordering: .sequentiallyConsistent) }
  }

  // MARK: Deadlines

  /// When a request that begins now must be complete.
  func requestDeadline(from now: MonotonicInstant = .now()) -> MonotonicInstant {
    now.advanced(by: limits.requestTimeout)
  }

  /// When a kept-open connection must have sent the next request, or must have read its answer. libmicrohttpd
  /// closes silent connections after the idle time. A connection that is still open at this deadline reads a
  /// byte at a time, or sent a byte on a socket for which the kernel reports nothing (`SocketInput`).
  func idleDeadline(from now: MonotonicInstant = .now()) -> MonotonicInstant {
    now.advanced(by: idleTimeMax)
  }

  var idleTimeMax: Duration {
    .seconds(limits.idleTimeoutSeconds) + limits.requestTimeout
  }

  // MARK: Connections

  /// Whether only the reserve is left for a request, which is already counted. Idle connections do not count:
  /// they are closed when a place is needed (`Eviction`).
  var isCrowded: Bool {
    limits.reservedConnections > 0 && requests.now > limits.unreservedConnections
  }

  /// The group in which an address's connections are counted; nil where they are not limited: on a Unix
  /// socket, where all are local users, and for `unlimitedPeers`.
  /// - Parameter address: a result of `PeerAddress.text`.
  func limitedGroup(_ address: String) -> AddressGroup? {
    guard !address.isEmpty else { return nil }
    guard let peer = IPAddress(address) else { return AddressGroup(address) }
    return limits.unlimitedPeers.contains { $0.contains(peer) } ? nil : AddressGroup(peer)
  }

  /// Waits until another connection may be accepted.
  /// - Returns: false when no more connections are accepted.
  func waitForSlot() -> Bool {
    while true {
      let now = MonotonicInstant.now()
      let timeIsOver = now - limits.requestTimeout
      // Woken when a connection closes. Connections that were never served do not close.
      let again = now.advanced(by: limits.requestTimeout)
      let isOpen = registry.wait(until: again) { registry -> Bool? in
        if registry.isClosed { return false }
        if registry.total >= limits.connectionsMax { registry.forgetUnserved(since: timeIsOver) }
        registry.isFull = registry.total >= limits.connectionsMax
        return registry.isFull ? nil : true
      }
      if let isOpen { return isOpen }
    }
  }

  /// Waits for this time, or until the server stops accepting.
  /// - Returns: false when the server stopped accepting.
  func pause(for duration: Duration) -> Bool {
    let end = MonotonicInstant.now().advanced(by: duration)
    return registry.wait(until: end) { $0.isClosed ? true : nil } == nil
  }

  /// Counts an accepted connection.
  /// - Returns: false when its address has too many connections, and it must be closed.
  func admit(_ descriptor: Int32, _ address: String) -> Bool {
    let group = limitedGroup(address)
    return registry.withLock { registry in
      registry.uncount(registry.accepted.removeValue(forKey: descriptor)?.group)
      if let group {
        let ofGroup = registry.countByGroup[group, default: 0]
        guard ofGroup < max(1, limits.connectionsPerAddress) else { return false }
        registry.countByGroup[group] = ofGroup + 1
      }
      registry.accepted[descriptor] = Admission(moment: .now(), address: address, group: group)
      return true
    }
  }

  /// libmicrohttpd serves a connection from now on. Called on the thread that serves it.
  /// - Parameter make: makes it from the data recorded at the accept; nil if that was forgotten meanwhile.
  func register(_ descriptor: Int32, _ make: (Admission?) -> ClientConnection) -> ClientConnection {
    let connection = make(registry.withLock { $0.accepted[descriptor] })
    let needsWatcher = registry.withLock { registry in
      registry.accepted[descriptor] = nil
      registry.connections[ObjectIdentifier(connection)] = connection
      let total = registry.connections.count
      count.now = total
      let isFilling = total > limits.eviction.kept
      // The watcher sleeps without a timeout while there are no connections.
      let needsWatcher = total == 1 || (isFilling && !registry.isFilling)
      if isFilling { registry.isFilling = true }
      return needsWatcher
    }
    if needsWatcher { registry.update { _ in } }
    return connection
  }

  func unregister(_ connection: ClientConnection) {
    let wasFull = registry.withLock { registry in
      guard registry.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else {
        return false
      }
      count.now = registry.connections.count
      registry.uncount(connection.limitedGroup)
      return registry.isFull
    }
    if wasFull { registry.update { _ in } }
    noteProgress()
  }

  /// Wakes the stopping thread, if there is one. Called after a connection's state has changed under its
  /// lock, so either this call sees `isStopping` or the stopping thread sees the change.
  func noteProgress() {
    if isStopping { registry.update { $0.progress &+= 1 } }
  }

  var connections: [ClientConnection] { registry.withLock { Array($0.connections.values) } }

  /// Waits until no connection satisfies `condition`.
  /// - Returns: false when the deadline passed first.
  @discardableResult
  func waitUntilNone(by deadline: MonotonicInstant, _ condition: (ClientConnection) -> Bool) -> Bool {
    while true {
      let (seen, all) = registry.withLock { ($0.progress, Array($0.connections.values)) }
      guard all.contains(where: condition) else { return true }
      guard registry.wait(until: deadline, { $0.progress == seen ? nil : true }) != nil else { return false }
    }
  }
}

/// The number of a server's connections. A separate object, so that reading it does not keep the application
/// alive.
final class ConnectionCount: Sendable {
  private let value = Atomic<Int>(0)
  private let max: Int

  init(max: Int) { self.max = max }

  var now: Int {
    get { value.load(ordering: .relaxed) }
    set { value.store(newValue, ordering: .relaxed) }
  }

  var load: ServerLoad { ServerLoad(connections: now, connectionsMax: max) }
}

/// The number of requests in progress, from the end of their header fields until they end.
final class RequestCount: Sendable {
  private let value = Atomic<Int>(0)

  var now: Int { value.load(ordering: .relaxed) }
  func begin() { value.add(1, ordering: .relaxed) }
  func end() { value.subtract(1, ordering: .relaxed) }
}

// MARK: - Watch

// The watcher of a server. It enforces the deadlines that libmicrohttpd does not know, and makes room for new
// connections. Runs on its own thread.

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
