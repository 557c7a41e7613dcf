// The peer of a socket, as text. Pure.

internal import CMicroHTTPD
internal import Glibc

/// Numeric addresses.
enum PeerAddress {
  /// The address without its port; IPv4 behind a dual-stack socket (RFC 4291 §2.5.5.2) is written as IPv4.
  /// Empty for any other address family.
  static func text(_ address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "" }
    let raw = unsafe UnsafeRawPointer(address)
    switch unsafe Int32(address.pointee.sa_family) {
    case AF_INET:
      var four = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
      return unsafe text(AF_INET, &four)
    case AF_INET6:
      var six = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
      let all = unsafe text(AF_INET6, &six)
      return all.hasPrefix("::ffff:") && all.contains(".") ? String(all.dropFirst(7)) : all
    default: return ""
    }
  }

  /// The peer's user on a Unix socket, as `uid 1000` (unix(7), SO_PEERCRED); empty for other
  /// sockets.
  static func localUser(_ descriptor: Int32) -> String {
    // `struct ucred`: process, user, group.
    var credentials: [UInt32] = [0, 0, 0]
    let whole = socklen_t(MemoryLayout<UInt32>.size * credentials.count)
    var size = whole
    let code = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
    // For TCP the kernel returns the user -1.
    guard code == 0, size == whole, credentials[1] != .max else { return "" }
    return "uid \(credentials[1])"
  }

  private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard unsafe inet_ntop(family, address, &buffer, socklen_t(buffer.count)) != nil else { return "" }
    return String(validating: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) ?? ""
  }
}
