// Translates the words of a statement, for `SQLTranslation`. Pure.

/// Walks through the words of a statement.
struct SQLTranslator {
  let tokens: [SQLToken]
  private var parts: [SQLTranslation.Part] = []
  private var subqueries = 0

  init(tokens: [SQLToken]) { self.tokens = tokens }

  mutating func translate() -> [SQLTranslation.Part] { parts(of: tokens.indices) }

  mutating func parts(of range: Range<Int>) -> [SQLTranslation.Part] {
    parts = []
    translate(range)
    return parts
  }

  private mutating func translate(_ range: Range<Int>) {
    var index = range.lowerBound
    while index < range.upperBound { index = translateOne(at: index, range.upperBound) }
  }

  /// - Returns: the index of the next token.
  private mutating func translateOne(at index: Int, _ end: Int) -> Int {
    let token = tokens[index]
    switch token.kind {
    case .parameter(let number):
      parts.append(.value(number))
      return index + 1
    case .word:
      return translateWord(at: index, end)
    case .symbol where token.text == "+" && !endsOperand(before: index):
      // SQLite's hint not to use an index for this term (https://www.sqlite.org/optoverview.html#uplus).
      return index + 1
    case .symbol where token.text == "(" && followsFrom(index):
      let close = closing(index)
      add("(")
      translate(index + 1..<close)
      add(")")
      // Servers before 16 need a name for each subquery.
      if !isNamed(after: close) { addName() }
      return close + 1
    default:
      add(token.text)
      return index + 1
    }
  }

  private mutating func translateWord(at index: Int, _ end: Int) -> Int {
    let token = tokens[index]
    if token.isWord("IS") { return translateIs(at: index) }
    if token.isWord("INDEXED"), let by = next(after: index), tokens[by].isWord("BY") {
      return next(after: next(after: by) ?? by) ?? end
    }
    if token.isWord("X"), index + 1 < end, tokens[index + 1].kind == .string {
      add("'\\x\(tokens[index + 1].text.dropFirst().dropLast())'::bytea")
      return index + 2
    }
    if token.isWord("INSTR") {
      add("strpos")
      return index + 1
    }
    guard index + 1 < end, tokens[index + 1].isSymbol("("), token.text.hasPrefix("json_") else {
      add(token.text)
      return index + 1
    }
    let close = closing(index + 1)
    translateJSON(token.text, arguments(index + 2..<close))
    return close + 1
  }

  /// SQLite compares any two values with IS.
  private mutating func translateIs(at index: Int) -> Int {
    guard var operand = next(after: index) else {
      add(tokens[index].text)
      return index + 1
    }
    let isNegated = tokens[operand].isWord("NOT")
    if isNegated { operand = next(after: operand) ?? operand }
    if case .parameter(let number) = tokens[operand].kind {
      parts.append(.isValue(number, isNegated: isNegated))
      return operand + 1
    }
    let isNull = tokens[operand].isWord("NULL")
    add(
      isNull ? (isNegated ? "IS NOT " : "IS ") : (isNegated ? "IS DISTINCT FROM " : "IS NOT DISTINCT FROM "))
    return operand
  }

  /// The JSON functions that the store uses. Paths have one step, `$.name`; arrays contain row ids.
  private mutating func translateJSON(_ function: String, _ arguments: [Range<Int>]) {
    func add(_ pieces: Piece...) {
      for piece in pieces {
        switch piece {
        case .text(let text): self.add(text)
        case .argument(let index): if index < arguments.count { translate(arguments[index]) }
        }
      }
    }
    switch function {
    case "json_each":
      add("(SELECT value::bigint AS value FROM jsonb_array_elements_text((", 0, ")::jsonb))")
      addName()
    case "json_extract":
      add("((", 0, ")::jsonb ->> substr(", 1, ", 3))")
    case "json_set":
      add("jsonb_set((", 0, ")::jsonb, ARRAY[substr(", 1, ", 3)], to_jsonb((", 2, ")::text))::text")
    default:
      add(.text(function + "("))
      for index in arguments.indices {
        if index > 0 { add(",") }
        add(.argument(index))
      }
      add(")")
    }
  }

