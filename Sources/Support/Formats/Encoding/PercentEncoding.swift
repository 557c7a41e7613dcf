// Percent-encoding (RFC 3986 §2.1). Pure; thread-safe.

/// Encodes and decodes percent escapes.
public enum PercentEncoding {
  /// The ASCII characters that are not encoded.
  public struct Kept: Sendable {
    /// RFC 3986 §2.3, unreserved: safe in every part of a URL, and in a form.
    public static let unreserved = Kept(letterOrDigit + "-._~")
    /// All outside of the WHATWG URL Standard's component percent-encode set (§1.3), as `encodeURIComponent`
    /// of ECMAScript.
    public static let component = Kept(letterOrDigit + "-._~!*'()")

    private static let letterOrDigit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    // One bit for each character, starting at the lowest.
    private let low: UInt64
    private let high: UInt64

    private init(_ characters: String) {
      func bits(_ range: Range<UInt8>) -> UInt64 {
        characters.utf8.filter(range.contains).reduce(0) { $0 | 1 << UInt64($1 & 63) }
      }
      low = bits(0..<64)
      high = bits(64..<128)
    }

    public func contains(_ byte: UInt8) -> Bool {
      byte < 128 && (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
    }
  }

  // MARK: Encode

  /// Encodes every byte that is not kept as `%` and two upper-case digits.
  public static func encode(_ text: String, keeping kept: Kept = .unreserved) -> String {
    if text.utf8.allSatisfy(kept.contains) { return text }
    var out: [UInt8] = []
    out.reserveCapacity(3 * text.utf8.count)
    for byte in text.utf8 {
      if kept.contains(byte) {
        out.append(byte)
      } else {
        out.append(UInt8(ascii: "%"))
        out.append(HexDigit.upperCase(byte >> 4))
        out.append(HexDigit.upperCase(byte & 15))
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  // MARK: Decode

  /// Decodes a part of a path, or of a query that is not a form.
  /// - Returns: nil for a broken escape, or when the result is not UTF-8.
  public static func decode(_ bytes: Span<UInt8>) -> String? {
    // Most parts have no escape: one copy.
    for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
      let (decoded, isBroken) = decodeBytes(bytes)
      return isBroken ? nil : String(validating: decoded, as: UTF8.self)
    }
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    return String(copying: text)
  }

  /// Decodes, and keeps a `%` without two digits, as browsers do.
  /// - Parameter plusIsSpace: whether `+` is a space, as in forms (WHATWG URL §5.1).
  /// - Returns: any bytes, and whether a `%` has no two digits.
  public static func decodeBytes(
    _ bytes: Span<UInt8>, plusIsSpace: Bool = false
  ) -> (bytes: [UInt8], isBroken: Bool) {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var isBroken = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "%"):
        guard index + 2 <= bytes.count, let high = HexDigit.value(bytes[index]),
          let low = HexDigit.value(bytes[index + 1])
        else {
          isBroken = true
          out.append(byte)
          continue
        }
        out.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+") where plusIsSpace: out.append(UInt8(ascii: " "))
      default: out.append(byte)
      }
    }
    return (out, isBroken)
  }
}

// MARK: - HexDigit

// Hexadecimal digits in ASCII. Pure; thread-safe.

/// The sixteen digits.
public enum HexDigit {
  /// The value of a digit in either case; nil for any other byte.
  public static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The digit of a value below 16.
  static func upperCase(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
