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
