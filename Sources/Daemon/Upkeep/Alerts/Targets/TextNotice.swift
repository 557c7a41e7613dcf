// A notice as a text alone, for chats that refuse other members (Google Chat) or need none (Mattermost,
// Rocket.Chat). Pure; called from any thread.

internal import Formats

/// Makes messages of one text.
enum TextNotice {
  /// Far less than a message may have in Google Chat (32,000 bytes) and in Mattermost (16,383 characters).
  static let textMax = 4000

  /// An invisible space makes no mention of `@channel` (Mattermost) and `<users/all>` (Google Chat), which a
  /// destination's answer may contain.
  static func message(_ notice: AlertNotice, host: String) -> JSONValue {
    let text = LimitedText.cut(notice.text(host: host), to: textMax) { character in
      character == "@" || character == "<" ? "\(character)\u{200B}" : nil
    }
    return ["text": .string(text)]
  }
}
