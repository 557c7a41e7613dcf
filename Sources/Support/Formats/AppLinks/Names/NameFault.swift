// Why a text is not a valid name, scheme or fingerprint. A value; thread-safe. The message never contains the
// text, which is untrusted input; the caller names its position.

/// The fault and the expected form, as the predicate of a sentence whose subject is the field.
public struct NameFault: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  package init(_ description: String) { self.description = description }
}

/// Classes of ASCII bytes for the rules of names.
enum ASCII {
  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }
}
