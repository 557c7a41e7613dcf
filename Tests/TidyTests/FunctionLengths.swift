// Measures functions by counting brackets, which is enough for formatted code.

/// A function with a body.
struct FunctionLength: Equatable {
  let name: String
  /// Counted from 1: the line of `func`, `init` or `deinit`.
  let line: Int
  /// From there to the closing brace.
  let lines: Int
}

extension FunctionLength {
  /// Every function of a file, including nested ones. Requirements of protocols have no body and do not
  /// count. Accessors and closures are not counted separately.
  /// - Parameter code: from `SwiftCode`.
  static func all(in code: String) -> [FunctionLength] {
    let bytes = Array(code.utf8)
    var found: [FunctionLength] = []
    var line = 1
    var position = 0
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      if let word = word(at: position, in: bytes) {
        if ["func", "init", "deinit"].contains(word.text), !isMember(at: position, in: bytes),
          let body = body(after: word.end, in: bytes)
        {
          let lines = bytes[position...body.upperBound].count { $0 == UInt8(ascii: "\n") } + 1
          found.append(FunctionLength(name: name(word, in: bytes), line: line, lines: lines))
        }
        position = word.end
      } else {
        position += 1
      }
    }
    return found
  }

  /// The braces around the body of the declaration whose keyword ends at `start`; nil without a body.
  private static func body(after start: Int, in bytes: [UInt8]) -> ClosedRange<Int>? {
    var position = start
    var depth = 0
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: "{") where depth == 0:
        return closingBrace(from: position, in: bytes).map { position...$0 }
      case UInt8(ascii: "}") where depth == 0, UInt8(ascii: "@") where depth == 0: return nil
      default:
        if depth == 0, let word = word(at: position, in: bytes) {
          if declarations.contains(word.text) { return nil }
          position = word.end - 1
        }
      }
      position += 1
    }
    return nil
  }

  private static func closingBrace(from start: Int, in bytes: [UInt8]) -> Int? {
    var depth = 0
    for position in start..<bytes.count {
      if bytes[position] == UInt8(ascii: "{") { depth += 1 }
      if bytes[position] == UInt8(ascii: "}") {
        depth -= 1
        if depth == 0 { return position }
      }
    }
    return nil
  }

  /// Keywords that begin the next declaration, after one without a body.
  private static let declarations: Set<String> = [
    "func", "init", "deinit", "var", "let", "case", "static", "mutating", "public", "private", "internal",
    "fileprivate", "struct", "class", "enum", "protocol", "extension", "subscript", "typealias",
    "associatedtype",
  ]

  private static func name(_ word: (text: String, end: Int), in bytes: [UInt8]) -> String {
    guard word.text == "func" else { return word.text }
    return String(decoding: bytes[word.end...].prefix { $0 != UInt8(ascii: "(") }, as: UTF8.self)
      .filter { $0 != " " }
  }

  /// `.init(…)` is a call.
  private static func isMember(at position: Int, in bytes: [UInt8]) -> Bool {
    position > 0 && bytes[position - 1] == UInt8(ascii: ".")
  }

  /// The word that begins at `position`; nil if no word begins there.
  private static func word(at position: Int, in bytes: [UInt8]) -> (text: String, end: Int)? {
    guard isLetter(bytes[position]), position == 0 || !isLetter(bytes[position - 1]) else { return nil }
    var end = position
    while end < bytes.count, isLetter(bytes[end]) { end += 1 }
    return (String(decoding: bytes[position..<end], as: UTF8.self), end)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte >= 0x80
  }
}
