// The request target of a payment URL. Apps compare their payment URL character by character, so it is copied
// byte for byte. A target that could end the attribute or header is refused, and nothing is repaired. A
// value; thread-safe; total.

/// A request target of bytes that browsers send unescaped, with the parameters of its query.
public struct CallbackTarget: Sendable, Hashable {
  /// The maximum length of a payment URL's target, in bytes. The target is sent in a header, where each byte
  /// may need three, and occurs twice in a page that must stay small.
  public static let byteCountMax = 2_048

  /// As received: a path and an optional query. ASCII without blanks, control characters, `"`, `<`, `>` and
  /// `#`.
  public let text: String
  /// The part before the query.
  public let path: Substring

  /// One `name=value` between two `&`.
  private struct Item: Hashable {
    let text: Substring
    /// Decoded; may not be UTF-8.
    let name: [UInt8]
    /// Not decoded; empty without `=`.
    let value: Substring
  }

  private let items: [Item]

  /// - Parameter byteCountMax: the maximum length of the target.
  public init(_ text: String, byteCountMax: Int = byteCountMax) throws(CallbackFault) {
    guard text.utf8.count <= byteCountMax else { throw .longTarget }
    guard RequestTarget.isPlain(text) else { throw .impureTarget }
    self.text = text
    let mark = text.firstIndex(of: "?")
    path = text[..<(mark ?? text.endIndex)]
    let query = mark.map { text[text.index(after: $0)...] } ?? ""
    items = query.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0]
      return Item(
        text: item, name: PercentEncoding.decodeBytes(name.utf8.span, plusIsSpace: true).bytes,
        value: parts.count > 1 ? parts[1] : "")
    }
  }

  // MARK: Parameters

  /// The decoded value of a parameter; nil when it is absent.
  ///
  /// Names are compared in decoded form: a parser that reads `pack%61ge` as `package` must see the value that
  /// was checked.
  /// - Throws: when the parameter is duplicate, empty, longer than this, or not percent-encoded UTF-8.
  func value(of name: String, byteCountMax: Int) throws(CallbackFault) -> String? {
    let found = items.filter { $0.name.elementsEqual(name.utf8) }
    guard let item = found.first else { return nil }
    guard found.count == 1 else { throw .invalid(name, "is given more than once; give it once") }
    guard !item.value.isEmpty else { throw .invalid(name, "is empty; give it a value") }
    let (bytes, isBroken) = PercentEncoding.decodeBytes(item.value.utf8.span, plusIsSpace: true)
    guard !isBroken, let value = String(validating: bytes, as: UTF8.self) else {
      throw .invalid(name, "is not percent-encoded UTF-8; encode it as encodeURIComponent does")
    }
    guard bytes.count <= byteCountMax else {
      throw .invalid(name, "is longer than \(byteCountMax) bytes; shorten it")
    }
    return value
  }

  /// - Parameter advice: what to add when it is missing.
  func required(_ name: String, byteCountMax: Int, _ advice: String) throws(CallbackFault) -> String {
    guard let value = try value(of: name, byteCountMax: byteCountMax) else { throw .missing(name, advice) }
    return value
  }

  /// The same target with `name=value` instead of the parameter of that name, or appended. The rest is
  /// unchanged. The target must have a query.
  /// - Parameters: both must need no encoding.
  func setting(_ name: String, to value: String) -> String {
    guard let item = items.first(where: { $0.name.elementsEqual(name.utf8) }) else {
      return "\(text)&\(name)=\(value)"
    }
    return "\(text[..<item.text.startIndex])\(name)=\(value)\(text[item.text.endIndex...])"
  }
}

// MARK: - SwedbankHelper

// The paths of the helpers for Swedbank Pay's SDKs. Pure; thread-safe.

/// Swedbank Pay's payment URL helpers, by the end of their paths.
public enum SwedbankHelper: String, Sendable, CaseIterable {
  case androidIntent = "sdk-callback/android-intent"
  case iosUniversalLink = "sdk-callback/ios-universal-link"
  case complete = "complete"
  case cancel = "cancel"

  /// - Parameter segments: the segments after `swedbank` in a path.
  public init?(_ segments: ArraySlice<String>) {
    let found = Self.allCases.first { $0.rawValue.split(separator: "/").elementsEqual(segments, by: ==) }
    guard let found else { return nil }
    self = found
  }
}

// MARK: - CallbackFault

// Why a request to a payment URL gets no redirect to the app. A value; thread-safe. The message never
// contains request data, because a browser shows it.

/// The fault of a request, and how to fix it.
public struct CallbackFault: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }

  static func missing(_ name: String, _ advice: String) -> CallbackFault {
    CallbackFault("The parameter `\(name)` is missing: \(advice).")
  }

  static func invalid(_ name: String, _ fault: String) -> CallbackFault {
    CallbackFault("The parameter `\(name)` \(fault).")
  }

  static func unlisted(_ name: String) -> CallbackFault {
    invalid(name, "is not configured; check it against `links.swedbank`")
  }

  public static let impureTarget = CallbackFault(
    "The address has a character that no browser sends in one (a blank, a quotation mark, an angle bracket, "
      + "a number sign, a control character or one beyond ASCII). Percent-encode it.")

  static let longTarget = CallbackFault("The address is too long. Leave out parameters that are not needed.")
}