  /// A text or the number of an argument.
  private enum Piece: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case text(String)
    case argument(Int)

    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral index: Int) { self = .argument(index) }
  }

  private mutating func add(_ text: String) {
    if case .text(let before) = parts.last {
      parts[parts.count - 1] = .text(before + text)
    } else {
      parts.append(.text(text))
    }
  }

  private mutating func addName() {
    subqueries += 1
    add(" AS subquery_\(subqueries)")
  }
}

extension SQLTranslator {
  /// The next token that is not space.
  func next(after index: Int) -> Int? {
    tokens.dropFirst(index + 1).firstIndex { $0.kind != .space }
  }

  private func previous(before index: Int) -> SQLToken? {
    tokens[..<index].last { $0.kind != .space }
  }

  func closing(_ open: Int) -> Int {
    var depth = 0
    for index in tokens[open...].indices {
      if tokens[index].isSymbol("(") { depth += 1 }
      if tokens[index].isSymbol(")") { depth -= 1 }
      if depth == 0 { return index }
    }
    return tokens.endIndex
  }

  func arguments(_ range: Range<Int>) -> [Range<Int>] {
    var arguments: [Range<Int>] = []
    var (start, depth) = (range.lowerBound, 0)
    for index in range {
      if tokens[index].isSymbol("(") { depth += 1 }
      if tokens[index].isSymbol(")") { depth -= 1 }
      guard depth == 0, tokens[index].isSymbol(",") else { continue }
      arguments.append(start..<index)
      start = index + 1
    }
    return arguments + [start..<range.upperBound]
  }

  /// Whether an operator can follow: then a plus adds.
  private func endsOperand(before index: Int) -> Bool {
    guard let token = previous(before: index) else { return false }
    switch token.kind {
    case .number, .parameter, .string: return true
    case .symbol: return token.text == ")"
    case .word: return !Self.keywords.contains(token.text.uppercased())
    case .space: return false
    }
  }

  private func followsFrom(_ index: Int) -> Bool {
    guard let token = previous(before: index) else { return false }
    return token.isWord("FROM") || token.isWord("JOIN")
  }

  private func isNamed(after close: Int) -> Bool {
    guard let index = next(after: close), tokens[index].kind == .word else { return false }
    return !Self.keywords.contains(tokens[index].text.uppercased())
  }

  /// Keywords before an operand, and those that may follow a subquery. AS is not among them.
  private static let keywords: Set<String> = [
    "AND", "OR", "NOT", "WHERE", "ON", "SELECT", "WHEN", "THEN", "ELSE", "CASE", "BETWEEN", "LIKE", "IN",
    "BY",
    "LIMIT", "SET", "RETURNING", "GROUP", "ORDER", "HAVING", "UNION", "JOIN", "LEFT", "INNER", "CROSS",
  ]
}

// MARK: - Joining

// Which changes of the store can become one statement. Pure.

extension SQLTranslator {
  /// The columns by which statements of the store name one row.
  private static let keyColumns: Set<String> = ["row_id", "id"]

  /// The tables that it reads, but for the one that an UPDATE changes.
  var tables: [String] {
    tokens.indices.compactMap { index in
      guard tokens[index].isWord("FROM") || tokens[index].isWord("JOIN"), let name = next(after: index) else {
        return nil
      }
      return tokens[name].text
    }
  }

