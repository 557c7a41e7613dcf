// The strings and numbers of a JSON text, as they are written. Pure.

internal import Formats

/// A string with its quotes, or a number.
struct JSONToken {
  var range: Range<Int>
  var isString: Bool

  /// The tokens in order; nil if the bytes are not JSON. Keys are strings like values.
  static func all(in text: [UInt8]) -> [JSONToken]? {
    // Only valid JSON may be read as simply as below (RFC 8259 §6, §7).
    guard JSONDocument.read(text, { _ in true }) == true else { return nil }
    var tokens: [JSONToken] = []
    var position = 0
    while position < text.count {
      let start = position
      switch text[position] {
      case UInt8(ascii: "\""):
        position += 1
        while position < text.count, text[position] != UInt8(ascii: "\"") {
          position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, text.count)
        tokens.append(JSONToken(range: start..<position, isString: true))
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        while position < text.count, isPartOfNumber(text[position]) { position += 1 }
        tokens.append(JSONToken(range: start..<position, isString: false))
      default: position += 1
      }
    }
    return tokens
  }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
