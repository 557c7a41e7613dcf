// Percent-encoding (RFC 3986 §2.1). Pure; thread-safe.

/// Encodes and decodes percent escapes.
public enum URLEscapes {
  /// Encodes all bytes except unreserved characters (§2.3).
  public static func encoded(_ text: String) -> String { escaped(text, isKept: isUnreserved) }

  /// Whether a byte never needs encoding (§2.3).
  public static func isUnreserved(_ byte: UInt8) -> Bool {
    ASCII.isLetterOrDigit(byte) || "-._~".utf8.contains(byte)
  }

  /// Encodes each byte that is not kept as `%` and two upper-case digits.
  static func escaped(_ text: String, isKept: (UInt8) -> Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in text.utf8 {
      if isKept(byte) {
        out.append(byte)
      } else {
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Decodes a text. A `%` without two digits is kept.
  /// - Returns: the text unchanged when the decoded bytes are not UTF-8.
  static func decoded(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = ASCII.hexValue(bytes[index + 1]), let low = ASCII.hexValue(bytes[index + 2])
      {
        out.append(high << 4 | low)
        index += 3
      } else {
        out.append(bytes[index])
        index += 1
      }
    }
    return String(validating: out, as: UTF8.self) ?? String(text)
  }
}
