// The store's statements in PostgreSQL's dialect. The store writes what both engines understand, except for
// what is translated here: parameters, IS, SQLite's hints to its planner, literals of bytes, and JSON. Pure.

internal import Platform
internal import Store

/// A statement of the store. Its text depends on which values are NULL: PostgreSQL uses an index for `= $1`
/// and for `IS NULL`, not for a comparison that handles both; and it cannot know the type of a NULL.
struct SQLTranslation: Sendable {
  enum Part: Equatable, Sendable {
    case text(String)
    case value(Int)
    /// `IS ?` or, negated, `IS NOT ?`.
    case isValue(Int, isNegated: Bool)
  }

  let parts: [Part]
  /// How several changes become one statement; nil if they cannot.
  let joining: Joining?
  /// The table that it changes; nil for a query, and for a change that reads other tables.
  let changedTable: String?
  /// The number of values that it needs.
  let valueCount: Int
  /// Whether it has rows: a query, or a change with RETURNING.
  let returnsRows: Bool

  private static let texts = Monitor<[String: SQLTranslation]>([:])
  /// More texts than all parts of the program have.
  private static let textsMax = 2_000

  /// The translation of a text, which is made once: readers of operators prepare their statements for each
  /// use.
  static func known(_ sql: String) -> SQLTranslation {
    if let known = texts.withLock({ $0[sql] }) { return known }
    let made = SQLTranslation(sql)
    texts.withLock { texts in
      if texts.count >= textsMax { texts = [:] }
      texts[sql] = made
    }
    return made
  }

  init(_ sql: String) {
    var translator = SQLTranslator(tokens: SQLToken.split(sql))
    parts = translator.translate()
    valueCount = translator.tokens.reduce(0) { count, token in
      if case .parameter(let index) = token.kind { max(count, index + 1) } else { count }
    }
    let words = translator.tokens.filter { $0.kind != .space }
    let first = words.first
    let isInsertion = first?.isWord("INSERT") ?? false
    let isUpdate = first?.isWord("UPDATE") ?? false
    let table =
      isInsertion || first?.isWord("DELETE") ?? false
      ? words.dropFirst(2).first?.text : isUpdate ? words.dropFirst().first?.text : nil
    changedTable = translator.tables.allSatisfy { $0 == table } ? table : nil
    joining = isInsertion ? translator.joinedInsertion() : isUpdate ? translator.joinedUpdate() : nil
    // INSERT, UPDATE and DELETE begin with their names in the store; so WITH begins a query.
    returnsRows =
      first.map { $0.isWord("SELECT") || $0.isWord("WITH") } ?? false
      || translator.tokens.contains { $0.isWord("RETURNING") }
  }

  /// A change of one row, in parts, between which the rows of a joined statement are named.
  struct Joining: Sendable {
    /// Before the rows.
    var head: [Part]
    /// After the rows.
    var tail: [Part]
    /// The values of an INSERT; nil for an UPDATE.
    var row: [Part]?
    /// The columns that name a row, as far as the statement sets them (INSERT) or looks for one of them
    /// (UPDATE), with the numbers of their values.
    var keys: [String: Int]
    /// The columns that an UPDATE sets, or an INSERT that changes a row that exists.
    var settings: Set<String> = []
    /// The values that name the row of an INSERT that changes a row that exists; empty for any other.
    var conflict: [Int] = []
  }

  /// The text and the values that are sent. The number of values must be `valueCount`.
  func command(_ values: [StoreValue]) -> PostgresCommand {
    var writer = SQLWriter(given: values)
    writer.add(parts)
    return PostgresCommand(writer.sql, writer.values)
  }

  /// One statement for several rows: each value becomes a column of a table that is made from arrays. Its
  /// text does not grow with the number of rows, so the server reads and plans it in the same time.
  /// Nil if it has no `joining`, or one row.
  func command(rows: [[StoreValue]]) -> PostgresCommand? {
    guard let joining, rows.count > 1 else { return nil }
    var writer = SQLWriter(given: rows)
    writer.add(joining.head)
    if let row = joining.row {
      writer.sql += "SELECT "
      writer.add(row)
      writer.sql += " "
    }
    // The columns are known once the rest is written.
    var rest = SQLWriter(continuing: writer)
    rest.add(joining.tail)
    return PostgresCommand("\(writer.sql)FROM \(rest.givenRows) \(rest.sql)", rest.values)
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
