// An HTTP/1.1 server on GNU libmicrohttpd: its start and its stop. The acceptor hands connections to the
// daemon, whose threads call `Callbacks`; a watcher keeps the deadlines that libmicrohttpd does not know, and
// another one sees the hang-ups that it does not see. Nothing here is on the way of a request.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// A running HTTP server.
///
/// Owns the acceptor, the daemon and the watchers' threads; `stop` frees them, and `deinit` does when
/// nobody stopped it. Any thread may use it but the server's own: `stop` waits for those, so a
/// `RequestHandler` must neither call it nor hold the last reference.
@safe public final class Server: @unchecked Sendable {
  /// The port it listens on, also when the configuration left the choice to the system.
  public let port: UInt16

  private enum Phase {
    case running, stopping, stopped
  }

  /// For tests, too.
  let core: Core
  private let acceptor: Acceptor
  private let daemon: MicroHTTPDaemon
  private let watcher: WorkerThread
  private let hangUpWatcher: WorkerThread
  private let phase = Monitor(Phase.running)

  /// Listens and serves at once.
  /// - Parameter log: takes what libmicrohttpd reports, one line without its end at a time, on any thread.
  /// - Parameter warn: takes what the operator should know: that no connection can be accepted. Once a minute
  ///   at most, on any thread.
  /// - Throws: `ServerError`; nothing is left behind then.
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
      let daemon = try MicroHTTPDaemon(core)
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
        acceptor = try unsafe Acceptor(core, listener, warn: warn) { unsafe daemon.serve($0, $1, $2) }
        self.watcher = watcher
        self.hangUpWatcher = hangUpWatcher
      } catch {
        throw .system(error)
      }
      self.daemon = daemon
    } catch {
      for step in undo.reversed() { step() }
      throw error
    }
    self.core = core
    port = listener.port
  }

  /// How much of `bodyBytesTotalMax` is held now.
  public var bodyBytesHeld: Int { core.bodies.held }

  /// How many connections there are, and may be. The closure holds neither the server nor its application.
  public var load: @Sendable () -> ServerLoad { { [count = core.count] in count.load } }

  deinit { stop(graceMilliseconds: 0) }

  /// Takes no new connections, lets the requests in flight end, answers those that the application does not
  /// answer within the grace as `Rejection.stopping`, closes everything and returns when no thread is left. A
  /// request that comes on an open connection meanwhile is still served; every answer now closes its
  /// connection. Calling it again waits for the first call.
  public func stop(graceMilliseconds: Int64) {
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
    let grace = MonotonicInstant.now().advanced(byMilliseconds: max(0, graceMilliseconds))
    if !core.waitUntilNone(by: grace, { $0.isInFlight }) {
      core.isDraining = true
      for connection in core.connections { connection.abort() }
      // Time for the last answers to reach their sockets; who reads too slowly for that loses his.
      let end = MonotonicInstant.now().advanced(byMilliseconds: Self.lastAnswersMilliseconds)
      core.waitUntilNone(by: end) { $0.isBeingAnswered }
    }
    // libmicrohttpd aborts the process if a connection is suspended when the daemon stops.
    core.isDraining = true
    for connection in core.connections { connection.abort() }
    daemon.stop()
    core.stopWatching()
    core.hangUps.stop()
    watcher.join()
    hangUpWatcher.join()
    phase.update { $0 = .stopped }
  }

  private static let lastAnswersMilliseconds: Int64 = 1000
}

/// How many connections a server has and may have.
public struct ServerLoad: Sendable, Equatable {
  public let connections: Int
  public let connectionsMax: Int

  public init(connections: Int, connectionsMax: Int) {
    self.connections = connections
    self.connectionsMax = connectionsMax
  }

  /// Whether whoever connects now has to wait.
  public var isFull: Bool { connections >= connectionsMax }
}
