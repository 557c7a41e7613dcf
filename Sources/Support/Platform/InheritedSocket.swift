// Listening sockets that the service manager opened and passed on (sd_listen_fds(3)): connections wait in
// them while receiptd restarts. The main thread, at the start.

internal import Glibc

/// A listening socket that this process has inherited. Its user owns the descriptor.
public struct InheritedSocket: Sendable, Equatable {
  /// Where a socket listens.
  public enum Place: Sendable, Equatable, CustomStringConvertible {
    case address(IPAddress, port: UInt16)
    /// A Unix socket with a file.
    case file(String)

    public var description: String {
      switch self {
      case .address(let address, let port):
        address.isIPv6 ? "[\(address.text)]:\(port)" : "\(address.text):\(port)"
      case .file(let path): path
      }
    }
  }

  /// Why the passed descriptors cannot be used.
  public struct Unusable: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// Close-on-exec and non-blocking.
  public let descriptor: Int32
  public let place: Place

  /// The first passed descriptor (SD_LISTEN_FDS_START); the others follow it.
  private static let first: Int32 = 3
  private static let countMax: Int32 = 64

  /// The passed sockets, in order; empty without a service manager that passes any.
  /// - Parameter environment: `LISTEN_PID` and `LISTEN_FDS`. They are valid for one process only: a child
  ///   inherits the variables, but not the descriptors.
  public static func all(environment: Environment = .process) throws(Unusable) -> [InheritedSocket] {
    try all(environment: environment, first: first)
  }

  static func all(environment: Environment, first: Int32) throws(Unusable) -> [InheritedSocket] {
    guard let process = environment["LISTEN_PID"].flatMap({ Int32($0) }), process == getpid(),
      let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
    else { return [] }
    guard count <= countMax else { throw Unusable(description: "\(count) sockets were passed") }
    var sockets: [InheritedSocket] = []
    for descriptor in first..<(first + count) { sockets.append(try InheritedSocket(descriptor)) }
    return sockets
  }

  /// - Throws: if it is not a listening stream socket at an address or a path.
  init(_ descriptor: Int32) throws(Unusable) {
    guard Self.option(descriptor, SO_ACCEPTCONN) == 1,
      Self.option(descriptor, SO_TYPE) == Int32(SOCK_STREAM.rawValue)
    else {
      throw Unusable(
        description:
          "the passed descriptor \(descriptor) is not a listening stream socket: write ListenStream=, and "
          + "Accept=no, into the socket unit")
    }
    guard let place = Self.place(of: descriptor) else {
      throw Unusable(
        description: "the passed socket \(descriptor) listens neither on an IP address nor on a path")
    }
    // An accept must not block when the client has disconnected since poll(2), and no child process may hold
    // the socket.
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
      fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
    else { throw Unusable(description: "the passed socket \(descriptor): \(SystemError.last("fcntl"))") }
    self.descriptor = descriptor
    self.place = place
  }

  private static func option(_ descriptor: Int32, _ name: Int32) -> Int32? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
  }

  private static func place(of descriptor: Int32) -> Place? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe getsockname(descriptor, $0.baseAddress, &size)
      }
    }
    guard code == 0, size <= socklen_t(MemoryLayout<sockaddr_storage>.size) else { return nil }
    let bytes = unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix(Int(size))) }
    // The port is at offset 2 in sockaddr_in and sockaddr_in6, the address at 4 and 8 (ip(7), ipv6(7)).
    switch Int32(storage.ss_family) {
    case AF_INET where bytes.count >= 8:
      return .address(IPAddress(bytes: Array(bytes[4..<8])), port: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
    case AF_INET6 where bytes.count >= 24:
      return .address(IPAddress(bytes: Array(bytes[8..<24])), port: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
    case AF_UNIX:
      // An abstract name begins with NUL, and an unnamed socket has no path (unix(7)).
      let path = bytes.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
      return path.isEmpty ? nil : .file(String(decoding: path, as: UTF8.self))
    default: return nil
    }
  }
}
