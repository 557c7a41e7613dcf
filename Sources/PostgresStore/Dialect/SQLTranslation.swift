// The store's statements in PostgreSQL's dialect. The store writes what both engines understand, except for
// what is translated here: parameters, IS, SQLite's hints to its planner, literals of bytes, and JSON. Pure.

internal import PostgreSQL
internal import Store

/// A statement of the store. Its text depends on which values are NULL: PostgreSQL uses an index for `= $1`
/// and for `IS NULL`, not for a comparison that handles both; and it cannot know the type of a NULL.
struct SQLTranslation {
  enum Part: Equatable {
    case text(String)
    case value(Int)
    /// `IS ?` or, negated, `IS NOT ?`.
    case isValue(Int, isNegated: Bool)
  }

  let parts: [Part]
  /// An INSERT of one row, in parts; nil for any other statement, and for one whose row may exist: then two
  /// rows of one statement must not be the same.
  let insertion: Insertion?
  /// The table that it changes; nil for a query, and for a change that begins otherwise.
  let changedTable: String?
  /// The number of values that it needs.
  let valueCount: Int
  /// Whether it has rows: a query, or a change with RETURNING.
  let returnsRows: Bool

  init(_ sql: String) {
    var translator = SQLTranslator(tokens: SQLToken.split(sql))
    parts = translator.translate()
    valueCount = translator.tokens.reduce(0) { count, token in
      if case .parameter(let index) = token.kind { max(count, index + 1) } else { count }
    }
    let words = translator.tokens.filter { $0.kind != .space }
    let first = words.first
    let isInsertion = first?.isWord("INSERT") ?? false
    insertion = isInsertion ? translator.insertion() : nil
    changedTable =
      isInsertion || first?.isWord("DELETE") ?? false
      ? words.dropFirst(2).first?.text
      : first?.isWord("UPDATE") ?? false ? words.dropFirst().first?.text : nil
    // INSERT, UPDATE and DELETE begin with their names in the store; so WITH begins a query.
    returnsRows =
      first.map { $0.isWord("SELECT") || $0.isWord("WITH") } ?? false
      || translator.tokens.contains { $0.isWord("RETURNING") }
  }

  /// An INSERT before the row, the row, and after it.
  struct Insertion {
    var head: [Part]
    var row: [Part]
    var tail: [Part]
  }

  /// The text and the values that are sent. The number of values must be `valueCount`.
  func command(_ values: [StoreValue]) -> PostgresCommand {
    var writer = Writer()
    writer.add(parts, values)
    return PostgresCommand(writer.sql, writer.values)
  }

  /// One statement that inserts several rows, for a translation with an `insertion`.
  func command(rows: [[StoreValue]]) -> PostgresCommand {
    guard let insertion, rows.count > 1 else { return command(rows.first ?? []) }
    var writer = Writer()
    writer.add(insertion.head, rows[0])
    for (index, values) in rows.enumerated() {
      if index > 0 { writer.sql += ", " }
      writer.add(insertion.row, values)
    }
    writer.add(insertion.tail, rows[0])
    return PostgresCommand(writer.sql, writer.values)
  }

  /// Writes the text, and collects the values.
  private struct Writer {
    var sql = ""
    var values: [PostgresValue] = []

    mutating func add(_ parts: [Part], _ given: [StoreValue]) {
      var numbers: [Int: Int] = [:]
      func place(of index: Int) -> String {
        if let number = numbers[index] { return "$\(number)" }
        values.append(PostgresValue(given[index]))
        numbers[index] = values.count
        return "$\(values.count)"
      }
      for part in parts {
        switch part {
        case .text(let text): sql += text
        case .value(let index): sql += given[index] == .null ? "NULL" : place(of: index)
        case .isValue(let index, let isNegated) where given[index] == .null:
          sql += isNegated ? "IS NOT NULL" : "IS NULL"
        case .isValue(let index, let isNegated):
          sql += (isNegated ? "IS DISTINCT FROM " : "= ") + place(of: index)
        }
      }
    }
  }
}

extension PostgresValue {
  init(_ value: StoreValue) {
    self =
      switch value {
      case .null: .null
      case .integer(let number): .integer(number)
      // PostgreSQL's texts cannot contain U+0000
      // (https://www.postgresql.org/docs/15/datatype-character.html), which no valid id or context has.
      // Without this, an event that has one would be refused for ever.
      case .text(let text): .text(StoredText.withoutZero(text))
      case .blob(let bytes): .bytes(bytes)
      }
  }
}
