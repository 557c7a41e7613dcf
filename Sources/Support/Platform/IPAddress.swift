// IP addresses as text, parsed by the system's inet_pton(3). Pure; thread-safe.

internal import Glibc

/// A numeric IPv4 or IPv6 address (inet_pton(3)). Never a host name, so no name is resolved.
public struct IPAddress: Sendable, Equatable {
  /// Four or sixteen bytes, in network order.
  public let bytes: [UInt8]

  /// - Returns: nil when the text is not a numeric address. A zone (`%eth0`) and brackets are rejected.
  public init?(_ text: String) {
    guard !text.utf8.contains(0) else { return nil }
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if unsafe inet_pton(family, text, &bytes) == 1 {
        self.bytes = bytes
        return
      }
    }
    return nil
  }

  /// - Parameter bytes: four or sixteen, in network order.
  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The address as inet_ntop(3) writes it.
  public var text: String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let size = socklen_t(buffer.count)
    guard unsafe inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &buffer, size) != nil else { return "?" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The IPv4 address in an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2); any other
  /// address unchanged.
  public var unmapped: IPAddress {
    guard isIPv6, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else {
      return self
    }
    return IPAddress(bytes: Array(bytes.suffix(4)))
  }

  public var isIPv6: Bool { bytes.count == 16 }

  /// `0.0.0.0` and `::`: all addresses of the machine.
  public var isWildcard: Bool { bytes.allSatisfy { $0 == 0 } }

  /// 127.0.0.0/8 (RFC 1122 §3.2.1.3) and ::1 (RFC 4291 §2.5.3).
  public var isLoopback: Bool {
    isIPv6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 : bytes.first == 127
  }
}

// MARK: - AddressGroup

// The group of addresses that limits count as one client. Pure; thread-safe.

/// All addresses of one client: an IPv4 address, or an IPv6 /64. A /64 is the smallest network that a site
/// gets (RFC 6177 §2), so its 2^64 addresses have one owner. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2)
/// counts as its IPv4 address.
public struct AddressGroup: Hashable, Sendable {
  private let isIP: Bool
  private let bytes: [UInt8]

  public init(_ address: IPAddress) {
    let address = address.unmapped
    self.init(isIP: true, bytes: address.isIPv6 ? Array(address.bytes.prefix(8)) : address.bytes)
  }

  /// - Parameter text: a numeric address; any other text is its own group.
  public init(_ text: String) {
    if let address = IPAddress(text) {
      self.init(address)
    } else {
      self.init(isIP: false, bytes: Array(text.utf8))
    }
  }

  private init(isIP: Bool, bytes: [UInt8]) {
    self.isIP = isIP
    self.bytes = bytes
  }
}
