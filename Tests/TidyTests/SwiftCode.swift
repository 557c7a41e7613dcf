// Swift source without comments and the text of literals, so that rules about code ignore words in them. Not
// a parser: it knows comments, literals with interpolations and brackets, but no regular-expression literals.

/// Blanks everything that is not code. Line and column numbers do not change.
struct SwiftCode {
  private let source: [UInt8]
  private var code: [UInt8]
  private var position = 0

  /// The code of a source text.
  static func code(of text: String) -> String {
    var scanner = SwiftCode(text)
    scanner.scanCode(until: nil)
    return String(decoding: scanner.code, as: UTF8.self)
  }

  /// The imported modules with their line numbers.
  static func imports(in code: String) -> [(line: Int, module: String)] {
    let pattern =
      #/^\s*(?:@\w+\s+)*(?:\w+\s+)?import\s+(?:(?:struct|class|enum|func|protocol|var)\s+)?(\w+)/#
    return RepositoryFile.lines(of: code).enumerated().compactMap { number, line in
      // A cheap check first, because most lines have no import.
      guard line.utf8.contains(UInt8(ascii: "i")), line.contains("import") else { return nil }
      return line.firstMatch(of: pattern).map { (number + 1, String($0.1)) }
    }
  }

  private init(_ text: String) {
    source = Array(text.utf8)
    code = source
  }

  /// Reads code up to the bracket that closes an interpolation, or to the end.
  private mutating func scanCode(until end: UInt8?) {
    var depth = 0
    while position < source.count {
      guard Self.beginnings.contains(source[position]) else {
        position += 1
        continue
      }
      if at("//") {
        while position < source.count, source[position] != Self.newline { blank() }
      } else if at("/*") {
        scanBlockComment()
      } else if at("`") {
        scanQuotedName()
      } else if let hashes = literalHashes() {
        scanLiteral(hashes: hashes)
      } else {
        let byte = source[position]
        if byte == UInt8(ascii: "(") { depth += 1 }
        if byte == UInt8(ascii: ")") {
          if depth == 0, byte == end { return }
          depth -= 1
        }
        position += 1
      }
    }
  }

  /// Block comments nest.
  private mutating func scanBlockComment() {
    var depth = 0
    repeat {
      if at("/*") {
        depth += 1
        blank(2)
      } else if at("*/") {
        depth -= 1
        blank(2)
      } else {
        blank()
      }
    } while depth > 0 && position < source.count
  }

  /// A name in backticks: a sentence is text, a keyword is code.
  private mutating func scanQuotedName() {
    position += 1
    let name = source[position...].prefix { $0 != UInt8(ascii: "`") && $0 != Self.newline }
    if name.contains(UInt8(ascii: " ")), source[name.endIndex...].first == UInt8(ascii: "`") {
      blank(name.count)
    }
    position = name.endIndex
    if at("`") { position += 1 }
  }

  /// The number of `#` of a literal that begins here; nil when none begins.
  private func literalHashes() -> Int? {
    var quote = position
    while quote < source.count, source[quote] == UInt8(ascii: "#") { quote += 1 }
    return quote < source.count && source[quote] == UInt8(ascii: "\"") ? quote - position : nil
  }

  private mutating func scanLiteral(hashes: Int) {
    let mark = String(repeating: "#", count: hashes)
    blank(hashes)
    let quotes = at("\"\"\"") ? "\"\"\"" : "\""
    blank(quotes.utf8.count)
    while position < source.count {
      if at(quotes + mark) {
        blank(quotes.utf8.count + hashes)
        return
      }
      if at("\\\(mark)(") {
        blank(hashes + 2)
        scanCode(until: UInt8(ascii: ")"))
        blank()
      } else if at("\\\(mark)") {
        blank(hashes + 2)
      } else {
        blank()
      }
    }
  }

  private func at(_ text: String) -> Bool { source[position...].starts(with: text.utf8) }

  private mutating func blank(_ count: Int = 1) {
    for _ in 0..<count where position < source.count {
      if source[position] != Self.newline { code[position] = UInt8(ascii: " ") }
      position += 1
    }
  }

  /// Characters that may begin something other than plain code.
  private static let beginnings = Set("/#\"()`".utf8)
  private static let newline = UInt8(ascii: "\n")
}
