// Reads JSON5 (https://spec.json5.org), which only the configuration is, with the place of the first syntax
// error and the duplicate keys of each object. Inside quotes it is stricter than JSON5: an escape that means
// nothing and a control character are errors. Pure; thread-safe. Limited by the text's length and by
// `depthMax`.

/// Reads one text.
public struct JSON5Reader {
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

  /// Configurations nest six levels deep.
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

  /// Reads the whole text, which must be one value. The members of an object are sorted by name. Of several
  /// members with one name the first is kept.
  public mutating func read() throws(SyntaxFault) -> JSONValue {
    try skipBlanks()
    let value = try value(path: "")
    try skipBlanks()
    if position < scalars.count {
      throw fault("something follows after the end; was a brace closed too early?")
    }
    return value
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

  private mutating func value(path: String) throws(SyntaxFault) -> JSONValue {
    switch current {
    case nil: throw fault("the text ends where a value is expected")
    case "{": try object(path: path)
    case "[": try array(path: path)
    case "\"", "'": .string(try string())
    default: try word()
    }
  }

  private mutating func object(path: String) throws(SyntaxFault) -> JSONValue {
    let start = position
    try enter()
    var members: [JSONValue.Member] = []
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
      members.append(JSONValue.Member(name: key, value: try value(path: keyPath)))
      try skipBlanks()
      if consume(",") { continue }
      guard current == "}" else {
        if current == nil { throw fault("the brace { is not closed", at: start) }
        throw fault("a comma or } is expected here, after the value")
      }
    }
    depth -= 1
    return .object(JSONValue.ordered(members))
  }

  private mutating func array(path: String) throws(SyntaxFault) -> JSONValue {
    let start = position
    try enter()
    var elements: [JSONValue] = []
    while true {
      try skipBlanks()
      if consume("]") { break }
      elements.append(try value(path: "\(path)[\(elements.count)]"))
      try skipBlanks()
      if consume(",") { continue }
      guard current == "]" else {
        if current == nil { throw fault("the bracket [ is not closed", at: start) }
        throw fault("a comma or ] is expected here, after the value")
      }
    }
    depth -= 1
    return .array(elements)
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
    // Reported after the end of the text, so that a reader who goes on after a fault goes on there.
    var faulty: SyntaxFault?
    while let scalar = current {
      position += 1
      if scalar == quote {
        if let faulty { throw faulty }
        return String(text)
      }
      if scalar == "\n" || scalar == "\r" { break }
      if scalar == "\\" {
        let escape = position - 1
        guard let escaped = escapedScalars() else {
          faulty = faulty ?? fault("not an escape sequence; a backslash is written \\\\", at: escape)
          continue
        }
        text.append(contentsOf: escaped)
      } else if scalar.value < 0x20 {
        faulty = faulty ?? fault("a control character in a text", at: position - 1)
      } else {
        text.append(scalar)
      }
    }
    throw fault("the text that begins here is not closed with \(quote)", at: start)
  }

  /// What an escape sequence (JSON5 §5.1) means, after its backslash. A line break means nothing.
  /// - Returns: nil for anything else, at least one scalar of which has been read.
  private mutating func escapedScalars() -> [Unicode.Scalar]? {
    guard let scalar = current else { return nil }
    position += 1
    switch scalar {
    case "'", "\"", "\\", "/": return [scalar]
    case "b": return ["\u{8}"]
    case "f": return ["\u{C}"]
    case "n": return ["\n"]
    case "r": return ["\r"]
    case "t": return ["\t"]
    case "v": return ["\u{B}"]
    case "\n", "\u{2028}", "\u{2029}": return []
    case "\r":
      _ = consume("\n")
      return []
    case "x": return hexadecimal(2).flatMap(Unicode.Scalar.init).map { [$0] }
    case "u":
      guard let unit = hexadecimal(4) else { return nil }
      if let scalar = Unicode.Scalar(unit) { return [scalar] }
      // A pair of surrogates (RFC 8259 §7).
      guard unit < 0xDC00, consume("\\"), consume("u"), let low = hexadecimal(4),
        (0xDC00...0xDFFF).contains(low)
      else { return nil }
      return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)).map { [$0] }
    default: return nil
    }
  }

  private mutating func hexadecimal(_ count: Int) -> UInt32? {
    let digits = scalars[position...].prefix(count)
    guard digits.count == count, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
    position += count
    return UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
  }

  /// A number or a keyword.
  private mutating func word() throws(SyntaxFault) -> JSONValue {
    let start = position
    var word = String.UnicodeScalarView()
    while let scalar = current, scalar.properties.isIDContinue || "+-.$".unicodeScalars.contains(scalar) {
      word.append(scalar)
      position += 1
    }
    let isNegative = word.first == "-"
    switch String(word) {
    case "true": return true
    case "false": return false
    case "null": return .null
    default: break
    }
    if isNegative || word.first == "+" { word.removeFirst() }
    switch String(word) {
    case "Infinity": return .number(isNegative ? -.infinity : .infinity)
    case "NaN": return .number(.nan)
    case let text:
      guard let first = word.first, ("0"..."9").contains(first) || first == "." else {
        throw fault(text.isEmpty ? "a value is expected here" : "texts need quotes", at: start)
      }
      guard let number = Self.number(Array(text.utf8), isNegative: isNegative) else {
        throw fault("not a number; durations and sizes need quotes", at: start)
      }
      return number
    }
  }

  /// JSON5 §6 without the sign: hexadecimal digits after `0x`, or a JSON number whose point may be the first
  /// or the last of its digits.
  /// - Returns: nil also for a number that is too large.
  private static func number(_ text: [UInt8], isNegative: Bool) -> JSONValue? {
    let sign = isNegative ? "-" : ""
    if text.starts(with: "0x".utf8) || text.starts(with: "0X".utf8) {
      let digits = String(decoding: text.dropFirst(2), as: UTF8.self)
      guard digits.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
      return Int64(sign + digits, radix: 16).map(JSONValue.integer)
    }
    var text = text
    if let point = text.firstIndex(of: UInt8(ascii: ".")) {
      let next = text[(point + 1)...].first
      if point == 0, next.map({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) == true {
        text.insert(UInt8(ascii: "0"), at: 0)
      } else if point > 0, next.map({ $0 | 0x20 == UInt8(ascii: "e") }) ?? true {
        text.remove(at: point)
      }
    }
    return try? JSONValue(parsing: sign.utf8 + text)
  }
}

extension JSON5Reader {
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
