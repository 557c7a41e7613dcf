// What limits count as one client. Pure; any thread.

/// All addresses of one client: an IPv4 address, or an IPv6 /64, which is the smallest network that a site
/// gets (RFC 6177 §2) and so 2^64 addresses of one owner. An IPv4 address in an IPv6 one (RFC 4291
/// §2.5.5.2) is that IPv4 address.
public struct AddressGroup: Hashable, Sendable {
  private let isIP: Bool
  private let bytes: [UInt8]

  public init(_ address: IPAddress) {
    let address = address.unmapped
    self.init(isIP: true, bytes: address.isIPv6 ? Array(address.bytes.prefix(8)) : address.bytes)
  }

  /// - Parameter text: a numeric address; any other text is a group of its own.
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