  /// An INSERT with a row of values. Nil for one whose row may exist (ON CONFLICT … DO UPDATE), unless the
  /// values name that row, and the change is the same for each row.
  mutating func joinedInsertion() -> SQLTranslation.Joining? {
    guard let values = tokens.firstIndex(where: { $0.isWord("VALUES") }), let open = next(after: values),
      tokens[open].isSymbol("(")
    else { return nil }
    let close = closing(open)
    guard close < tokens.endIndex else { return nil }
    let tail = close + 1..<tokens.endIndex
    guard !tokens[tail].contains(where: { $0.isWord("RETURNING") }) else { return nil }
    let given = givenColumns(before: values, arguments(open + 1..<close))
    var change: (conflict: [Int], settings: Set<String>) = ([], [])
    if let update = tokens[tail].firstIndex(where: { $0.isWord("UPDATE") }) {
      guard let found = conflict(in: tail, given, update) else { return nil }
      change = found
    }
    return SQLTranslation.Joining(
      head: parts(of: tokens.startIndex..<values), tail: parts(of: tail), row: parts(of: open + 1..<close),
      keys: given.filter { Self.keyColumns.contains($0.key) }, settings: change.settings,
      conflict: change.conflict)
  }

  /// The columns of an INSERT whose values are parameters, with the numbers of these.
  private func givenColumns(before values: Int, _ row: [Range<Int>]) -> [String: Int] {
    guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }), open < values else { return [:] }
    var columns: [String: Int] = [:]
    for (name, value) in zip(arguments(open + 1..<closing(open)), row) {
      let words = tokens[value].filter { $0.kind != .space }
      guard let column = word(name), words.count == 1, case .parameter(let index) = words[0].kind
      else { continue }
      columns[column] = index
    }
    return columns
  }

  /// What `ON CONFLICT (…) DO UPDATE SET …` says: the values that name the row, and the columns that change.
  /// Nil if other values name it, or if the change has values: those of `excluded` are those of each row.
  private func conflict(
    in tail: Range<Int>, _ given: [String: Int], _ update: Int
  ) -> (conflict: [Int], settings: Set<String>)? {
    guard let target = tokens[tail].firstIndex(where: { $0.isWord("CONFLICT") }),
      let open = next(after: target), tokens[open].isSymbol("("), let set = next(after: update),
      tokens[set].isWord("SET")
    else { return nil }
    let columns = arguments(open + 1..<closing(open)).map { word($0) ?? "" }
    let conflict = columns.compactMap { given[$0] }
    let settings = Set(arguments(set + 1..<tail.upperBound).compactMap(word))
    let hasValues = tokens[tail].contains { if case .parameter = $0.kind { true } else { false } }
    guard conflict.count == columns.count, settings.isDisjoint(with: columns), !hasValues else { return nil }
    return (conflict, settings)
  }

  private func word(_ range: Range<Int>) -> String? { tokens[range].first { $0.kind == .word }?.text }

  /// An UPDATE of the row with one key: `UPDATE … SET … WHERE row_id = ?1`, perhaps with more conditions.
  mutating func joinedUpdate() -> SQLTranslation.Joining? {
    guard let set = tokens.firstIndex(where: { $0.isWord("SET") }),
      let wherePlace = tokens.firstIndex(where: { $0.isWord("WHERE") }), set < wherePlace,
      let column = next(after: wherePlace), Self.keyColumns.contains(tokens[column].text),
      let equals = next(after: column), tokens[equals].isSymbol("="),
      let value = next(after: equals), case .parameter(let index) = tokens[value].kind,
      !tokens[value...].contains(where: { $0.isWord("RETURNING") }), !hasAlternative(after: value)
    else { return nil }
    let settings = arguments(set + 1..<wherePlace).compactMap(word)
    return SQLTranslation.Joining(
      head: parts(of: tokens.startIndex..<wherePlace), tail: parts(of: wherePlace..<tokens.endIndex),
      row: nil,
      keys: [tokens[column].text: index], settings: Set(settings))
  }

  /// Whether the condition has an OR outside parentheses: then the row may have another key.
  private func hasAlternative(after start: Int) -> Bool {
    var depth = 0
    for token in tokens[start...] {
      if token.isSymbol("(") { depth += 1 }
      if token.isSymbol(")") { depth -= 1 }
      if depth == 0, token.isWord("OR") { return true }
    }
    return false
  }
}
