// Splits the text of a statement into words, for `SQLTranslation`. Pure.

/// A part of a statement, with its text as it was written.
struct SQLToken: Equatable {
  enum Kind: Equatable {
    case space
    /// A keyword or a name.
    case word
    /// A string between single quotes.
    case string
    case number
    /// `?2` as 1, `?` as the next number; counted from 0.
    case parameter(Int)
    case symbol
  }

  var kind: Kind
  var text: String

  func isWord(_ word: String) -> Bool { kind == .word && text.uppercased() == word }
  func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }

  static func split(_ sql: String) -> [SQLToken] {
    var tokens: [SQLToken] = []
    var rest = Substring(sql)
    var parameters = 0
    func isPart(_ character: Character) -> Bool {
      character.isLetter || character.isNumber || character == "_"
    }
    func next(_ count: Int) -> String {
      defer { rest = rest.dropFirst(count) }
      return String(rest.prefix(count))
    }
    while let first = rest.first {
      if first.isWhitespace {
        tokens.append(SQLToken(kind: .space, text: next(rest.prefix { $0.isWhitespace }.count)))
      } else if first == "'" {
        tokens.append(SQLToken(kind: .string, text: next(stringLength(rest))))
      } else if first == "?" {
        let text = next(1 + rest.dropFirst().prefix { $0.isNumber }.count)
        // As in SQLite, `?` is one more than the largest number so far.
        let number = Int(text.dropFirst()) ?? parameters + 1
        parameters = max(parameters, number)
        tokens.append(SQLToken(kind: .parameter(number - 1), text: text))
      } else if first.isNumber {
        tokens.append(SQLToken(kind: .number, text: next(rest.prefix(while: isPart).count)))
      } else if isPart(first) {
        tokens.append(SQLToken(kind: .word, text: next(rest.prefix(while: isPart).count)))
      } else {
        tokens.append(SQLToken(kind: .symbol, text: next(1)))
      }
    }
    return tokens
  }

  /// The length of the string at the start. A quote in it is doubled.
  private static func stringLength(_ text: Substring) -> Int {
    var count = 1
    var rest = text.dropFirst()
    while let character = rest.first {
      rest = rest.dropFirst()
      count += 1
      guard character == "'" else { continue }
      guard rest.first == "'" else { break }
      rest = rest.dropFirst()
      count += 1
    }
    return count
  }
}
