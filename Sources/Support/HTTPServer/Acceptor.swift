// Accepts connections on a separate thread and hands each to libmicrohttpd. libmicrohttpd must not listen
// itself: its threads and the thread that stops it remove the listening socket from the same epoll sets
// without a lock, and abort the process when both do so at once (daemon.c of 0.9.75, MHD_quiesce_daemon and
// MHD_epoll).

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// The accepting thread and the listening socket.
///
/// Owns the socket and an eventfd(2) that ends the thread. `stop` closes the socket and must be called once.
/// While the maximum number of connections is open, further connections wait in the socket's backlog.
final class Acceptor: Sendable {
  /// Takes ownership of a descriptor, and closes it if it cannot be served.
  typealias Serve = @Sendable (Int32, UnsafePointer<sockaddr>, socklen_t) -> Void

  private let core: Core
  private let listener: Listener
  private let end: FileDescriptor
  private let thread: WorkerThread

  /// Starts to accept immediately. Takes ownership of the listener, unless it throws.
  init(
    _ core: Core, _ listener: Listener, warn: @escaping @Sendable (String) -> Void, serve: @escaping Serve
  ) throws(SystemError) {
    let end = try FileDescriptor(eventfd(0, Int32(EFD_CLOEXEC)), of: "eventfd")
    let number = end.number
    thread = try WorkerThread(name: "http-acceptor") {
      unsafe Acceptor.run(core, listener.descriptor, end: number, warn, serve)
    }
    self.core = core
    self.listener = listener
    self.end = end
  }

  /// Stops accepting; no client can connect after it returns. Open connections continue.
  func stop() {
    core.registry.update { $0.isClosed = true }
    _ = eventfd_write(end.number, 1)
    thread.join()
    listener.close()
  }

  private static func run(
    _ core: Core, _ listener: Int32, end: Int32, _ warn: (String) -> Void, _ serve: Serve
  ) {
    var warnAt = MonotonicInstant.now()
    var watched = [listener, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while core.waitForSlot() {
      // Fails on a signal, or when memory is short (poll(2)).
      guard unsafe poll(&watched, nfds_t(watched.count), -1) > 0 else { continue }
      if watched[1].revents != 0 { return }
      guard let shortage = unsafe accept(core, listener, serve) else { continue }
      let now = MonotonicInstant.now()
      if now >= warnAt {
        warn("no connection can be accepted: \(shortage.reason)")
        warnAt = now.advanced(by: warningInterval)
      }
      guard core.pause(for: pause) else { return }
    }
  }

  /// Accepts a connection, if one still waits.
  /// - Returns: an error when no descriptor, or no memory for one, is available.
  private static func accept(_ core: Core, _ listener: Int32, _ serve: Serve) -> SystemError? {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutableBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) { addresses in
        guard let address = addresses.baseAddress else { return nil }
        let descriptor = unsafe accept4(listener, address, &size, Listener.socketFlags)
        guard descriptor >= 0 else {
          let error = SystemError.last("accept4")
          // Any other error concerns this connection alone: the client has disconnected, for instance.
          return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) ? error : nil
        }
        if core.admit(descriptor, unsafe PeerAddress.text(address)) {
          unsafe serve(descriptor, address, size)
        } else {
          close(descriptor)
        }
        return nil
      }
    }
  }

  /// How long to wait for descriptors or memory: the kernel does not notify when they are available.
  private static let pause: Duration = .milliseconds(100)
  private static let warningInterval: Duration = .seconds(60)
}
