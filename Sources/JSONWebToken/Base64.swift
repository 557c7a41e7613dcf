// Base64 for tokens and keys. Strict, so that one value has one text (RFC 4648 §3.5; RFC 7515 §2). Pure;
// thread-safe.

/// Decodes base64 with either alphabet.
public enum Base64 {
  /// Decodes base64url without padding (RFC 7515 §2).
  /// - Returns: nil for padding, blanks, bytes of another alphabet, an impossible length, or nonzero trailing
  ///   bits, which no encoder sets.
  public static func decodeURL(_ text: some Collection<UInt8>) -> [UInt8]? {
    decode(text, UInt8(ascii: "-"), UInt8(ascii: "_"))
  }

  /// Decodes padded base64 with the standard alphabet, with the same strictness. The caller removes line
  /// breaks.
  static func decodePadded(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
    return decode(text.dropLast(padding), UInt8(ascii: "+"), UInt8(ascii: "/"))
  }

  private static func decode(
    _ text: some Collection<UInt8>, _ sixtyTwo: UInt8, _ sixtyThree: UInt8
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var (bits, count): (UInt32, Int) = (0, 0)
    for character in text {
      guard let value = value(of: character, sixtyTwo, sixtyThree) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
      }
    }
    // A single remaining character is less than a byte, and the remaining bits must be zero.
    return count < 6 && bits == 0 ? bytes : nil
  }

  private static func value(of character: UInt8, _ sixtyTwo: UInt8, _ sixtyThree: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case sixtyTwo: 62
    case sixtyThree: 63
    default: nil
    }
  }
}
