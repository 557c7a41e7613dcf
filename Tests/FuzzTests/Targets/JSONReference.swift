// RFC 8259 and RFC 3629, rule by rule: the reference for the relay's JSON reader. Slow and plain on purpose.
// Foundation's decoder cannot be the reference: it accepts a comma after the last element, reads a text with
// a NUL near its start as UTF-16, treats names that differ only in Unicode normalisation as equal, rounds
// large fractions to whole numbers, and never reads the value of a repeated name. Pure.

import Formats

/// A JSON text, parsed by the grammar.
indirect enum JSONReference {
  /// A word, a number or a string; nil for one that is valid but has no value: a string with an unpaired
  /// surrogate (§8.2), a number too large for a `Double` (§6).
  case leaf(JSONValue?)
  case array([JSONReference])
  case object([(name: String?, value: JSONReference)])

  /// - Returns: nil when `bytes` are not a JSON text in UTF-8 (§2, §8.1), or nest more than 512 levels (§9).
  static func read(_ bytes: [UInt8]) -> JSONReference? {
    // A parser may ignore a byte order mark (§8.1), and this one does.
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    guard let scalars = utf8(text) else { return nil }
    var grammar = JSONGrammar(scalars)
    return grammar.text()
  }

  /// The whole value: members sorted by name, and the first of each repeated name; nil when a part has no
  /// value.
  var value: JSONValue? {
    switch self {
    case .leaf(let value): return value
    case .array(let elements):
      let values = elements.compactMap(\.value)
      return values.count == elements.count ? .array(values) : nil
    case .object(let members):
      var kept: [JSONValue.Member] = []
      for (name, value) in members {
        guard let name, let value = value.value else { return nil }
        let isRepeat = kept.contains { $0.name.utf8.elementsEqual(name.utf8) }
        if !isRepeat { kept.append(.init(name: name, value: value)) }
      }
      return .object(kept.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
    }
  }

  /// The first member of that name, compared by code unit (§8.3).
  subscript(name: String) -> JSONReference? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name?.utf8.elementsEqual(name.utf8) ?? false }?.value
  }

  /// RFC 3629 §4, the ABNF.
  private static func utf8(_ bytes: [UInt8]) -> [UInt32]? {
    var scalars: [UInt32] = []
    var rest = bytes[...]
    while let first = rest.popFirst() {
      let tails: [ClosedRange<UInt8>]
      let tail: ClosedRange<UInt8> = 0x80...0xBF
      switch first {
      case 0x00...0x7F: tails = []
      case 0xC2...0xDF: tails = [tail]
      case 0xE0: tails = [0xA0...0xBF, tail]
      case 0xE1...0xEC, 0xEE...0xEF: tails = [tail, tail]
      case 0xED: tails = [0x80...0x9F, tail]
      case 0xF0: tails = [0x90...0xBF, tail, tail]
      case 0xF1...0xF3: tails = [tail, tail, tail]
      case 0xF4: tails = [0x80...0x8F, tail, tail]
      default: return nil
      }
      var scalar = tails.isEmpty ? UInt32(first) : UInt32(first) & (0x3F >> UInt32(tails.count))
      for range in tails {
        guard let byte = rest.popFirst(), range.contains(byte) else { return nil }
        scalar = scalar << 6 | UInt32(byte & 0x3F)
      }
      scalars.append(scalar)
    }
    return scalars
  }
}

/// The rules of RFC 8259, one function each.
private struct JSONGrammar {
  private let scalars: [UInt32]
  private var position = 0
  private var depth = 0

  init(_ scalars: [UInt32]) { self.scalars = scalars }

  /// §2: JSON-text = ws value ws
  mutating func text() -> JSONReference? {
    skipBlanks()
    guard let value = value() else { return nil }
    skipBlanks()
    return position == scalars.count ? value : nil
  }

  private var current: UInt32? { position < scalars.count ? scalars[position] : nil }

