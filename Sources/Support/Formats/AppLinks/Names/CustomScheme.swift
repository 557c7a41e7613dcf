// A custom URL scheme of an app (`exampleapp://…`). Refuses schemes that run code, fetch data, or belong to
// another program of the device. A value; thread-safe.

/// A URL scheme that an app may own.
///
/// The case is kept: an app may compare the scheme case-sensitively, against RFC 3986 §3.1.
public struct CustomScheme: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length in characters.
  public static let countMax = 63

  /// The text that was parsed, without `:`; ASCII. It needs no escaping in a header or in HTML.
  public let text: String

  public var description: String { text }

  /// - Throws: `NameFault` when the text is not a scheme (RFC 3986 §3.1), is too long, or is a reserved
  ///   scheme.
  public init(_ text: String) throws(NameFault) {
    guard text.utf8.count <= Self.countMax, let first = text.utf8.first, ASCII.isLetter(first),
      text.utf8.allSatisfy({ ASCII.isLetterOrDigit($0) || "+.-".utf8.contains($0) })
    else {
      throw NameFault(
        "is not the scheme of an app, such as exampleapp (a letter followed by letters, digits, +, . and -; "
          + "at most \(Self.countMax) characters, without ://)")
    }
    let lower = text.lowercased()
    guard !Self.refused.contains(lower), !Self.refusedPrefixes.contains(where: lower.hasPrefix) else {
      throw NameFault("is a scheme that belongs to the device or the browser; use one of the app's own")
    }
    self.text = text
  }

  /// Whether a text equals this scheme, case-insensitively (RFC 3986 §3.1).
  public func isNamed(_ other: some StringProtocol) -> Bool { text.lowercased() == other.lowercased() }

  /// Schemes that a browser runs or opens, and those of telephone, mail and app stores.
  private static let refused: Set<String> = [
    // Code, and documents made from text.
    "javascript", "jscript", "livescript", "ecmascript", "mocha", "vbscript", "vbs", "data", "blob", "about",
    "view-source", "filesystem", "file", "jar", "mhtml", "wyciwyg", "srcdoc",
    // Network protocols.
    "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "feed", "urn", "ssh", "telnet", "smb", "ldap",
    "gopher",
    "news", "nntp", "magnet",
    // Internal schemes of browsers and their extensions.
    "chrome", "chrome-extension", "chrome-search", "moz-extension", "safari-extension",
    "safari-web-extension", "ms-browser-extension", "resource", "edge", "opera", "devtools",
    "googlechrome", "googlechromes", "firefox", "microsoft-edge", "x-safari-http", "x-safari-https",
    "search-ms",
    // Schemes that Android resolves.
    "intent", "android-app", "android.resource", "content", "market", "geo",
    // Schemes that Apple's systems resolve.
    "prefs", "app-prefs", "app-settings", "shortcuts", "workflow", "maps", "webcal", "calshow", "message",
    "imessage", "itunes", "x-apple-data-detectors",
    // Schemes that Windows resolves.
    "res", "mk",
    // Telephone, messages and mail.
    "tel", "telprompt", "callto", "facetime", "facetime-audio", "facetime-prompt", "facetime-audio-prompt",
    "sip", "sips", "sms", "smsto", "mms", "mmsto",
    "mailto",
  ]

  /// Apple's stores (itms, itms-apps, itms-services and others), and Microsoft's programs.
  private static let refusedPrefixes = ["itms", "ms-"]
}
