// A request as the application sees it. Values; thread-safe. They hold no pointer into libmicrohttpd.

/// The head of a request.
public struct RequestHead: Sendable {
  /// As received; case-sensitive (RFC 9110 §9.1).
  public let method: String
  /// The request target as received. It is not decoded, so `%2F` and `%00` are still visible.
  public let target: String
  /// The target without its query; for the absolute form also without scheme and authority (RFC 9112 §3.2.2).
  /// Not decoded.
  public let path: String
  /// The part after the first `?`. Not decoded.
  public let query: String?
  /// The peer's numeric address; an IPv4 address is written as IPv4 on a dual-stack listener, too. On a Unix
  /// socket, the peer's user, as `uid 1000`.
  public let remoteAddress: String
  /// The announced length of the body in bytes; nil when the request announces none.
  public let contentLength: Int64?
  let fields: HeaderFields
  let isChunked: Bool

  init(method: String, target: String, remoteAddress: String, fields: HeaderFields) {
    self.method = method
    self.target = target
    self.remoteAddress = remoteAddress
    self.fields = fields
    contentLength = fields.first("Content-Length").flatMap(Self.length)
    isChunked = fields.first("Transfer-Encoding") != nil
    if let mark = Self.queryMark(target) {
      path = Self.originForm(target[..<mark])
      query = String(target[target.utf8.index(after: mark)...])
    } else {
      path = target.utf8.first == UInt8(ascii: "/") ? target : Self.originForm(target[...])
      query = nil
    }
  }

  /// The target in origin form (RFC 9112 §3.2.1), not decoded.
  public var originTarget: String { query.map { "\(path)?\($0)" } ?? path }

  private static func queryMark(_ target: String) -> String.Index? {
    let bytes = target.utf8.span
    for offset in bytes.indices where bytes[offset] == UInt8(ascii: "?") {
      return target.utf8.index(target.startIndex, offsetBy: offset)
    }
    return nil
  }

  /// The first header field of that name, case-insensitive. Nil when it is absent or not valid UTF-8.
  public func header(_ name: String) -> String? {
    fields.first(name).flatMap(Self.text)
  }

  /// The bytes of the first header field of that name, case-insensitive.
  public func headerBytes(_ name: String) -> ArraySlice<UInt8>? { fields.first(name) }

  /// All header fields of that name in order; a field that is not valid UTF-8 is omitted.
  public func headers(_ name: String) -> [String] {
    fields.values(name).compactMap(Self.text)
  }

  /// Whether a field of that name is not valid UTF-8, for callers that must not treat it as absent.
  public func isUndecodable(_ name: String) -> Bool {
    fields.values(name).contains { String(validating: $0, as: UTF8.self) == nil }
  }

  /// Most values are ASCII, which needs no validation.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    var seen: UInt8 = 0
    for byte in bytes { seen |= byte }
    return seen < 0x80 ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
  }

  /// Whether a body follows.
  var hasBody: Bool { isChunked || (contentLength ?? 0) > 0 }

  /// Whether another parser could read the request in another way (RFC 9112 §11.2: request smuggling).
  var isAmbiguous: Bool {
    !fields.areWellFormed || hasAmbiguousLength || !hasOneHost
      || target.utf8.contains { $0 <= 0x20 || $0 == 0x7F }
  }

  /// Whether two parsers could disagree on where the body ends (RFC 9112 §6.3). libmicrohttpd uses the first
  /// length, and lets the transfer coding override it, without an error.
  var hasAmbiguousLength: Bool {
    let lengths = fields.count("Content-Length")
    guard isChunked else { return lengths > 1 || (lengths == 1 && contentLength == nil) }
    return fields.areOfHTTP10 || lengths > 0 || fields.count("Transfer-Encoding") > 1
      || header("Transfer-Encoding")?.lowercased() != "chunked"
  }

  /// RFC 9112 §3.2: a request of HTTP/1.1 has exactly one `Host`, and one of HTTP/1.0 may have one.
  private var hasOneHost: Bool {
    let hosts = fields.values("Host")
    guard let host = hosts.first else { return fields.areOfHTTP10 }
    return hosts.count == 1 && Self.isHost(host)
  }

  /// Whether a value is `uri-host [ ":" port ]` (RFC 9110 §7.2). A comma, which a name may have, is refused:
  /// it is what remains of several fields that a proxy has joined.
  private static func isHost(_ value: ArraySlice<UInt8>) -> Bool {
    var rest = value
    if rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let address = rest[(rest.startIndex + 1)..<end]
      guard !address.isEmpty, address.allSatisfy({ isHostByte($0) || $0 == UInt8(ascii: ":") }) else {
        return false
      }
      rest = rest[(end + 1)...]
    } else {
      rest = rest.drop(while: isHostByte)
    }
    guard let colon = rest.popFirst() else { return true }
    return colon == UInt8(ascii: ":") && rest.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
  }

  /// RFC 3986 §3.2.2: a byte of a registered name. Percent escapes are not decoded, so they are not
  /// validated.
  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "#"): false
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ";"), UInt8(ascii: "="): true
    default: Token.isByte(byte)
    }
  }

  private static func originForm(_ target: Substring) -> String {
    for scheme in ["http://", "https://"]
    where target.utf8.count >= scheme.utf8.count && target.prefix(scheme.count).lowercased() == scheme {
      let rest = target.utf8.dropFirst(scheme.utf8.count)
      return rest.firstIndex(of: UInt8(ascii: "/")).map { String(target[$0...]) } ?? "/"
    }
    return String(target)
  }

  /// RFC 9110 §8.6: digits only.
  private static func length(_ digits: ArraySlice<UInt8>) -> Int64? {
    var length: Int64 = 0
    for digit in digits {
      let value = digit &- UInt8(ascii: "0")
      let (tens, isTooLong) = length.multipliedReportingOverflow(by: 10)
      let (sum, isTooLarge) = tens.addingReportingOverflow(Int64(value))
      guard value < 10, !isTooLong, !isTooLarge else { return nil }
      length = sum
    }
    return digits.isEmpty ? nil : length
  }
}

/// A complete request.
public struct Request: Sendable {
  public let head: RequestHead
  /// As received, without chunk framing; never longer than admitted.
  public let body: [UInt8]
}
