// A URL taken apart as it is written: matching compares it with patterns letter by letter, so nothing of it
// may be repaired or normalised before. A value; any thread.

/// A web address, or a path on a host that is known.
public struct LinkURL: Sendable, Equatable {
  /// The longest that is looked at, in bytes.
  public static let byteCountMax = 8_192

  /// In small letters; nil for a path alone.
  public let scheme: String?
  /// In small letters, without user and port; nil for a path alone.
  public let host: String?
  /// Begins with `/`, unless it is empty.
  public let path: String
  /// What stands behind the `?`, without the fragment; empty where there is none.
  public let query: String
  public let fragment: String

  /// - Throws: `NameFault` for what is neither a path that begins with `/` nor an http or https URL.
  public init(_ text: String) throws(NameFault) {
    guard text.utf8.count <= Self.byteCountMax else {
      throw NameFault("is longer than the \(Self.byteCountMax) bytes that are looked at")
    }
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw NameFault("has a control character in it")
    }
    var rest = Substring(text)
    if text.utf8.first == UInt8(ascii: "/"), !text.utf8.starts(with: "//".utf8) {
      scheme = nil
      host = nil
    } else {
      guard let separator = text.firstRange(of: "://") else {
        throw NameFault(
          "is not a whole address, such as https://pay.example.com/path, and no path, such as /path")
      }
      let scheme = text[..<separator.lowerBound].lowercased()
      guard scheme == "https" || scheme == "http" else {
        throw NameFault("is not a web address: only https (and http) addresses can open an app by its files")
      }
      rest = rest[separator.upperBound...]
      let authority = rest.prefix { !"/?#".contains($0) }
      rest = rest[authority.endIndex...]
      guard let host = HostOfURL.name(in: authority) else {
        throw NameFault("has no host")
      }
      self.scheme = scheme
      self.host = host
    }
    let hash = rest.firstIndex(of: "#")
    fragment = hash.map { String(rest[rest.index(after: $0)...]) } ?? ""
    rest = hash.map { rest[..<$0] } ?? rest
    let mark = rest.firstIndex(of: "?")
    query = mark.map { String(rest[rest.index(after: $0)...]) } ?? ""
    path = String(mark.map { rest[..<$0] } ?? rest)
  }
}

/// The name in `user@host:port`, which is all that association files go by.
public enum HostOfURL {
  /// - Parameter authority: what stands between `://` and the path, or the value of a Host header.
  /// - Returns: the name in small letters, without a dot at its end; nil when there is none.
  public static func name(in authority: some StringProtocol) -> String? {
    var host = Substring(authority)
    if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
    if host.first == "[" {
      guard let end = host.firstIndex(of: "]") else { return nil }
      return host[...end].lowercased()
    }
    if let colon = host.firstIndex(of: ":") { host = host[..<colon] }
    if host.last == "." { host = host.dropLast() }
    return host.isEmpty ? nil : host.lowercased()
  }
}
