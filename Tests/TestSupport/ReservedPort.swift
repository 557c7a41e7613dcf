// A port without a server, for programs that start later at a known address.

internal import Glibc
internal import Platform

/// Reserves a port until deinit. Connections to it are refused, unless it listens. A listener that sets
/// SO_REUSEADDR, as receiptd does, can bind it meanwhile; the kernel gives it to no other socket (socket(7)).
public final class ReservedPort {
  /// The port number.
  public let number: UInt16
  private var descriptor: Int32

  /// Reserves a free port.
  /// - Parameter listens: whether connections are accepted by the kernel, and nobody answers them.
  public init(listens: Bool = false) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError.last("socket") }
    var on: Int32 = 1
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let descriptor = descriptor
    guard let port = Loopback.freePort(of: descriptor) else { throw SystemError.last("bind") }
    number = port
    if listens { guard listen(descriptor, 8) == 0 else { throw SystemError.last("listen") } }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Gives the socket to the caller, who closes it.
  public func release() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }
}
