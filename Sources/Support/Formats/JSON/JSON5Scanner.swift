// Scans a JSON5 text (https://spec.json5.org) without making values. It reports what the decoder does not:
// the place of the first syntax error, and duplicate keys in one object. It runs before the decoder, which
// accepts some texts that are not JSON5, and traps on others. Pure; thread-safe. Limited by the text's length
// and by `depthMax`.

/// Scans one text.
public struct JSON5Scanner {
  /// A position in the text, for messages: both count from 1, columns in Unicode scalars.
  public struct Place: Sendable, Equatable {
    public var line: Int
    public var column: Int
  }

  /// The first syntax error.
  public struct SyntaxFault: Error, Sendable, Equatable {
    public let place: Place
    public let message: String
  }

  /// A key that occurs twice in one object, by the path of the key.
  public struct Duplicate: Sendable, Equatable {
    public let path: String
    public let firstLine: Int
    public let secondLine: Int
  }

  /// Only configurations are JSON5; they nest six levels deep.
  static let depthMax = 32

  private let scalars: [Unicode.Scalar]
  /// Never empty.
  private let lineStarts: [Int]
  private var position = 0
  private var depth = 0
  /// The duplicates found so far.
  public private(set) var duplicates: [Duplicate] = []

  public init(_ text: String) {
    let scalars = Array(text.unicodeScalars)
    self.scalars = scalars
    lineStarts = [0] + scalars.indices.filter { scalars[$0] == "\n" }.map { $0 + 1 }
  }

  /// Scans the whole text, which must be one value.
  public mutating func scan() throws(SyntaxFault) {
    try skipBlanks()
    try value(path: "")
    try skipBlanks()
    if position < scalars.count {
      throw fault("something follows after the end; was a brace closed too early?")
    }
  }

  /// The text that a key has in a text with a syntax error, at any depth: for what must go on without the
  /// rest.
  /// - Returns: nil unless exactly one key of this name has a text.
  public mutating func text(ofKey name: String) -> String? {
    position = 0
    var texts: [String] = []
    var key: String?
    while (try? skipBlanks()) != nil, let scalar = current {
      if scalar == "\"" || scalar == "'" {
        key = try? string()
      } else if scalar == ":" {
        position += 1
        guard key == name, (try? skipBlanks()) != nil, current == "\"" || current == "'" else { continue }
        key = nil
        if let text = try? string() { texts.append(text) }
      } else {
        let start = position
        while let next = current, next == "_" || next.properties.isIDContinue { position += 1 }
        key = String(String.UnicodeScalarView(scalars[start..<position]))
        if position == start { position += 1 }
      }
    }
    return texts.count == 1 ? texts[0] : nil
  }

  private var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private func place(of position: Int) -> Place {
    // Binary search: a large file has as many keys to locate as lines.
    var (low, high) = (0, lineStarts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= position { low = middle } else { high = middle }
    }
    return Place(line: low + 1, column: position - lineStarts[low] + 1)
  }

  private func fault(_ message: String, at position: Int? = nil) -> SyntaxFault {
    SyntaxFault(place: place(of: position ?? self.position), message: message)
  }

