// From which address a request really comes, when proxies stand in front. Pure; any thread.

public import HTTPServer
public import Platform

/// Whose word on where a request comes from is believed (`listen.proxies`).
public struct TrustedProxies: Sendable {
  public let prefixes: [AddressPrefix]

  public init(prefixes: [AddressPrefix]) {
    self.prefixes = prefixes
  }

  /// Longer lists of addresses are not looked at beyond this.
  private static let hopsMax = 32

  public func contains(_ address: IPAddress) -> Bool { prefixes.contains { $0.contains(address) } }

  /// The client's address. Of those that X-Forwarded-For lists, the rightmost one that is not a trusted
  /// proxy: each proxy writes down at the right who came to it, and what stands left of that may be made up
  /// (RFC 7239 §8.1).
  public func client(_ head: RequestHead) -> ClientAddress {
    let peer = head.remoteAddress
    guard head.headerBytes(Self.field) != nil else { return ClientAddress(text: peer, isForwarded: false) }
    guard let peerAddress = IPAddress(peer), contains(peerAddress) else {
      return ClientAddress(text: peer, isForwarded: false)
    }
    guard !head.isUndecodable(Self.field) else { return ClientAddress(text: peer, isForwarded: true) }
    var client = peer
    // Several fields are one list (RFC 9110 §5.3).
    let hops = head.headers(Self.field).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    for hop in hops.suffix(Self.hopsMax).reversed() {
      // What is no address says nothing, and neither does what stands left of it.
      guard let text = Self.address(hop), let address = IPAddress(text) else { break }
      client = text
      if !contains(address) { break }
    }
    return ClientAddress(text: client, isForwarded: true)
  }

  private static let field = "X-Forwarded-For"

  /// Without the blanks around it, and without a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  private static func address(_ hop: Substring) -> String? {
    var text = hop.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    guard text.utf8.count <= 64 else { return nil }
    if text.first == "[" {
      let inside = text.dropFirst().prefix { $0 != "]" }
      let rest = text.dropFirst(inside.count + 1)
      guard rest == "]" || rest.hasPrefix("]:") else { return nil }
      return String(inside)
    }
    let colons = text.utf8.filter { $0 == UInt8(ascii: ":") }.count
    return String(colons == 1 ? text.prefix { $0 != ":" } : text)
  }
}

/// Where a request comes from.
public struct ClientAddress: Sendable, Equatable {
  /// Numeric, unless the system had no such address to give.
  public let text: String
  /// Whether a proxy said so.
  public let isForwarded: Bool

  /// What limits count the client as. Nil for this machine itself, which is nobody's stand-in.
  public var group: AddressGroup? {
    if !isForwarded, IPAddress(text)?.unmapped.isLoopback == true { return nil }
    return AddressGroup(text)
  }
}
