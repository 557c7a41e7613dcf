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
  ///   - origin: where the address is.
  ///   - target: the path and the query, taken byte for byte; begins with `/`.
  ///   - package: the app that shall open it.
  ///   - action: what the app is asked for; nil for Android's own, `android.intent.action.VIEW`.
  ///   - fallback: the whole address to go to where the app is missing.
  ///   - endsWithSemicolon: whether a `;` follows the word `end`, which means the same to Android.
  /// - Returns: nil when the target is too long, is not a path or has a byte that
  ///   no browser sends in one: a control character, a blank, `"`, `#`, `<`, `>`, or one beyond ASCII.
  public init?(
    origin: WebOrigin, target: String, package: PackageName, action: String? = nil, fallback: String? = nil,
    endsWithSemicolon: Bool = false
  ) {
    guard RequestTarget.isPlain(target), target.utf8.count <= Self.targetByteCountMax else { return nil }
    var text = "intent://\(origin.authority)\(target)#Intent;scheme=\(origin.scheme);"
    if let action { text += "action=\(URLEscapes.encoded(action));" }
    text += "package=\(URLEscapes.encoded(package.text));"
    if let fallback { text += "S.browser_fallback_url=\(URLEscapes.encoded(fallback));" }
    self.text = text + (endsWithSemicolon ? "end;" : "end")
  }
}
