// Percent-encoding as scripts and forms have it. Pure; any thread.

extension PercentEncoding {
  /// What `encodeURIComponent` of ECMAScript makes of a text (ECMA-262 §19.2.6.4): a blank becomes `%20`, and
  /// `!`, `'`, `(`, `)` and `*` stay.
  static func component(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count * 2)
    for byte in text.utf8 {
      if ASCII.isLetterOrDigit(byte) || "-_.!~*'()".utf8.contains(byte) {
        out.append(byte)
      } else {
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// The bytes of a name or a value in a form (WHATWG URL §5.1): `+` is a blank.
  /// - Returns: a `%` without two digits stands for itself, as it does in a browser; `isBroken` says so.
  static func form(_ text: some StringProtocol) -> (bytes: [UInt8], isBroken: Bool) {
    var out: [UInt8] = []
    var isBroken = false
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): out.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = rest.prefix(2).compactMap(ASCII.hexValue)
        guard digits.count == 2 else {
          isBroken = true
          out.append(byte)
          continue
        }
        out.append(digits[0] << 4 | digits[1])
        rest = rest.dropFirst(2)
      default: out.append(byte)
      }
    }
    return (out, isBroken)
  }
}
