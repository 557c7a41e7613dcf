// Which strings are accepted from links, and how strings are escaped for links. Pure; thread-safe.

internal import Foundation

enum LinkText {
  /// The longest id or other part of a link, in bytes of UTF-8.
  static let bytesMax = 1024

  /// Whether a text may be an id: not empty, not too long, no control characters (C0, DEL, C1).
  static func isIdentifier(_ text: String, bytesMax: Int = bytesMax) -> Bool {
    !text.isEmpty && text.utf8.count <= bytesMax && !hasControls(text)
  }

  static func hasControls(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
  }

  /// Escapes everything except RFC 3986's unreserved characters, so that the text is exactly one path segment
  /// or one query value.
  static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// - Returns: nil for a broken escape, and for invalid UTF-8.
  static func unescaped(_ text: String) -> String? { text.removingPercentEncoding }

  /// Lower-cases ASCII only, as schemes and hosts are compared (RFC 3986 §6.2.2.1).
  static func lowercased(_ text: String) -> String {
    String(
      decoding: text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
      as: UTF8.self)
  }

  static func lowercased(_ texts: Set<String>) -> Set<String> { Set(texts.map { lowercased($0) }) }

  /// Compares UTF-8 bytes. `==` treats `é` and `e` with a combining accent as equal; servers do not.
  static func isSame(_ one: String?, _ other: String?) -> Bool {
    switch (one, other) {
    case (nil, nil): true
    case (let one?, let other?): one.utf8.elementsEqual(other.utf8)
    default: false
    }
  }

  /// RFC 3986 §3.1.
  static func isScheme(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy {
      isLetter($0) || isDigit($0) || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains($0)
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "-._~".utf8.contains(byte)
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// Whether a text is a prefix and 26 characters of Crockford's base32, the form of the relay's ids.
  static func isCrockford(_ text: String, prefix: String) -> Bool {
    text.utf8.count == prefix.utf8.count + 26 && text.utf8.starts(with: prefix.utf8)
      && text.utf8.dropFirst(prefix.utf8.count).allSatisfy("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8.contains)
  }
}
