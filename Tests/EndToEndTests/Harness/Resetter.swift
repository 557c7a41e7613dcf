// A listener that answers requests with RST, like a server that crashes during a request.

import Glibc
import Platform
import TestSupport

/// Owns its listening socket until `close`.
final class Resetter {
  let port: UInt16
  private var listener: Int32

  init() throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard listener >= 0 else { throw SystemError.last("socket") }
    let listener = listener
    guard let port = Loopback.freePort(of: listener), listen(listener, 16) == 0 else {
      throw SystemError.last("bind")
    }
    self.port = port
  }

  deinit { _ = close() }

  /// Resets the next connection after a part of its request has arrived.
  /// - Returns: false when no connection came in time.
  func resetOne() -> Bool {
    guard Self.isReadable(listener) else { return false }
    let connection = accept(listener, nil, nil)
    guard connection >= 0 else { return false }
    defer { Glibc.close(connection) }
    guard Self.isReadable(connection) else { return false }
    // A linger of zero makes close(2) send RST instead of FIN (socket(7)).
    var now = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    return true
  }

  private static func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 1000) > 0
  }

  /// Stops listening: further connections to the port are refused.
  func close() -> UInt16 {
    if listener >= 0 { Glibc.close(listener) }
    listener = -1
    return port
  }
}
