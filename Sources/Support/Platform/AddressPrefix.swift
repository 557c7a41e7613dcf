// An address or a network (RFC 4632 §3.1; RFC 4291 §2.3). Pure; thread-safe.

/// An address, or all addresses with the same leading bits.
public struct AddressPrefix: Sendable, Equatable, CustomStringConvertible {
  private let address: IPAddress
  /// The number of leading bits that must match.
  public let bits: Int
  public var isIPv6: Bool { address.isIPv6 }
  /// The text that was parsed.
  public let description: String

  /// `192.0.2.1`, `10.0.0.0/8`, `2001:db8::/32`; nil for anything else. Also nil when bits after the prefix
  /// are set, because the intended prefix is then unclear.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = IPAddress(String(parts[0])) else { return nil }
    var bits = address.bytes.count * 8
    if parts.count == 2 {
      let digits = parts[1].utf8
      guard digits.count <= 3, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let number = Int(parts[1]), number <= bits
      else { return nil }
      bits = number
    }
    self.address = address
    self.bits = bits
    description = text
    for bit in bits..<address.bytes.count * 8 where Self.isSet(bit, in: address) { return nil }
  }

  /// IPv4 and IPv6 never match each other; an IPv4-mapped IPv6 address counts as IPv4.
  public func contains(_ other: IPAddress) -> Bool {
    let other = other.unmapped
    guard other.isIPv6 == address.isIPv6 else { return false }
    let whole = bits / 8
    guard address.bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
    for bit in whole * 8..<bits where Self.isSet(bit, in: address) != Self.isSet(bit, in: other) {
      return false
    }
    return true
  }

  private static func isSet(_ bit: Int, in address: IPAddress) -> Bool {
    address.bytes[bit / 8] & (0x80 >> UInt8(bit % 8)) != 0
  }
}
