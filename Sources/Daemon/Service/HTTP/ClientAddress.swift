// The client's address of a request behind proxies. Pure; called from any thread.

public import HTTPServer
public import Platform

/// The proxies whose `X-Forwarded-For` is trusted (`listen.proxies`).
public struct TrustedProxies: Sendable {
  public let prefixes: [AddressPrefix]

  public init(prefixes: [AddressPrefix]) {
    self.prefixes = prefixes
  }

  /// The most addresses of a list that are examined, from the right.
  private static let hopsMax = 32

  public func contains(_ address: IPAddress) -> Bool { prefixes.contains { $0.contains(address) } }

  /// The client's address: the rightmost address in X-Forwarded-For that is not a trusted proxy. Each proxy
  /// appends its peer at the right; the addresses to the left of it may be forged (RFC 7239 §8.1).
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
      // An invalid address ends the search, because those to its left cannot be trusted.
      guard let text = Self.address(hop), let address = IPAddress(text) else { break }
      client = text
      if !contains(address) { break }
    }
    return ClientAddress(text: client, isForwarded: true)
  }

  private static let field = "X-Forwarded-For"

  /// Removes surrounding whitespace and a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
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

/// The address of a client.
public struct ClientAddress: Sendable, Equatable {
  /// The numeric form, unless the system had no address.
  public let text: String
  /// Whether the request came through a trusted proxy.
  public let isForwarded: Bool

  /// The key under which limits count the client. Nil for a request from this machine that no trusted proxy
  /// forwarded.
  public var group: AddressGroup? {
    if !isForwarded, IPAddress(text)?.unmapped.isLoopback == true { return nil }
    return AddressGroup(text)
  }
}
