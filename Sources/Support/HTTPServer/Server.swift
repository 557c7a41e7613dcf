// An HTTP/1.1 server on GNU libmicrohttpd: its start and its stop. The acceptor hands connections to the
// daemon, whose threads call `Callbacks`. A watcher enforces the deadlines that libmicrohttpd does not know;
// another one detects hang-ups. Nothing here runs for each request.

internal import CMicroHTTPD
internal import Glibc
public import Platform

/// A running HTTP server.
///
/// Owns the acceptor, the daemon and the watchers' threads. `stop` frees them; `deinit` calls it if
/// necessary. Thread-safe, except for the server's own threads: `stop` waits for those, so a `RequestHandler`
/// must neither call it nor hold the last reference.
@safe public final class Server: @unchecked Sendable {
  /// The listening port, including one that the system chose.
  public let port: UInt16

  private enum Phase {
    case running, stopping, stopped
  }

  /// Internal for tests.
  let core: Core
  private let acceptor: Acceptor
  private let daemons: DaemonSuccession
  private let identity: Monitor<ServerConfiguration.Identity?>
  private let watcher: WorkerThread
  private let hangUpWatcher: WorkerThread
  private let phase = Monitor(Phase.running)

  /// Starts to listen and serve.
  /// - Parameter log: gets what libmicrohttpd reports, one line at a time without its newline, on any thread.
  /// - Parameter warn: gets warnings for the operator: no connection can be accepted. At most once a minute,
  ///   on any thread.
  /// - Throws: `ServerError`, after it has released everything.
  public init(
    _ configuration: ServerConfiguration, handler: any RequestHandler,
    log: @escaping @Sendable (String) -> Void = { _ in },
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(ServerError) {
    let hangUps: HangUps
    do {
      hangUps = try HangUps()
    } catch {
      throw .system(error)
    }
    let core = Core(configuration, handler, hangUps, log: log)
    let listener = try Listener(configuration)
    var undo = [listener.close]
    do throws(ServerError) {
      let daemon = try MicroHTTPDaemon(core, configuration.tls)
      let daemons = DaemonSuccession(daemon)
      undo.append(daemon.stop)
      do throws(SystemError) {
        let watcher = try WorkerThread(name: "http-watcher") { core.watch() }
        undo.append {
          core.stopWatching()
          watcher.join()
        }
        let hangUpWatcher = try WorkerThread(name: "http-hang-ups") { hangUps.run() }
        undo.append {
          hangUps.stop()
          hangUpWatcher.join()
        }
        acceptor = try unsafe Acceptor(core, listener, warn: warn) { unsafe daemons.serve($0, $1, $2) }
        self.watcher = watcher
        self.hangUpWatcher = hangUpWatcher
      } catch {
        throw .system(error)
      }
      self.daemons = daemons
    } catch {
      for step in undo.reversed() { step() }
      throw error
    }
    self.core = core
    identity = Monitor(configuration.tls)
    port = listener.port
  }

  /// Checks a certificate and its key, and makes what `use` needs.
  /// - Returns: nil if they are those in use, or if the server does not use TLS.
  public func prepare(_ next: ServerConfiguration.Identity) throws(ServerError) -> NextIdentity? {
    guard let current = identity.withLock({ $0 }), current != next else { return nil }
    return NextIdentity(identity: next, daemon: try MicroHTTPDaemon(core, next))
  }

  /// Serves new connections with another certificate. Open ones end with their next answer. Not while the
  /// server stops.
  public func use(_ next: NextIdentity) {
    guard let daemon = next.claim() else { return }
    identity.withLock { $0 = next.identity }
    daemons.use(daemon)
    core.noteNextIdentity()
  }

  /// The bytes of `bodyBytesTotalMax` in use.
  public var bodyBytesHeld: Int { core.bodies.held }

  /// The number of connections and its limit. The closure holds neither the server nor its application.
  public var load: @Sendable () -> ServerLoad { { [count = core.count] in count.load } }

  deinit { stop(grace: .zero) }

  /// Stops the server. It accepts no more connections, lets the requests in flight end, answers the rest as
  /// `Rejection.stopping` after the grace, closes everything and returns when all threads have ended. A
  /// request that arrives on an open connection meanwhile is still served, and every answer closes its
  /// connection. A second call waits for the first.
  public func stop(grace: Duration) {
    let isFirst = phase.withLock { phase in
      defer { if phase == .running { phase = .stopping } }
      return phase == .running
    }
    guard isFirst else {
      _ = phase.wait { $0 == .stopped ? true : nil }
      return
    }
    core.isStopping = true
    acceptor.stop()
    let grace = MonotonicInstant.now().advanced(by: max(.zero, grace))
    if !core.waitUntilNone(by: grace, { $0.isInFlight }) {
      core.isDraining = true
      for connection in core.connections { connection.abort() }
      // Time for the last answers to reach their sockets; a client that reads too slowly gets none.
      let end = MonotonicInstant.now().advanced(by: Self.lastAnswersTime)
      core.waitUntilNone(by: end) { $0.isBeingAnswered }
    }
    // libmicrohttpd aborts the process if a connection is suspended when the daemon stops.
    core.isDraining = true
    for connection in core.connections { connection.abort() }
    daemons.stop()
    core.stopWatching()
    core.hangUps.stop()
    watcher.join()
    hangUpWatcher.join()
    phase.update { $0 = .stopped }
  }

  private static let lastAnswersTime: Duration = .seconds(1)
}

/// A certificate that a server can use. Thread-safe.
public final class NextIdentity: Sendable {
  public let identity: ServerConfiguration.Identity
  private let daemon: Monitor<MicroHTTPDaemon?>

  fileprivate init(identity: ServerConfiguration.Identity, daemon: MicroHTTPDaemon) {
    self.identity = identity
    self.daemon = Monitor(daemon)
  }

  /// The daemon, once.
  fileprivate func claim() -> MicroHTTPDaemon? {
    daemon.withLock { daemon in
      defer { daemon = nil }
      return daemon
    }
  }

  deinit { claim()?.stop() }
}

/// The number of connections of a server and its limit.
public struct ServerLoad: Sendable, Equatable {
  public let connections: Int
  public let connectionsMax: Int

  public init(connections: Int, connectionsMax: Int) {
    self.connections = connections
    self.connectionsMax = connectionsMax
  }

  /// Whether a new client must wait.
  public var isFull: Bool { connections >= connectionsMax }
}

// MARK: - ServerError

// The errors of starting a server.

/// Why a server could not be started.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// The path of a Unix socket cannot be used, and why.
  case invalidSocket(String)
  /// A system call on the listening socket failed: `bind` with `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, …
  case system(SystemError)
  /// TLS is configured, but this build of libmicrohttpd does not support it.
  case tlsUnavailable
  /// libmicrohttpd did not start; with its message, for example about the certificate.
  case refused(String)

  public var description: String {
    switch self {
    case .invalidAddress(let address): "\(address) is not a numeric IPv4 or IPv6 address"
    case .invalidSocket(let reason): reason
    case .system(let error): error.description
    case .tlsUnavailable: "libmicrohttpd was built without TLS"
    case .refused(let message): "libmicrohttpd: \(message)"
    }
  }
}