  private mutating func accept(_ text: String) -> Bool {
    let wanted = text.unicodeScalars.map(\.value)
    guard scalars[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func skipBlanks() {
    while let scalar = current, [0x20, 0x09, 0x0A, 0x0D].contains(scalar) { position += 1 }
  }

  /// §3
  private mutating func value() -> JSONReference? {
    if accept("false") { return .leaf(false) }
    if accept("null") { return .leaf(.null) }
    if accept("true") { return .leaf(true) }
    if accept("{") { return nested { $0.object() } }
    if accept("[") { return nested { $0.array() } }
    if accept("\"") { return string().map { .leaf($0.map(JSONValue.string)) } }
    return number()
  }

  private mutating func nested(_ body: (inout JSONGrammar) -> JSONReference?) -> JSONReference? {
    depth += 1
    defer { depth -= 1 }
    return depth > 512 ? nil : body(&self)
  }

  /// §4
  private mutating func object() -> JSONReference? {
    var members: [(name: String?, value: JSONReference)] = []
    skipBlanks()
    if accept("}") { return .object([]) }
    repeat {
      skipBlanks()
      guard accept("\""), let name = string() else { return nil }
      skipBlanks()
      guard accept(":") else { return nil }
      skipBlanks()
      guard let value = value() else { return nil }
      members.append((name, value))
      skipBlanks()
    } while accept(",")
    return accept("}") ? .object(members) : nil
  }

  /// §5
  private mutating func array() -> JSONReference? {
    var elements: [JSONReference] = []
    skipBlanks()
    if accept("]") { return .array([]) }
    repeat {
      skipBlanks()
      guard let value = value() else { return nil }
      elements.append(value)
      skipBlanks()
    } while accept(",")
    return accept("]") ? .array(elements) : nil
  }

  /// §7, after the opening quotation mark. Nil when it is not a string, `.some(nil)` when it has no value.
  private mutating func string() -> String?? {
    var units: [UInt16] = []
    while let scalar = current {
      position += 1
      switch scalar {
      case 0x22: return String(validating: units, as: UTF16.self)
      case 0x5C:
        guard let unit = escape() else { return nil }
        units.append(unit)
      case 0x20...0x10FFFF:
        guard let scalar = Unicode.Scalar(scalar) else { return nil }
        units.append(contentsOf: UTF16.encode(scalar).map(Array.init) ?? [])
      default: return nil
      }
    }
    return nil
  }

  private mutating func escape() -> UInt16? {
    for (name, unit) in [
      ("\"", 0x22), ("\\", 0x5C), ("/", 0x2F), ("b", 0x08), ("f", 0x0C), ("n", 0x0A), ("r", 0x0D),
      ("t", 0x09),
    ] as [(String, UInt16)] where accept(name) {
      return unit
    }
    guard accept("u") else { return nil }
    let digits = String(scalars[position...].prefix(4).compactMap(Unicode.Scalar.init).map(Character.init))
    guard digits.count == 4, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    position += 4
    return UInt16(digits, radix: 16)
  }

  /// §6: number = [ minus ] int [ frac ] [ exp ]
  private mutating func number() -> JSONReference? {
    let start = position
    let isNegative = accept("-")
    guard let whole = digits(), whole == "0" || !whole.hasPrefix("0") else { return nil }
    var fraction = ""
    if accept(".") {
      guard let digits = digits() else { return nil }
      fraction = digits
    }
    var exponent = "0"
    if accept("e") || accept("E") {
      let isSmall = accept("-")
      if !isSmall { _ = accept("+") }
      guard let digits = digits() else { return nil }
      exponent = (isSmall ? "-" : "") + digits
    }
    if let number = Self.integer(isNegative, whole, fraction, exponent) { return .leaf(.integer(number)) }
    let text = String(scalars[start..<position].compactMap(Unicode.Scalar.init).map(Character.init))
    guard let number = Double(text), number.isFinite else { return .leaf(nil) }
    return .leaf(.number(number))
  }

  private mutating func digits() -> String? {
    var digits = ""
    while let scalar = current, (0x30...0x39).contains(scalar) {
      digits.append(Character(Unicode.Scalar(UInt8(scalar))))
      position += 1
    }
    return digits.isEmpty ? nil : digits
  }

  /// The number if it is whole and an `Int64`: its significant digits and the zeros after them.
  private static func integer(
    _ isNegative: Bool, _ whole: String, _ fraction: String, _ exponent: String
  ) -> Int64? {
    var digits = String((whole + fraction).drop { $0 == "0" })
    guard !digits.isEmpty else { return 0 }
    // With an exponent beyond a million there is no `Int64`, because inputs are small.
    guard let power = Int(exponent), power.magnitude <= 1_000_000 else { return nil }
    var zeros = power - fraction.count
    while digits.hasSuffix("0") {
      digits.removeLast()
      zeros += 1
    }
    guard zeros >= 0, digits.count + zeros <= 19 else { return nil }
    return Int64((isNegative ? "-" : "") + digits + String(repeating: "0", count: zeros))
  }
}
