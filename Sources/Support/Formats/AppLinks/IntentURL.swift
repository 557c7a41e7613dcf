// The URL with which a page on Android opens an app: `intent:` (developer.chrome.com, "Android Intents with
// Chrome"). A value; thread-safe. No argument can add another field.

/// An `intent:` URL: the https URL for the app, and the app that receives it.
///
/// Android splits the text after the last `#` at each `;`, and then decodes each value
/// (android.content.Intent.parseUri). A browser that does not find the app opens `S.browser_fallback_url`.
public struct IntentURL: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of the request target, in bytes.
  public static let targetByteCountMax = 8_192

  /// The text for an attribute before escaping, or for a header: ASCII without blanks, quotes, `<` and `>`.
  public let text: String

  public var description: String { text }

  /// - Parameters:
  ///   - origin: the origin of the URL.
  ///   - target: the path and the query, kept byte for byte; begins with `/`.
  ///   - package: the app that opens it.
  ///   - action: the intent's action; nil for Android's default, `android.intent.action.VIEW`.
  ///   - fallback: the absolute URL to open if the app is not installed.
  ///   - endsWithSemicolon: whether a `;` follows the word `end`, which Android ignores.
  /// - Returns: nil when the target is too long, is not a path, or has a byte that no browser sends in one: a
  ///   control character, a blank, `"`, `#`, `<`, `>`, or a byte beyond ASCII.
  public init?(
    origin: WebOrigin, target: String, package: PackageName, action: String? = nil, fallback: String? = nil,
    endsWithSemicolon: Bool = false
  ) {
    guard RequestTarget.isPlain(target), target.utf8.count <= Self.targetByteCountMax else { return nil }
    var text = "intent://\(origin.authority)\(target)#Intent;scheme=\(origin.scheme);"
    if let action { text += "action=\(PercentEncoding.encode(action));" }
    text += "package=\(PercentEncoding.encode(package.text));"
    if let fallback { text += "S.browser_fallback_url=\(PercentEncoding.encode(fallback));" }
    self.text = text + (endsWithSemicolon ? "end;" : "end")
  }
}
