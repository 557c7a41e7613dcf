// The parts of a URL as written. Matching compares each character with patterns, so the parts are not
// normalized. A value; thread-safe.

/// A web URL, or a path on a known host.
public struct LinkURL: Sendable, Equatable {
  /// The maximum length in bytes.
  public static let byteCountMax = 8_192

  /// In lower case; nil for a path only.
  public let scheme: String?
  /// In lower case, without user and port; nil for a path only.
  public let host: String?
  /// Begins with `/`, unless it is empty.
  public let path: String
  /// The part after the `?`, without the fragment; empty if there is none.
  public let query: String
  public let fragment: String

  /// - Throws: `NameFault` unless the text is a path that begins with `/`, or an http or https URL.
  public init(_ text: String) throws(NameFault) {
    guard text.utf8.count <= Self.byteCountMax else {
      throw NameFault("is longer than the \(Self.byteCountMax) bytes that are read")
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
          "is not a whole address, such as https://pay.example.com/path, nor a path, such as /path")
      }
      let scheme = text[..<separator.lowerBound].lowercased()
      guard scheme == "https" || scheme == "http" else {
        throw NameFault("is not a web address: only https (and http) addresses can open an app by its files")
      }
      rest = rest[separator.upperBound...]
      let authority = rest.prefix { !"/?#".contains($0) }
      rest = rest[authority.endIndex...]
      let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
      guard let host = WebOrigin.host(of: String(place)) else {
        throw NameFault("has no usable host")
      }
      self.scheme = scheme
      self.host = host.last == "." ? String(host.dropLast()) : host
    }
    let hash = rest.firstIndex(of: "#")
    fragment = hash.map { String(rest[rest.index(after: $0)...]) } ?? ""
    rest = hash.map { rest[..<$0] } ?? rest
    let mark = rest.firstIndex(of: "?")
    query = mark.map { String(rest[rest.index(after: $0)...]) } ?? ""
    path = String(mark.map { rest[..<$0] } ?? rest)
  }
}
