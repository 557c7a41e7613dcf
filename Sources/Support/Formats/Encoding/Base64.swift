// Base64 (RFC 4648). Foundation's decoder is not used: it has no alphabet for URLs, and accepts several texts
// for one value. Total; pure; thread-safe.

/// Encodes and decodes base64.
public enum Base64 {
  /// Which texts are decoded.
  public enum Form: Sendable {
    /// The standard alphabet (§4), padded. Each value has exactly one text (§3.5): unused bits must be zero.
    case standard
    /// The alphabet for URLs and file names (§5), without padding, as in tokens (RFC 7515 §2). Each value has
    /// exactly one text.
    case url
    /// Either alphabet, padded or not, with any unused bits. For text that is kept and forwarded as received.
    case lenient

    fileprivate var forbidden: UInt16 {
      switch self {
      case .standard: Base64.isOther | Base64.isURL
      case .url: Base64.isOther | Base64.isStandard
      case .lenient: Base64.isOther
      }
    }
  }

  // MARK: Encode

  /// Encodes with the standard alphabet (§4), padded.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text = encode(bytes, sixtyTwo: UInt8(ascii: "+"), sixtyThree: UInt8(ascii: "/"))
    for _ in 0..<missing(text.count) { text.append(padding) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Encodes with the alphabet for URLs (§5), without padding.
  public static func encodeURL(_ bytes: [UInt8]) -> String {
    let text = encode(bytes, sixtyTwo: UInt8(ascii: "-"), sixtyThree: UInt8(ascii: "_"))
    return String(decoding: text, as: UTF8.self)
  }

  private static func encode(_ bytes: [UInt8], sixtyTwo: UInt8, sixtyThree: UInt8) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for (index, byte) in group.enumerated() { bits |= UInt32(byte) << UInt32(16 - 8 * index) }
      // A group of n bytes needs n + 1 characters.
      for index in 0...group.count {
        switch UInt8(truncatingIfNeeded: bits >> UInt32(18 - 6 * index)) & 63 {
        case let value where value < 26: text.append(UInt8(ascii: "A") + value)
        case let value where value < 52: text.append(UInt8(ascii: "a") + value - 26)
        case let value where value < 62: text.append(UInt8(ascii: "0") + value - 52)
        case 62: text.append(sixtyTwo)
        default: text.append(sixtyThree)
        }
      }
    }
    return text
  }

  // MARK: Decode

  /// Decodes a text. The caller removes line breaks.
  /// - Returns: nil for a byte outside of the alphabet, such as a blank, an impossible length, and wrong
  ///   padding.
  public static func decode(_ text: Span<UInt8>, _ form: Form) -> [UInt8]? {
    var count = text.count
    while count > 0, text[count - 1] == padding { count -= 1 }
    let paddingCount = text.count - count
    let missing = missing(count)
    // A group of one character is less than a byte.
    guard missing < 3 else { return nil }
    switch form {
    case .standard: guard paddingCount == missing else { return nil }
    case .url: guard paddingCount == 0 else { return nil }
    case .lenient: guard paddingCount == 0 || paddingCount == missing else { return nil }
    }
    let table = table.span
    // The union of what is in the table for all characters, so that the loop has no branch.
    var seen: UInt16 = 0
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 3 / 4)
    var index = 0
    while index + 4 <= count {
      var group: UInt32 = 0
      for next in index..<index + 4 {
        let entry = table[Int(text[next])]
        seen |= entry
        group = group << 6 | UInt32(entry & 63)
      }
      bytes.append(UInt8(truncatingIfNeeded: group >> 16))
      bytes.append(UInt8(truncatingIfNeeded: group >> 8))
      bytes.append(UInt8(truncatingIfNeeded: group))
      index += 4
    }
    var rest: UInt32 = 0
    for next in index..<count {
      let entry = table[Int(text[next])]
      seen |= entry
      rest = rest << 6 | UInt32(entry & 63)
    }
    // `missing` is also the number of pairs of bits that belong to no byte.
    let unused = UInt32(2 * missing)
    if missing == 1 { bytes.append(UInt8(truncatingIfNeeded: rest >> 10)) }
    if missing > 0 { bytes.append(UInt8(truncatingIfNeeded: rest >> unused)) }
    guard seen & form.forbidden == 0 else { return nil }
    return form == .lenient || rest & (1 << unused - 1) == 0 ? bytes : nil
  }

  /// Whether a byte is a character of the alphabet for URLs (§5).
  public static func isURLCharacter(_ byte: UInt8) -> Bool {
    table[Int(byte)] & Form.url.forbidden == 0
  }

  private static let padding = UInt8(ascii: "=")

  /// How many characters the last group lacks.
  private static func missing(_ count: Int) -> Int { (4 - count % 4) % 4 }

  // What is in the table beside a character's value: the alphabet, unless both have it.
  private static let isStandard: UInt16 = 1 << 6
  private static let isURL: UInt16 = 1 << 7
  private static let isOther: UInt16 = 1 << 8

  private static let table: [UInt16] = {
    var table = [UInt16](repeating: isOther, count: 256)
    let shared = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for (value, character) in shared.utf8.enumerated() { table[Int(character)] = UInt16(value) }
    table[Int(UInt8(ascii: "+"))] = 62 | isStandard
    table[Int(UInt8(ascii: "/"))] = 63 | isStandard
    table[Int(UInt8(ascii: "-"))] = 62 | isURL
    table[Int(UInt8(ascii: "_"))] = 63 | isURL
    return table
  }()
}