  /// White space and comments.
  private mutating func skipBlanks() throws(SyntaxFault) {
    while let scalar = current {
      if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
        position += 1
      } else if scalar == "/", position + 1 < scalars.count, scalars[position + 1] == "/" {
        while let next = current, next != "\n", next != "\r" { position += 1 }
      } else if scalar == "/", position + 1 < scalars.count, scalars[position + 1] == "*" {
        try skipBlockComment()
      } else {
        return
      }
    }
  }

  private mutating func skipBlockComment() throws(SyntaxFault) {
    let start = position
    position += 2
    while position + 1 < scalars.count {
      if scalars[position] == "*", scalars[position + 1] == "/" {
        position += 2
        return
      }
      position += 1
    }
    throw fault("a comment /* is not closed with */", at: start)
  }

  private mutating func value(path: String) throws(SyntaxFault) {
    switch current {
    case nil: throw fault("the text ends where a value is expected")
    case "{": try object(path: path)
    case "[": try array(path: path)
    case "\"", "'": _ = try string()
    default: try word()
    }
  }

  private mutating func object(path: String) throws(SyntaxFault) {
    let start = position
    try enter()
    var lines: [String: Int] = [:]
    while true {
      try skipBlanks()
      if consume("}") { break }
      let keyPosition = position
      let key = try key(start: start)
      let keyPath = Self.path(path, key)
      let line = place(of: keyPosition).line
      if let firstLine = lines[key] {
        duplicates.append(Duplicate(path: keyPath, firstLine: firstLine, secondLine: line))
      }
      lines[key] = lines[key] ?? line
      try skipBlanks()
      guard consume(":") else { throw fault("a colon (:) is missing between a key and its value") }
      try skipBlanks()
      try value(path: keyPath)
      try skipBlanks()
      if consume(",") { continue }
      guard current == "}" else {
        if current == nil { throw fault("the brace { is not closed", at: start) }
        throw fault("a comma or } is expected here, after the value")
      }
    }
    depth -= 1
  }

  private mutating func array(path: String) throws(SyntaxFault) {
    let start = position
    try enter()
    var index = 0
    while true {
      try skipBlanks()
      if consume("]") { break }
      try value(path: "\(path)[\(index)]")
      index += 1
      try skipBlanks()
      if consume(",") { continue }
      guard current == "]" else {
        if current == nil { throw fault("the bracket [ is not closed", at: start) }
        throw fault("a comma or ] is expected here, after the value")
      }
    }
    depth -= 1
  }

  private mutating func enter() throws(SyntaxFault) {
    depth += 1
    guard depth <= Self.depthMax else { throw fault("nested too deep") }
    position += 1
  }

  private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
    guard current == scalar else { return false }
    position += 1
    return true
  }

  /// A quoted key, or an identifier (ECMAScript 5.1 §7.6, without its escapes).
  private mutating func key(start: Int) throws(SyntaxFault) -> String {
    switch current {
    case nil: throw fault("the brace { is not closed", at: start)
    case "\"", "'": return try string()
    default:
      var key = String.UnicodeScalarView()
      while let scalar = current, scalar == "$" || scalar == "_" || scalar.properties.isIDContinue {
        key.append(scalar)
        position += 1
      }
      guard let first = key.first, !("0"..."9").contains(first) else {
        throw fault("a key is expected here; a key that is not a plain word needs quotes")
      }
      if current == "-" { throw fault("a key with a hyphen needs quotes: \"…-…\"") }
      return String(key)
    }
  }

  private mutating func string() throws(SyntaxFault) -> String {
    let start = position
    guard let quote = current else { throw fault("a string is expected here") }
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = current {
      position += 1
      if scalar == quote { return String(text) }
      if scalar == "\n" || scalar == "\r" { break }
      if scalar == "\\" {
        // Escapes are not decoded: only keys are compared, and keys with escapes are not expected.
        guard let escaped = current else { break }
        text.append(escaped)
        position += 1
        // An escaped line break may be two scalars.
        if escaped == "\r", current == "\n" { position += 1 }
      } else {
        text.append(scalar)
      }
    }
    throw fault("the text that begins here is not closed with \(quote)", at: start)
  }

  /// A number or a keyword.
  private mutating func word() throws(SyntaxFault) {
    let start = position
    var word = String.UnicodeScalarView()
    while let scalar = current, scalar.properties.isIDContinue || "+-.$".unicodeScalars.contains(scalar) {
      word.append(scalar)
      position += 1
    }
    let text = String(word)
    if ["true", "false", "null"].contains(text) { return }
    let isSigned = text.first == "-" || text.first == "+"
    let unsigned = isSigned ? String(text.dropFirst()) : text
    if ["Infinity", "NaN"].contains(unsigned) { return }
    if let first = unsigned.unicodeScalars.first, ("0"..."9").contains(first) || first == "." {
      guard Self.isNumber(unsigned) else {
        throw fault("not a number; durations and sizes need quotes", at: start)
      }
      return
    }
    throw fault(text.isEmpty ? "a value is expected here" : "texts need quotes", at: start)
  }

  /// JSON5 §6 without the sign: hexadecimal digits after `0x`, or decimal digits with an optional point
  /// anywhere and an optional exponent.
  private static func isNumber(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    func scanDigits() -> ArraySlice<UInt8> {
      let digits = rest.prefix(while: isDigit)
      rest = rest.dropFirst(digits.count)
      return digits
    }
    if rest.starts(with: "0x".utf8) || rest.starts(with: "0X".utf8) {
      let digits = rest.dropFirst(2)
      return !digits.isEmpty
        && digits.allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20) }
    }
    let whole = scanDigits()
    if whole.count > 1, whole.first == UInt8(ascii: "0") { return false }
    var digitCount = whole.count
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      digitCount += scanDigits().count
    }
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
      if scanDigits().isEmpty { return false }
    }
    return digitCount > 0 && rest.isEmpty
  }
}

extension JSON5Scanner {
  /// The path of a member. Keys that are hard to read in a dotted path are quoted in brackets.
  public static func path(_ parent: String, _ key: String) -> String {
    let plain =
      !key.isEmpty && key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"'.[]\\".utf8.contains($0) }
    guard plain else { return "\(parent)[\(visible(JSONValue.string(key).text))]" }
    return parent.isEmpty ? key : "\(parent).\(key)"
  }

  /// JSON escapes only the control characters below 0x20 (RFC 8259, section 7). A terminal also interprets
  /// DEL, the C1 controls and the line separators, so this escapes them, too.
  private static func visible(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x7F...0x9F, 0x2028, 0x2029:
        let digits = String(scalar.value, radix: 16)
        shown += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }
}
