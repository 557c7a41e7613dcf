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

  /// An INSERT with a row of values. Nil for one whose row may exist: one statement must not change a row
  /// twice.
  mutating func joinedInsertion() -> SQLTranslation.Joining? {
    guard let values = tokens.firstIndex(where: { $0.isWord("VALUES") }), let open = next(after: values),
      tokens[open].isSymbol("(")
    else { return nil }
    let close = closing(open)
    let tail = tokens.dropFirst(close + 1)
    guard close < tokens.endIndex, !tail.contains(where: { $0.isWord("UPDATE") || $0.isWord("RETURNING") })
    else { return nil }
    return SQLTranslation.Joining(
      head: parts(of: tokens.startIndex..<values), tail: parts(of: close + 1..<tokens.endIndex),
      row: parts(of: open + 1..<close), keys: insertedKeys(before: values, arguments(open + 1..<close)))
  }

  /// The key columns of an INSERT whose values are parameters.
  private func insertedKeys(before values: Int, _ row: [Range<Int>]) -> [String: Int] {
    guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }), open < values else { return [:] }
    var keys: [String: Int] = [:]
    for (name, value) in zip(arguments(open + 1..<closing(open)), row) {
      let words = tokens[value].filter { $0.kind != .space }
      guard let column = tokens[name].first(where: { $0.kind == .word })?.text,
        Self.keyColumns.contains(column), words.count == 1, case .parameter(let index) = words[0].kind
      else { continue }
      keys[column] = index
    }
    return keys
  }

  /// An UPDATE of the row with one key: `UPDATE … SET … WHERE row_id = ?1`, perhaps with more conditions.
  mutating func joinedUpdate() -> SQLTranslation.Joining? {
    guard let set = tokens.firstIndex(where: { $0.isWord("SET") }),
      let wherePlace = tokens.firstIndex(where: { $0.isWord("WHERE") }), set < wherePlace,
      let column = next(after: wherePlace), Self.keyColumns.contains(tokens[column].text),
      let equals = next(after: column), tokens[equals].isSymbol("="),
      let value = next(after: equals), case .parameter(let index) = tokens[value].kind,
      !tokens[value...].contains(where: { $0.isWord("RETURNING") }), !hasAlternative(after: value)
    else { return nil }
    let settings = arguments(set + 1..<wherePlace).compactMap { setting in
      tokens[setting].first { $0.kind == .word }?.text
    }
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
