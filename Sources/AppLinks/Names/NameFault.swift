// Why a text is not the name, the scheme or the fingerprint that it should be. A value; any thread. Its words
// never hold the text itself: that comes from outside, and whoever reports the fault names the place instead.

/// What is wrong with a text, and what it must be; reads well behind the name of a field.
public struct NameFault: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Sets of ASCII bytes that the rules of names are made of.
enum ASCII {
  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

  /// The value of a hexadecimal digit in either case; nil for every other byte.
  static func hexValue(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte - UInt8(ascii: "0") }
    let lower = byte | 0x20
    guard (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lower) else { return nil }
    return lower - UInt8(ascii: "a") + 10
  }
}
