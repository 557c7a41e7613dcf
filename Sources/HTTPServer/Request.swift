// A request as the application sees it. Values; any thread; nothing in them points into libmicrohttpd.

/// What is known of a request before its body.
public struct RequestHead: Sendable {
  /// As it came; case matters (RFC 9110 §9.1).
  public let method: String
  /// The request target as it came: nothing is decoded, so `%2F` and `%00` are still visible.
  public let target: String
  /// The target without its query; for the absolute form also without scheme and authority (RFC 9112 §3.2.2).
  /// Raw.
  public let path: String
  /// What follows the first `?`. Raw.
  public let query: String?
  /// The peer's numeric address; an IPv4 one is written as such, on a dual-stack listener too. On a Unix
  /// socket the peer's user, as `uid 1000`.
  public let remoteAddress: String
  /// The announced length of the body in bytes; nil when none is announced.
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

  /// The target in origin form (RFC 9112 §3.2.1), every byte of it as it came.
  public var originTarget: String { query.map { "\(path)?\($0)" } ?? path }

  private static func queryMark(_ target: String) -> String.Index? {
    let bytes = target.utf8.span
    for offset in bytes.indices where bytes[offset] == UInt8(ascii: "?") {
      return target.utf8.index(target.startIndex, offsetBy: offset)
    }
    return nil
  }

  /// The first header field of that name, in any case. Nil when there is none, or when it is not valid UTF-8.
  public func header(_ name: String) -> String? {
    fields.first(name).flatMap(Self.text)
  }

  /// The bytes of the first header field of that name, in any case, as they came.
  public func headerBytes(_ name: String) -> ArraySlice<UInt8>? { fields.first(name) }

  /// All header fields of that name in their order; a field that is not valid UTF-8 is left out.
  public func headers(_ name: String) -> [String] {
    fields.values(name).compactMap(Self.text)
  }

  /// Whether a field of that name came that is not valid UTF-8, for those who must not take it for absent.
  public func isUndecodable(_ name: String) -> Bool {
    fields.values(name).contains { String(validating: $0, as: UTF8.self) == nil }
  }

  /// ASCII, which nearly all values are, needs no closer look.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    var seen: UInt8 = 0
    for byte in bytes { seen |= byte }
    return seen < 0x80 ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
  }

  /// Whether a body follows.
  var hasBody: Bool { isChunked || (contentLength ?? 0) > 0 }

  /// Whether two readers of the request could differ on where its body ends (RFC 9112 §6.3, §11.2: request
  /// smuggling). libmicrohttpd takes the first length, and lets the transfer coding win, without a word.
  ///
  /// Of a folded field (RFC 9112 §5.2) it joins the second line to the name: `Content-Length:`, next line `
  /// 2`, comes as `Content-Length2` with nothing in it. No other field's name begins like that.
  var hasAmbiguousLength: Bool {
    if fields.hasLongerName(than: "Content-Length") || fields.hasLongerName(than: "Transfer-Encoding") {
      return true
    }
    let lengths = fields.count("Content-Length")
    guard isChunked else { return lengths > 1 || (lengths == 1 && contentLength == nil) }
    return lengths > 0 || fields.count("Transfer-Encoding") > 1
      || header("Transfer-Encoding")?.lowercased() != "chunked"
  }

  private static func originForm(_ target: Substring) -> String {
    for scheme in ["http://", "https://"]
    where target.utf8.count >= scheme.utf8.count && target.prefix(scheme.count).lowercased() == scheme {
      let rest = target.utf8.dropFirst(scheme.utf8.count)
      return rest.firstIndex(of: UInt8(ascii: "/")).map { String(target[$0...]) } ?? "/"
    }
    return String(target)
  }

  /// RFC 9110 §8.6: digits and nothing else.
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

/// A whole request.
public struct Request: Sendable {
  public let head: RequestHead
  /// As it came, chunk framing removed; never longer than what was admitted.
  public let body: [UInt8]
}
