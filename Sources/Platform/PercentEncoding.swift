// Percent-decoding of paths and forms (RFC 3986 §2.1; WHATWG URL §5.1). Pure; thread-safe.

/// Decodes URLs and forms.
public enum PercentEncoding {
  /// Decodes a part of a path.
  /// - Parameter bytes: a part of a valid UTF-8 text, in whole characters.
  /// - Returns: nil for an invalid escape, or when the result is not UTF-8.
  public static func decode(_ bytes: Span<UInt8>) -> String? {
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.count)
    var isEscaped = false
    for index in bytes.indices {
      copy.append(bytes[index])
      if bytes[index] == UInt8(ascii: "%") { isEscaped = true }
    }
    return isEscaped ? decode(copy[...], plusIsSpace: false) : String(decoding: copy, as: UTF8.self)
  }

  /// - Parameter plusIsSpace: whether `+` is a space, as in forms.
  /// - Returns: nil for an invalid escape, or when the result is not UTF-8.
  static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    decode(Array(text.utf8)[...], plusIsSpace: plusIsSpace)
  }

  static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
          return nil
        }
        out.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: out.append(UInt8(ascii: " "))
      default: out.append(byte)
      }
    }
    return String(validating: out, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The value of the first field with this name in a form or query; nil when there is none.
  /// - Throws: when a field cannot be decoded.
  public static func value(of name: String, in form: ArraySlice<UInt8>) throws(Broken) -> String? {
    for field in form.split(separator: UInt8(ascii: "&")) {
      let (key, value) = try decoded(field)
      if key == name { return value }
    }
    return nil
  }

  /// The values of all fields with this name, in order.
  /// - Throws: when a field cannot be decoded.
  public static func values(of name: String, in form: ArraySlice<UInt8>) throws(Broken) -> [String] {
    var values: [String] = []
    for field in form.split(separator: UInt8(ascii: "&")) {
      let (key, value) = try decoded(field)
      if key == name { values.append(value) }
    }
    return values
  }

  private static func decoded(_ field: ArraySlice<UInt8>) throws(Broken) -> (key: String, value: String) {
    let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard let key = decode(parts[0], plusIsSpace: true),
      let value = decode(parts.count > 1 ? parts[1] : [], plusIsSpace: true)
    else { throw Broken() }
    return (key, value)
  }

  /// An escape without two hexadecimal digits, or bytes that are not UTF-8.
  public struct Broken: Error {}
}
