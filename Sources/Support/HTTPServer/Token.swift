// The characters of a name in HTTP. Pure.

/// Tokens: methods and names of header fields.
enum Token {
  /// RFC 9110 §5.6.2, tchar: one bit for each ASCII character of a token, starting at the lowest.
  private static let low = bits("!#$%&'*+-.0123456789")
  private static let high = bits("ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~")

  private static func bits(_ characters: String) -> UInt64 {
    characters.utf8.reduce(0) { $0 | 1 << UInt64($1 & 63) }
  }

  static func isByte(_ byte: UInt8) -> Bool {
    guard byte < 0x80 else { return false }
    return (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
  }
}
