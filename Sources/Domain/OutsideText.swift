// Which texts from outside may become part of a row. Pure; any thread.

/// Rules for identifiers that others chose.
public enum OutsideText {
  /// Stripe says that its object ids can have up to 255 characters; the merchant's user ids have the same
  /// limit here.
  public static let identifierBytesMax = 255

  /// `text` when it may stand as a user's or an object's id: 1–255 bytes of UTF-8 without control characters
  /// (U+0000–U+001F, U+007F–U+009F); nil otherwise.
  public static func identifier(_ text: String?) -> String? {
    guard let text, !text.isEmpty, text.utf8.count <= identifierBytesMax else { return nil }
    let hasControl = text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    return hasControl ? nil : text
  }

  /// `text` unless it is absent or empty.
  public static func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
}
