// Bytes as pairs of lower-case hexadecimal digits (RFC 4648 §8). Pure.

/// Lower-case hexadecimal text.
public enum Hex {
  /// Two lower-case digits for each byte.
  public static func encode(_ bytes: [UInt8]) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      digits.append(digit(byte >> 4))
      digits.append(digit(byte & 0xf))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes that `text` encodes.
  /// - Returns: nil unless it consists of pairs of `0-9a-f`. Empty text gives no bytes.
  public static func decodeLowercase(_ text: some StringProtocol) -> [UInt8]? {
    decodeLowercase(text.utf8)
  }

  /// The bytes that the ASCII `digits` encode, by the same rule.
  public static func decodeLowercase(_ digits: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in digits {
      guard let value = value(digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }

  /// Writes the bytes that `digits` encode, by the same rule.
  /// - Returns: false unless they fill `bytes` exactly.
  static func decodeLowercase(_ digits: Span<UInt8>, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
    guard digits.count == 2 * bytes.count else { return false }
    for index in 0..<bytes.count {
      guard let high = value(digits[2 * index]), let low = value(digits[2 * index + 1]) else { return false }
      unsafe bytes[index] = high << 4 | low
    }
    return true
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
