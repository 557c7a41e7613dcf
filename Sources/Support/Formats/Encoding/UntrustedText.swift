// Which external identifiers may be stored. Pure; any thread.

/// Rules for identifiers in untrusted input.
public enum UntrustedText {
  /// The longest object ids that a processor documents have 255 characters. The merchant's user ids have the
  /// same limit.
  public static let identifierBytesMax = 255

  /// Returns `text` if it is valid as a user's or an object's id: 1–255 bytes of UTF-8 without control
  /// characters (U+0000–U+001F, U+007F–U+009F); nil otherwise.
  public static func identifier(_ text: String?) -> String? {
    guard let text, !text.isEmpty, text.utf8.count <= identifierBytesMax else { return nil }
    return hasControl(text.utf8.span) ? nil : text
  }

  /// Works on bytes because it runs several times for each request: U+0080–U+009F are `C2 80`–`C2 9F`.
  private static func hasControl(_ bytes: Span<UInt8>) -> Bool {
    var before: UInt8 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20 || byte == 0x7F || (before == 0xC2 && byte < 0xA0) { return true }
      before = byte
    }
    return false
  }

  /// `text` without the ASCII whitespace at its ends.
  public static func trimmed(_ text: String) -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    let bytes = text.utf8
    guard let first = bytes.first, let last = bytes.last, isBlank(first) || isBlank(last) else { return text }
    let start = bytes.drop(while: isBlank)
    let blanks = start.reversed().prefix(while: isBlank).count
    return String(decoding: start.dropLast(blanks), as: UTF8.self)
  }

  /// `text` unless it is absent or empty.
  public static func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

  /// The start of a text, cut between two Unicode scalars. A character may consist of any number of them.
  /// - Parameter bytesMax: of UTF-8.
  public static func start(of text: String, bytesMax: Int) -> String {
    var bytes = 0
    let kept = text.unicodeScalars.prefix {
      bytes += UTF8.width($0)
      return bytes <= bytesMax
    }
    return String(kept)
  }
}
