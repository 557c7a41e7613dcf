// What all connections of a server share: the application, the limits, and the list of who is connected. Any
// thread.

internal import Platform
internal import Synchronization

/// The part of a server that libmicrohttpd's callbacks reach.
///
/// Owned by `Server` and by every connection. The lock of the list is a leaf: nothing else is locked, and
/// nobody called, while it is held; libmicrohttpd may hold locks of its own when it notifies of a connection.
final class Core: Sendable {
  let handler: any RequestHandler
  let limits: ServerConfiguration
  let log: @Sendable (String) -> Void
  let bodies: BodyBudget
  var isEncrypted: Bool { limits.tls != nil }

  struct Registry {
    var connections: [ObjectIdentifier: Connection] = [:]
    /// Of those that are limited.
    var countByGroup: [AddressGroup: Int] = [:]
    /// Connections have come since the watcher last had room for more.
    var isFilling = false
    /// Counts what may end a wait of the stopping thread.
    var progress: UInt64 = 0
    var isWatcherDone = false
  }

  /// What libmicrohttpd says while it starts; nil at any other time.
  let startMessages = Monitor<[String]?>(nil)
  let registry = Monitor(Registry())
  let hangUps: HangUps
  let count: ConnectionCount
  let requests = RequestCount()
  private let stopping = Atomic<Bool>(false)
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

  /// No request may be suspended from now on.
  var isDraining: Bool {
    get { draining.load(ordering: .sequentiallyConsistent) }
    set { draining.store(newValue, ordering: .sequentiallyConsistent) }
  }

  // MARK: Deadlines

  /// When a request that begins now must be complete.
  func requestDeadline(from now: MonotonicInstant = .now()) -> MonotonicInstant {
    now.advanced(byMilliseconds: limits.requestTimeoutMilliseconds)
  }

  /// When a connection that was kept open must have the next request, or must have read its answer.
  /// libmicrohttpd closes the silent ones after the idle time; one that is still there after this reads a
  /// byte at a time, or sent one where the kernel does not tell (`SocketInput`).
  func idleDeadline(from now: MonotonicInstant = .now()) -> MonotonicInstant {
    now.advanced(byMilliseconds: idleMilliseconds)
  }

  var idleMilliseconds: Int64 {
    let (sum, overflow) = (Int64(limits.idleTimeoutSeconds) * 1000)
      .addingReportingOverflow(limits.requestTimeoutMilliseconds)
    return overflow ? .max : sum
  }

  // MARK: Who is connected

  /// Whether only the reserve is left for a request, which is counted already. Idle connections do not count:
  /// they make room when a place is needed (`Eviction`).
  var isCrowded: Bool {
    limits.reservedConnections > 0 && requests.now > limits.unreservedConnections
  }

  /// What the connections of an address are counted as; nil where they are not limited: on a Unix socket,
  /// where all are local users, and for `unlimitedPeers`.
  /// - Parameter address: as `PeerAddress.text` gives it.
  func limitedGroup(_ address: String) -> AddressGroup? {
    guard !address.isEmpty else { return nil }
    guard let peer = IPAddress(address) else { return AddressGroup(address) }
    return limits.unlimitedPeers.contains { $0.contains(peer) } ? nil : AddressGroup(peer)
  }

  /// Whether an address may have one more connection.
  func accepts(_ address: String) -> Bool {
    guard let group = limitedGroup(address) else { return true }
    return registry.withLock { $0.countByGroup[group] ?? 0 } < max(1, limits.connectionsPerAddress)
  }

  /// - Returns: false when the client has too many; it is registered all the same, until it is closed.
  func register(_ connection: Connection) -> Bool {
    let (needsWatcher, isWithinLimit) = registry.withLock { registry in
      registry.connections[ObjectIdentifier(connection)] = connection
      let total = registry.connections.count
      count.now = total
      let isFilling = total > limits.eviction.kept
      // The watcher sleeps without an end while nobody is connected.
      let needsWatcher = total == 1 || (isFilling && !registry.isFilling)
      if isFilling { registry.isFilling = true }
      guard connection.isLimited else { return (needsWatcher, true) }
      let ofGroup = registry.countByGroup[connection.group, default: 0] + 1
      registry.countByGroup[connection.group] = ofGroup
      return (needsWatcher, ofGroup <= max(1, limits.connectionsPerAddress))
    }
    if needsWatcher { registry.update { _ in } }
    return isWithinLimit
  }

  func unregister(_ connection: Connection) {
    registry.withLock { registry in
      guard registry.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
      count.now = registry.connections.count
      guard connection.isLimited, let ofGroup = registry.countByGroup[connection.group] else { return }
      registry.countByGroup[connection.group] = ofGroup > 1 ? ofGroup - 1 : nil
    }
    noteProgress()
  }

  /// Wakes the stopping thread, if there is one. Called after the state of a connection has changed under its
  /// lock, so either `isStopping` is seen here or the stopping thread sees the change.
  func noteProgress() {
    if isStopping { registry.update { $0.progress &+= 1 } }
  }

  var connections: [Connection] { registry.withLock { Array($0.connections.values) } }

  /// Waits until no connection fulfils `condition`.
  /// - Returns: false when the deadline passed first.
  @discardableResult
  func waitUntilNone(by deadline: MonotonicInstant, _ condition: (Connection) -> Bool) -> Bool {
    while true {
      let (seen, all) = registry.withLock { ($0.progress, Array($0.connections.values)) }
      guard all.contains(where: condition) else { return true }
      guard registry.wait(until: deadline, { $0.progress == seen ? nil : true }) != nil else { return false }
    }
  }
}

/// How many connections a server has. An object of its own: who asks for it must not keep the application
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

/// How many requests are under way: from the end of their header fields until they are over.
final class RequestCount: Sendable {
  private let value = Atomic<Int>(0)

  var now: Int { value.load(ordering: .relaxed) }
  func begin() { value.add(1, ordering: .relaxed) }
  func end() { value.subtract(1, ordering: .relaxed) }
}
