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
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        let bound = unsafe bind(descriptor, generic, size)
        return unsafe bound == 0 ? getsockname(descriptor, generic, &size) : bound
      }
    }
    number = UInt16(bigEndian: address.sin_port)
    guard code == 0 else { throw SystemError.last("bind") }
    if listens { guard listen(descriptor, 8) == 0 else { throw SystemError.last("listen") } }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Gives the socket to the caller, who closes it.
  public func release() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }
}
