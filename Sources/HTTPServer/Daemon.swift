// libmicrohttpd's daemon as an owned object: its options, its listening socket, its end.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// An `MHD_Daemon` and what it needs as long as it runs.
///
/// Owns the daemon, its options with copies of the certificate and the key, and one descriptor of the
/// listening socket; the daemon owns and closes another one of the same socket, so that neither is closed
/// twice, whatever way it ends. `stop` must be called once, and frees all. Used by the threads that start and
/// stop the server.
@safe final class Daemon: @unchecked Sendable {
  let port: UInt16
  private let core: Core
  private let listener: Int32
  private let socketFile: SocketFile?
  private let options: UnsafeMutablePointer<CMicroHTTPDOptions>
  private let daemon: OpaquePointer

  init(_ core: Core) throws(ServerError) {
    if core.isEncrypted && MHD_is_feature_supported(.FEATURE_TLS) != .YES { throw .tlsUnavailable }
    let socketFile: SocketFile? = if let path = core.limits.socketPath { try SocketFile(path) } else { nil }
    let listener = if let socketFile { socketFile.descriptor } else { try Listener.open(core.limits) }
    let options = unsafe Self.makeOptions(core)
    do throws(ServerError) {
      port = socketFile == nil ? try Listener.port(of: listener) : 0
      unsafe daemon = try unsafe Self.start(core, options, listener)
    } catch {
      close(listener)
      socketFile?.remove()
      unsafe Self.free(options)
      throw error
    }
    self.socketFile = socketFile
    self.core = core
    self.listener = listener
    unsafe self.options = unsafe options
  }

  /// Takes no new connections; those that are open go on.
  func stopListening() {
    let own = unsafe MHD_quiesce_daemon(daemon)
    if own >= 0 { close(own) }
    close(listener)
    socketFile?.remove()
  }

  /// Closes all connections, waits for the daemon's threads and frees everything. No connection may be
  /// suspended.
  func stop() {
    unsafe MHD_stop_daemon(daemon)
    unsafe Self.free(options)
  }

  private static func start(
    _ core: Core, _ options: UnsafeMutablePointer<CMicroHTTPDOptions>, _ listener: Int32
  ) throws(ServerError) -> OpaquePointer {
    let own = fcntl(listener, F_DUPFD_CLOEXEC, 0)
    guard own >= 0 else { throw .system(.last("fcntl")) }
    unsafe options.pointee.listener = own
    core.startMessages.withLock { $0 = [] }
    let daemon = unsafe CMicroHTTPD_start(options)
    let messages = core.startMessages.withLock { messages in
      defer { messages = nil }
      return messages ?? []
    }
    guard let daemon = unsafe daemon else {
      throw .refused(messages.isEmpty ? "it does not say why" : messages.joined(separator: "; "))
    }
    return unsafe daemon
  }

  private static func makeOptions(_ core: Core) -> UnsafeMutablePointer<CMicroHTTPDOptions> {
    let limits = core.limits
    let flags = [
      MHD_USE_EPOLL_INTERNAL_THREAD, MHD_ALLOW_SUSPEND_RESUME, MHD_USE_ITC, MHD_USE_ERROR_LOG,
      core.isEncrypted ? MHD_USE_TLS : MHD_NO_FLAG,
    ]
    var options = unsafe CMicroHTTPDOptions()
    unsafe options.flags = flags.reduce(0) { $0 | $1.rawValue }
    unsafe options.threads = UInt32(clamping: limits.threads)
    // libmicrohttpd shares the limit out among its threads and wants at least one for each.
    unsafe options.connections = UInt32(clamping: max(limits.connections, limits.threads))
    unsafe options.idleTimeoutSeconds = limits.idleTimeoutSeconds
    unsafe options.connectionMemory = max(1024, limits.headerBytesMax)
    if let tls = limits.tls {
      unsafe options.certificate = strdup(tls.certificatePEM)
      unsafe options.key = strdup(tls.keyPEM)
    }
    // Borrowed: the core outlives the daemon, which is this object's.
    unsafe options.context = Unmanaged.passUnretained(core).toOpaque()
    unsafe Callbacks.install(in: &options)
    let pointer = UnsafeMutablePointer<CMicroHTTPDOptions>.allocate(capacity: 1)
    unsafe pointer.initialize(to: options)
    return unsafe pointer
  }

  private static func free(_ options: UnsafeMutablePointer<CMicroHTTPDOptions>) {
    unsafe Glibc.free(options.pointee.certificate)
    if let key = unsafe options.pointee.key {
      // A key does not stay behind in freed memory.
      unsafe explicit_bzero(key, strlen(key))
      unsafe Glibc.free(key)
    }
    unsafe options.deallocate()
  }
}
