// Which texts are never the id of a user: placeholders of programs that had no user, and the ids of contexts.
// Two users whose apps both send "undefined" must not become one. Pure; any thread.

internal import Formats

/// What an app accepts as the id of a user.
public struct UserIDRules: Sendable, Equatable {
  /// Texts that are refused besides the placeholders, compared case-insensitively.
  public var refuse: [String] { didSet { refused = Self.refused(refuse, allow) } }
  /// Placeholders that are users of this app, compared case-insensitively.
  public var allow: [String] { didSet { refused = Self.refused(refuse, allow) } }
  /// In lower case.
  private var refused: [String: Cause]

  public init(refuse: [String] = [], allow: [String] = []) {
    self.refuse = refuse
    self.allow = allow
    refused = Self.refused(refuse, allow)
  }

  private static func refused(_ refuse: [String], _ allow: [String]) -> [String: Cause] {
    var refused = placeholders
    for text in refuse { refused[key(text)] = .configured }
    for text in allow { refused[key(text)] = nil }
    return refused
  }

  /// Why a text is not a user.
  public enum Cause: Sendable, Equatable {
    /// A program turned a variable without a value into a text.
    case missingValue
    /// An app's own word for a user who has not signed in.
    case signedOut
    /// It is the id of a context, or was one.
    case contextID
    /// The configuration refuses it.
    case configured
  }

  /// What a text is that should name a user.
  public enum Reading: Sendable, Equatable {
    case user(UserID)
    case refused(UserID, Cause)
    /// It is empty, too long, or has control characters.
    case invalid
  }

  /// Reads a text that should name a user. Surrounding ASCII whitespace is no part of it.
  public func read(_ text: String) -> Reading {
    guard let text = UntrustedText.identifier(UntrustedText.trimmed(text)) else { return .invalid }
    if ContextID.isMeant(by: text) { return .refused(UserID(text), .contextID) }
    if text.utf8.count <= Self.placeholderBytesMax || !refuse.isEmpty, let cause = refused[Self.key(text)] {
      return .refused(UserID(text), cause)
    }
    return .user(UserID(text))
  }

  private static func key(_ text: String) -> String { UntrustedText.trimmed(text).lowercased() }

  private static let placeholders: [String: Cause] = {
    let missing = [
      "undefined", "null", "(null)", "<null>", "nil", "none", "nan", "[object object]", "[object promise]",
      "{}", "[]", "true", "false", "00000000-0000-0000-0000-000000000000",
    ]
    let signedOut = ["0", "-1", "unknown", "anonymous", "guest", "no_user", "unidentified"]
    return Dictionary(
      uniqueKeysWithValues: missing.map { ($0, .missingValue) } + signedOut.map { ($0, .signedOut) })
  }()

  private static let placeholderBytesMax = placeholders.keys.map(\.utf8.count).max() ?? 0
}
