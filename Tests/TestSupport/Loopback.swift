// Sockets on 127.0.0.0/8, without an HTTP client of the product.

internal import Glibc

/// Binds and connects descriptors of the caller to this machine.
public enum Loopback {
  /// Connects to a port of 127.0.0.1.
  /// - Returns: as connect(2).
  public static func connect(_ descriptor: Int32, to port: UInt16) -> Int32 {
    unsafe with(1, port) { unsafe Glibc.connect(descriptor, $0, $1) }
  }

  /// Binds to a free port.
  /// - Parameter number: the last number of the address: 1 is 127.0.0.1.
  /// - Returns: as bind(2).
  public static func bind(_ descriptor: Int32, number: UInt32 = 1) -> Int32 {
    unsafe with(number, 0) { unsafe Glibc.bind(descriptor, $0, $1) }
  }

  /// Binds to a free port of 127.0.0.1.
  /// - Returns: the port; nil if that failed, with `errno`.
  public static func freePort(of descriptor: Int32) -> UInt16? {
    guard bind(descriptor) == 0 else { return nil }
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &size)
      }
    }
    return code == 0 ? UInt16(bigEndian: address.sin_port) : nil
  }

  private static func with(
    _ number: UInt32, _ port: UInt16, _ call: (UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (0x7F00_0000 + number).bigEndian
    return unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe call($0.baseAddress, socklen_t(bytes.count))
      }
    }
  }
}
