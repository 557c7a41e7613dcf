// Percent-encoding of scripts and forms. Pure; thread-safe.

extension URLEscapes {
  /// Encodes like `encodeURIComponent` of ECMAScript (ECMA-262 §19.2.6.4): a blank becomes `%20`, and `!`,
  /// `'`, `(`, `)` and `*` are kept.
  static func component(_ text: String) -> String {
    escaped(text) { isUnreserved($0) || "!*'()".utf8.contains($0) }
  }

  /// Decodes a name or a value of a form (WHATWG URL §5.1): `+` is a blank.
  /// - Returns: the bytes. A `%` without two digits is kept, as browsers do, and sets `isBroken`.
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
