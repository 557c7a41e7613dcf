// The listening socket. The server opens it, or has inherited it; libmicrohttpd does not open it, so that an
// error names the failed call and its cause.

internal import Glibc
internal import Platform

/// A bound, listening, non-blocking socket. Its creator calls `close` once.
struct Listener: Sendable {
  let descriptor: Int32
  /// 0 for a Unix socket.
  let port: UInt16
  private let file: SocketFile?

  /// Flags of every socket here: no call blocks, and child processes do not inherit it (socket(2),
  /// accept4(2)).
  static let socketFlags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

  /// - Throws: `invalidAddress`, `invalidSocket`, or `system` with the call that failed.
  init(_ configuration: ServerConfiguration) throws(ServerError) {
    if let inherited = configuration.inheritedSocket {
      descriptor = inherited.descriptor
      if case .address(_, let port) = inherited.place { self.port = port } else { port = 0 }
      file = nil
    } else if let path = configuration.socketPath {
      let file = try SocketFile(path)
      descriptor = file.descriptor
      port = 0
      self.file = file
    } else {
      let descriptor = try Self.open(configuration)
      do throws(ServerError) {
        port = try Self.port(of: descriptor)
      } catch {
        Glibc.close(descriptor)
        throw error
      }
      self.descriptor = descriptor
      file = nil
    }
  }

  /// Closes the socket, which refuses the connections in its backlog unless another process holds the socket,
  /// too, and removes the socket file.
  func close() {
    Glibc.close(descriptor)
    file?.remove()
  }

  private static func open(_ configuration: ServerConfiguration) throws(ServerError) -> Int32 {
    let address = configuration.address
    let port = configuration.port.bigEndian
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = port
    if unsafe inet_pton(AF_INET, address, &four.sin_addr) == 1 {
      return try bound(four, AF_INET, backlog: configuration.backlog, onlySix: nil)
    }
    var six = sockaddr_in6()
    six.sin6_family = sa_family_t(AF_INET6)
    six.sin6_port = port
    if unsafe inet_pton(AF_INET6, address, &six.sin6_addr) == 1 {
      return try bound(six, AF_INET6, backlog: configuration.backlog, onlySix: address == "::" ? 0 : 1)
    }
    throw .invalidAddress(address)
  }

  /// The port that the system bound the socket to.
  private static func port(of descriptor: Int32) throws(ServerError) -> UInt16 {
    var storage = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe getsockname(descriptor, $0.baseAddress, &length)
      }
    }
    guard code == 0 else { throw .system(.last("getsockname")) }
    // sin_port and sin6_port have the same offset.
    return UInt16(bigEndian: storage.sin6_port)
  }

  private static func bound<Address>(
    _ address: Address, _ family: Int32, backlog: Int32, onlySix: Int32?
  ) throws(ServerError) -> Int32 {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | socketFlags, 0)
    guard descriptor >= 0 else { throw .system(.last("socket")) }
    do throws(ServerError) {
      // A restart must not wait for the TIME_WAIT of old connections.
      try set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
      if let onlySix { try set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, onlySix) }
      let code = unsafe withUnsafeBytes(of: address) { bytes in
        unsafe bytes.withMemoryRebound(to: sockaddr.self) {
          unsafe bind(descriptor, $0.baseAddress, socklen_t(bytes.count))
        }
      }
      guard code == 0 else { throw ServerError.system(.last("bind")) }
      guard listen(descriptor, backlog) == 0 else { throw ServerError.system(.last("listen")) }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func set(
    _ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32
  ) throws(ServerError) {
    var value = value
    let size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe setsockopt(descriptor, level, option, &value, size) == 0 else {
      throw .system(.last("setsockopt"))
    }
  }
}
