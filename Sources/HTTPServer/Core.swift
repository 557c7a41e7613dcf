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

  private struct Registry {
    var connections: [ObjectIdentifier: Connection] = [:]
    /// Counts what may end a wait of the stopping thread.
    var progress: UInt64 = 0
    var isWatcherDone = false
  }

  /// What libmicrohttpd says while it starts; nil at any other time.
  let startMessages = Monitor<[String]?>(nil)
  private let registry = Monitor(Registry())
  private let stopping = Atomic<Bool>(false)
  private let draining = Atomic<Bool>(false)

  init(
    _ configuration: ServerConfiguration, _ handler: any RequestHandler,
    log: @escaping @Sendable (String) -> Void
  ) {
    limits = configuration
    self.handler = handler
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
  func requestDeadline() -> MonotonicInstant {
    .now().advanced(byMilliseconds: limits.requestTimeoutMilliseconds)
  }

  /// When a connection that has no request now must have one, or must have read its answer. libmicrohttpd
  /// closes the silent ones after the idle time; one that is still there after this sends, or reads, a byte
  /// at a time.
  func idleDeadline() -> MonotonicInstant { .now().advanced(byMilliseconds: idleMilliseconds) }

  private var idleMilliseconds: Int64 {
    let (sum, overflow) = (Int64(limits.idleTimeoutSeconds) * 1000)
      .addingReportingOverflow(limits.requestTimeoutMilliseconds)
    return overflow ? .max : sum
  }

  // MARK: Who is connected

  func register(_ connection: Connection) {
    let isFirst = registry.withLock { registry in
      registry.connections[ObjectIdentifier(connection)] = connection
      return registry.connections.count == 1
    }
    // The watcher sleeps without an end while nobody is connected.
    if isFirst { registry.update { _ in } }
  }

  func unregister(_ connection: Connection) {
    registry.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
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

  // MARK: The watcher; a thread of its own

  /// Cuts the connections whose time is up, until `stopWatching`.
  ///
  /// It wakes at the next deadline, or after the shortest time in which a new one could pass: whatever is set
  /// after this look lies at least that far ahead, so nobody has to wake the watcher for it.
  func watch() {
    var next: MonotonicInstant?
    var checkAt = MonotonicInstant.now()
    while true {
      let isDone = registry.wait(until: next) { registry -> Bool? in
        if registry.isWatcherDone { return true }
        return next == nil && !registry.connections.isEmpty ? false : nil
      }
      if isDone == true { return }
      let now = MonotonicInstant.now()
      let all = connections
      if now >= checkAt {
        for connection in all { connection.checkInput() }
        checkAt = now.advanced(byMilliseconds: Self.checkIntervalMilliseconds)
      }
      let shortest = now.advanced(byMilliseconds: min(limits.requestTimeoutMilliseconds, idleMilliseconds))
      let nearest = all.compactMap { $0.expire(now) }.min() ?? shortest
      // Many deadlines close to each other are one wake-up.
      let soonest = now.advanced(byMilliseconds: Self.watchIntervalMilliseconds)
      next = all.isEmpty ? nil : max(soonest, min(nearest, shortest, checkAt))
    }
  }

  func stopWatching() { registry.update { $0.isWatcherDone = true } }

  private static let watchIntervalMilliseconds: Int64 = 10
  private static let checkIntervalMilliseconds: Int64 = 500
}
