// The addresses of a host name. libpq would resolve it itself, but it stays at a silent address until TCP
// gives up (minutes); so each address gets an attempt with a time limit.

internal import Glibc

enum HostAddresses {
  /// The system's description (gai_strerror(3)).
  struct Failure: Error {
    let reason: String
  }

  /// The addresses of a name in numeric form, in the system's order (getaddrinfo(3)). Blocks while the
  /// system's resolver works, which has time limits of its own (resolv.conf(5)).
  static func resolve(_ name: String) -> Result<[String], Failure> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(name, nil, &hints, &list)
    guard code == 0 else { return .failure(Failure(reason: unsafe String(cString: gai_strerror(code)))) }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [String] = []
    var entry = unsafe list
    while let present = unsafe entry {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let code = unsafe getnameinfo(
        present.pointee.ai_addr, present.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST)
      if code == 0 {
        let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        addresses.append(String(decoding: bytes, as: UTF8.self))
      }
      unsafe entry = present.pointee.ai_next
    }
    return .success(addresses)
  }
}
