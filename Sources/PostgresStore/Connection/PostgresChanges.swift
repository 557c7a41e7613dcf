// The changes of the open transaction that were not sent yet. One thread at a time.

internal import PostgreSQL
internal import Store

/// A queue of changes. Rows that are inserted into one table become one statement: the server then reads and
/// plans it once.
struct PostgresChanges {
  private enum Change {
    case statement(PostgresCommand)
    case rows(SQLTranslation, [[StoreValue]])
  }

  /// A statement has at most 65,535 values.
  private static let valuesMax = 60_000
  /// The tables whose rows refer to rows of a table: they must be inserted after those.
  private static let referring = [
    "purchases": ["events", "attempts", "look_ups", "captures"], "jobs": ["job_receipts", "job_counts"],
    "dictionaries": ["events", "purchases", "contexts"],
  ]

  private var changes: [Change] = []
  /// The INSERTs that can get more rows: where they are in `changes`, by their text.
  private var open: [String: (table: String, index: Int)] = [:]
  /// How many changes there are.
  private(set) var count = 0
  /// The size of their texts and bytes.
  private(set) var bytes = 0

  var isEmpty: Bool { changes.isEmpty }

  /// Adds a statement.
  /// - Parameter table: the table that it changes; nil if that is not known.
  mutating func add(_ command: PostgresCommand, to table: String?) {
    count += 1
    close(table)
    changes.append(.statement(command))
  }

  /// Adds a statement of the store with its values.
  mutating func add(_ sql: String, _ translation: SQLTranslation, _ values: [StoreValue]) {
    guard translation.insertion != nil, let table = translation.changedTable else {
      return add(translation.command(values), to: translation.changedTable)
    }
    count += 1
    bytes += values.reduce(0) { sum, value in
      switch value {
      case .text(let text): sum + text.utf8.count
      case .blob(let bytes): sum + bytes.count
      case .null, .integer: sum
      }
    }
    if let (_, index) = open[sql], case .rows(_, var rows) = changes[index],
      (rows.count + 1) * values.count <= Self.valuesMax
    {
      // The array must have one owner, or each row would copy all rows before it.
      changes[index] = .rows(translation, [])
      rows.append(values)
      changes[index] = .rows(translation, rows)
      return
    }
    open[sql] = (table, changes.count)
    changes.append(.rows(translation, [values]))
  }

  /// A row that is inserted later must come after a change of the same table, and after the rows to which it
  /// refers.
  private mutating func close(_ table: String?) {
    guard let table else {
      open.removeAll()
      return
    }
    let closed = [table] + (Self.referring[table] ?? [])
    open = open.filter { !closed.contains($0.value.table) }
  }

  /// Removes all changes.
  /// - Returns: the statements to send.
  mutating func removeAll() -> [PostgresCommand] {
    defer {
      changes = []
      open = [:]
      (count, bytes) = (0, 0)
    }
    return changes.map { change in
      switch change {
      case .statement(let command): command
      case .rows(let translation, let rows): translation.command(rows: rows)
      }
    }
  }
}
