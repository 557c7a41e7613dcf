// Wraps libmicrohttpd's daemon: its options, its connections and its stop.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// An `MHD_Daemon` and the memory that it needs while it runs.
///
/// Owns the daemon and its options with copies of the certificate and the key. `stop` frees all of it and
/// must be called once. Called from the threads that start and stop the server, and from the acceptor.
@safe final class MicroHTTPDaemon: @unchecked Sendable {
  private let core: Core
  private let options: UnsafeMutablePointer<CMicroHTTPDOptions>
  private let daemon: OpaquePointer

  /// - Parameter tls: nil for plain HTTP.
  init(_ core: Core, _ tls: ServerConfiguration.Identity?) throws(ServerError) {
    if tls != nil && MHD_is_feature_supported(.FEATURE_TLS) != .YES { throw .tlsUnavailable }
    let options = unsafe Self.makeOptions(core, tls)
    do throws(ServerError) {
      unsafe daemon = try unsafe Self.start(core, options)
    } catch {
      unsafe Self.free(options)
      throw error
    }
    self.core = core
    unsafe self.options = unsafe options
  }

  /// Serves a connection. Takes ownership of the descriptor: libmicrohttpd closes it, even when it cannot
  /// serve it, and then logs the reason (microhttpd.h, MHD_add_connection).
  func serve(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) {
    _ = unsafe MHD_add_connection(daemon, descriptor, address, size)
  }

  /// Whether it serves no connection.
  var isUnused: Bool {
    unsafe CMicroHTTPD_connectionCount(daemon) == 0
  }

  /// Closes all connections, waits for the daemon's threads and frees all memory. No connection may be
  /// suspended, and none may be added from now on.
  func stop() {
    unsafe MHD_stop_daemon(daemon)
    unsafe Self.free(options)
  }

  private static func start(
    _ core: Core, _ options: UnsafeMutablePointer<CMicroHTTPDOptions>
  ) throws(ServerError) -> OpaquePointer {
    core.startMessages.withLock { $0 = [] }
    let daemon = unsafe CMicroHTTPD_start(options)
    let messages = core.startMessages.withLock { messages in
      defer { messages = nil }
      return messages ?? []
    }
    guard let daemon = unsafe daemon else {
      throw .refused(messages.isEmpty ? "without a reason" : messages.joined(separator: "; "))
    }
    return unsafe daemon
  }

  private static func makeOptions(
    _ core: Core, _ tls: ServerConfiguration.Identity?
  ) -> UnsafeMutablePointer<CMicroHTTPDOptions> {
    let limits = core.limits
    let flags = [
      MHD_USE_EPOLL_INTERNAL_THREAD, MHD_ALLOW_SUSPEND_RESUME, MHD_USE_ITC, MHD_USE_ERROR_LOG,
      MHD_USE_NO_LISTEN_SOCKET,
      tls == nil ? MHD_NO_FLAG : MHD_USE_TLS,
    ]
    var options = unsafe CMicroHTTPDOptions()
    unsafe options.flags = flags.reduce(0) { $0 | $1.rawValue }
    unsafe options.threads = UInt32(clamping: limits.threads)
    unsafe options.idleTimeoutSeconds = limits.idleTimeoutSeconds
    unsafe options.connectionMemory = max(1024, limits.headerBytesMax) + answerHeadBytes
    if let tls {
      unsafe options.certificate = strdup(tls.certificatePEM)
      unsafe options.key = strdup(tls.keyPEM)
    }
    // Borrowed: the core outlives the daemon, which this object owns.
    unsafe options.context = Unmanaged.passUnretained(core).toOpaque()
    unsafe Callbacks.install(in: &options)
    let pointer = UnsafeMutablePointer<CMicroHTTPDOptions>.allocate(capacity: 1)
    unsafe pointer.initialize(to: options)
    return unsafe pointer
  }

  /// Room for the header fields of an answer beside the largest head of a request. Without it libmicrohttpd
  /// closes the connection instead of answering.
  private static let answerHeadBytes = 4 * 1024

  private static func free(_ options: UnsafeMutablePointer<CMicroHTTPDOptions>) {
    unsafe Glibc.free(options.pointee.certificate)
    if let key = unsafe options.pointee.key {
      // Erases the key before its memory is freed.
      unsafe explicit_bzero(key, strlen(key))
      unsafe Glibc.free(key)
    }
    unsafe options.deallocate()
  }
}

// MARK: - DaemonSuccession

// The daemons of one server, of which only the newest gets connections: libmicrohttpd cannot change the
// certificate of a running daemon.

/// The daemon for new connections, and earlier ones until theirs have ended. Thread-safe.
final class DaemonSuccession: Sendable {
  private struct State {
    var current: MicroHTTPDaemon
    var earlier: [MicroHTTPDaemon] = []
  }

  private let state: Monitor<State>

  init(_ first: MicroHTTPDaemon) { state = Monitor(State(current: first)) }

  /// As `MicroHTTPDaemon.serve`. Under the lock, so that no earlier daemon gets a connection.
  func serve(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) {
    state.withLock { unsafe $0.current.serve(descriptor, address, size) }
  }

  /// Serves new connections by another daemon.
  func use(_ next: MicroHTTPDaemon) {
    let unused = state.withLock { state in
      let unused = state.earlier.filter(\.isUnused)
      state.earlier.removeAll { earlier in unused.contains { $0 === earlier } }
      state.earlier.append(state.current)
      state.current = next
      return unused
    }
    for daemon in unused { daemon.stop() }
  }

  /// As `MicroHTTPDaemon.stop`.
  func stop() {
    for daemon in state.withLock({ $0.earlier + [$0.current] }) { daemon.stop() }
  }
}
