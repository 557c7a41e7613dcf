// Which URLs lead to the API, and which paths are payment orders. A client or an answer may name a URL; it
// never chooses the host: a URL is reduced to a path, and every request is made of the configured base and a
// path. Pure; any thread.

internal import Domain
internal import Formats

/// The base URL of the API.
struct SwedbankBase: Sendable {
  let text: String
  private let parsed: Origin?
  /// Scheme, host and port in one spelling: small letters, no default port.
  var origin: String { parsed.map { "\($0.scheme)://\($0.authority)" } ?? text }

  /// - Parameter text: scheme, host and port, without a trailing slash.
  init(_ text: String) {
    self.text = text
    parsed = Origin.split(text)?.origin
  }

  /// Two URLs with the same origin lead to the same server (RFC 6454 §4).
  private struct Origin: Equatable {
    var scheme: String
    /// Host and port, without the scheme's default port.
    var authority: String

    static func split(_ url: String) -> (origin: Origin, rest: Substring)? {
      guard let separator = url.firstRange(of: "://") else { return nil }
      let scheme = url[..<separator.lowerBound].lowercased()
      guard scheme == "https" || scheme == "http" else { return nil }
      let rest = url[separator.upperBound...]
      var authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
      guard !authority.isEmpty, !authority.contains("@") else { return nil }
      let port = scheme == "https" ? ":443" : ":80"
      if authority.hasSuffix(port) { authority.removeLast(port.count) }
      return (Origin(scheme: scheme, authority: authority), rest.dropFirst(rest.prefix { $0 != "/" }.count))
    }
  }

  /// The path and the query of a URL of the API.
  /// - Parameter reference: an absolute URL, or a path that begins with one slash.
  /// - Returns: nil for a URL of another scheme, host or port, and for a text that two readers of URLs may
  ///   understand differently.
  func target(of reference: String) -> String? { target(of: reference) { $0 == parsed } }

  /// The path and the query of an operation that an answer of the API offers. Its host may be the API's own
  /// name, while the base is a gateway before it: the request goes to the base in any case.
  func target(ofOperation href: String) -> String? { target(of: href) { _ in true } }

  private func target(of reference: String, isAccepted: (Origin) -> Bool) -> String? {
    guard reference.utf8.count <= Self.bytesMax, reference.utf8.allSatisfy(Self.isPlain) else { return nil }
    var target = reference[...]
    if reference.utf8.first != UInt8(ascii: "/") {
      guard let (other, rest) = Origin.split(reference), isAccepted(other) else { return nil }
      target = rest
    }
    guard target.hasPrefix("/"), !target.hasPrefix("//") else { return nil }
    let path = target.prefix { $0 != "?" }
    let hasDots = path.split(separator: "/").contains { segment in
      guard let name = PercentEncoding.decode(segment.utf8.span) else { return true }
      return name == "." || name == ".." || name.contains { $0 == "/" || $0 == "\\" }
    }
    return hasDots ? nil : String(target)
  }

  private static let bytesMax = 2048

  /// Visible ASCII, but no character that a URL cannot have (RFC 3986 §2), and no fragment.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
  }
}

/// The id of a payment order: a path of the API such as
/// `/psp/paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce`. Swedbank Pay's ids are opaque.
struct SwedbankOrderPath: Sendable, Equatable {
  /// Begins with a slash. Its segments have unreserved characters only (RFC 3986 §2.3), so it needs no
  /// escape. No segment is `.`, and none contains `..`.
  let text: String

  /// - Returns: nil for a text that is not such a path.
  init?(_ text: String) {
    let segments = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard segments.count > 1, segments.first?.isEmpty == true,
      UntrustedText.identifier(text) != nil, !text.contains(".."),
      segments.dropFirst().allSatisfy(Self.isPlain)
    else { return nil }
    self.text = text
  }

  private static func isPlain(_ segment: Substring.UTF8View) -> Bool {
    !segment.isEmpty && !segment.elementsEqual(".".utf8)
      && segment.allSatisfy(PercentEncoding.Kept.unreserved.contains)
  }

  /// The order of a resource that a client names: a path, because the URL's host would have no meaning.
  init?(resource: String?) {
    guard let resource else { return nil }
    self.init(resource)
  }

  /// The order that a client, a callback or an answer names.
  /// - Parameter reference: its path, or its URL at this base.
  init?(_ reference: String?, at base: SwedbankBase) {
    guard let reference, let target = base.target(of: reference) else { return nil }
    self.init(target)
  }

  init?(_ key: PurchaseKey) {
    guard key.processor == SwedbankProcessor.name, key.type == Self.objectType else { return nil }
    self.init(key.id.text)
  }

  static let objectType = PurchaseKey.ObjectType("payment_order")

  var key: PurchaseKey {
    PurchaseKey(processor: SwedbankProcessor.name, type: Self.objectType, id: ObjectID(text))
  }

  // MARK: One segment of our own paths

  /// What the usual ids begin with.
  static let folder = "/psp/paymentorders/"
  /// Begins a segment that is a whole path in base64.
  private static let mark = "~"

  /// The order as one segment of a path: the last part of the usual ids, any other id in base64.
  var segment: String {
    let last = text.dropFirst(Self.folder.count)
    let isUsual = text.hasPrefix(Self.folder) && !last.contains("/") && !last.hasPrefix(Self.mark)
    return isUsual ? String(last) : Self.mark + Base64.encodeURL(Array(text.utf8))
  }

  /// - Parameter segment: any text.
  init?(segment: String) {
    if segment.hasPrefix(Self.mark) {
      guard let bytes = Base64.decode(segment.utf8.dropFirst(Self.mark.utf8.count).span, .url),
        let text = String(validating: bytes, as: UTF8.self)
      else { return nil }
      self.init(text)
    } else {
      guard !segment.contains("/") else { return nil }
      self.init(Self.folder + segment)
    }
  }
}
