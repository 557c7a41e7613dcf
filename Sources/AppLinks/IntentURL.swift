// The address with which a page on Android opens an app: `intent:` (developer.chrome.com, "Android Intents
// with Chrome"). A value; any thread. Nothing that is put into it can add a field of its own.

/// An `intent:` URL: the https address that the app is to receive, and who shall receive it.
///
/// Android splits what follows the last `#` at each `;`, and decodes each value after that
/// (android.content.Intent.parseUri); a browser that finds no such app goes to `S.browser_fallback_url`.
public struct IntentURL: Sendable, Hashable, CustomStringConvertible {
  /// The longest request target that is put into one, in bytes.
  public static let targetByteCountMax = 8_192

  /// As it stands in an attribute before escaping, or in a header: ASCII without blanks, quotes, `<` and `>`.
  public let text: String

  public var description: String { text }

  /// - Parameters:
  ///   - origin: where the address is, such as `https://pay.example.com` or `http://127.0.0.1:8080`: scheme,
  ///     host and port alone.
  ///   - target: the path and the query, taken byte for byte; begins with `/`.
  ///   - package: the app that shall open it.
  ///   - action: what the app is asked for; nil for Android's own, `android.intent.action.VIEW`.
  ///   - fallback: the whole address to go to where the app is missing.
  ///   - endsWithSemicolon: whether a `;` follows the word `end`, which means the same to Android.
  /// - Returns: nil when the origin is no such origin, or when the target is not a path or has a byte that
  ///   no browser sends in one: a control character, a blank, `"`, `#`, `<`, `>`, or one beyond ASCII.
  public init?(
    origin: String, target: String, package: PackageName, action: String? = nil, fallback: String? = nil,
    endsWithSemicolon: Bool = false
  ) {
    guard let colon = origin.firstRange(of: "://"), Self.isTarget(target) else { return nil }
    let scheme = origin[..<colon.lowerBound].lowercased()
    let authority = origin[colon.upperBound...]
    guard scheme == "https" || scheme == "http", Self.isAuthority(authority) else { return nil }
    var text = "intent://\(authority)\(target)#Intent;scheme=\(scheme);"
    if let action { text += "action=\(PercentEncoding.encoded(action));" }
    text += "package=\(PercentEncoding.encoded(package.text));"
    if let fallback { text += "S.browser_fallback_url=\(PercentEncoding.encoded(fallback));" }
    self.text = text + (endsWithSemicolon ? "end;" : "end")
  }

  private static func isTarget(_ text: String) -> Bool {
    text.utf8.first == UInt8(ascii: "/") && text.utf8.count <= targetByteCountMax
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"#<>".utf8.contains($0) }
  }

  /// A host, or an address in brackets, with or without a port; no user.
  private static func isAuthority(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "-._:[]".utf8.contains($0) }
  }
}
