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
