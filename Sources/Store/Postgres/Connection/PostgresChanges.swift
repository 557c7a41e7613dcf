// The changes of the open transaction that were not sent yet. One thread at a time.

internal import Store

/// A queue of changes. Those of one text that concern different rows become one statement: the server then
/// reads and plans it once.
struct PostgresChanges {
  private enum Change {
    case statement(PostgresCommand)
    case group(Group)
  }

  /// Changes of different rows of one table by one text.
  private struct Group {
    var change: RowChange
    var rows: [[StoreValue]] = []
    /// The keys of the rows, by column.
    var keys: [String: Set<StoreValue>] = [:]
    /// The rows that may have existed, by all values of their keys.
    var conflicts: Set<[StoreValue]> = []

    init(_ change: RowChange) { self.change = change }

    mutating func add(_ values: [StoreValue]) {
      rows.append(values)
      for (column, index) in change.joining.keys { keys[column, default: []].insert(values[index]) }
      if let row = change.conflict(values) { conflicts.insert(row) }
    }

    /// Whether a later change may concern one of its rows.
    func mayConcern(_ later: RowChange, _ values: [StoreValue]) -> Bool {
      if let row = later.conflict(values) { return change != later || conflicts.contains(row) }
      // A new row is none of the rows before it.
      guard !later.isInsertion else { return false }
      return !later.joining.keys.allSatisfy { column, index in keys[column]?.contains(values[index]) == false
      }
    }
  }

  /// The tables whose rows refer to rows of a table: they must be inserted after those.
  static let referring = [
    "purchases": ["events", "attempts", "look_ups", "captures", "claims", "announcements"],
    "jobs": ["job_receipts", "job_counts"],
  ]
  /// The columns of unique indexes. An UPDATE that sets one may make room for a later row, or need room that
  /// an earlier change has made.
  static let unique = [
    "purchases": ["row_id", "object_id", "app", "object_type", "processor", "corrects", "copy_for"],
    "contexts": ["row_id", "id"],
    "events": ["row_id", "event_id", "app", "processor"],
  ]

  private var changes: [Change] = []
  /// The groups that can get more rows: where they are in `changes`, by their table.
  private var open: [String: [Int]] = [:]
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

  /// Adds a change of the store.
  mutating func add(_ change: RowChange, _ values: [StoreValue]) {
    count += 1
    bytes += values.reduce(0) { sum, value in
      switch value {
      case .text(let text): sum + text.utf8.count
      case .blob(let bytes): sum + bytes.count
      case .null, .integer: sum
      }
    }
    if let index = place(of: change, values), case .group(var group) = changes[index] {
      // The arrays must have one owner, or each row would copy all rows before it.
      changes[index] = .group(Group(change))
      group.add(values)
      changes[index] = .group(group)
      return
    }
    // A row that is inserted later may refer to one of these rows.
    if change.isInsertion { closeReferring(to: change.table) }
    var group = Group(change)
    group.add(values)
    open[change.table, default: []].append(changes.count)
    changes.append(.group(group))
  }

  /// The group to which the row can be added: the row's change may move before the changes after the group
  /// only if they concern other rows.
  private func place(of change: RowChange, _ values: [StoreValue]) -> Int? {
    for index in (open[change.table] ?? []).reversed() {
      guard case .group(let group) = changes[index] else { continue }
      let isOther = !group.mayConcern(change, values)
      if group.change == change { return isOther ? index : nil }
      guard isOther else { return nil }
    }
    return nil
  }

  /// Changes that come later must stay after a statement that may concern any row of the table.
  private mutating func close(_ table: String?) {
    guard let table else {
      open.removeAll()
      return
    }
    open[table] = nil
    closeReferring(to: table)
  }

  private mutating func closeReferring(to table: String) {
    for table in Self.referring[table] ?? [] { open[table] = nil }
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
      case .group(let group): group.change.command(group.rows)
      }
    }
  }
}

/// A change of the store that can be joined with others.
struct RowChange: Equatable {
  var sql: String
  var translation: SQLTranslation
  var joining: SQLTranslation.Joining
  var table: String
  /// What the change is for, if each must change exactly one row.
  var operation: String?

  /// Nil if such changes cannot be joined.
  init?(_ sql: String, _ translation: SQLTranslation, changesOneFor operation: String? = nil) {
    guard let joining = translation.joining, let table = translation.changedTable,
      joining.settings.isDisjoint(with: PostgresChanges.unique[table] ?? ["row_id", "id"])
    else { return nil }
    (self.sql, self.translation, self.joining, self.table) = (sql, translation, joining, table)
    self.operation = operation
  }

  var isInsertion: Bool { joining.row != nil }

  /// The values that name a row that may exist; nil for a change of which that is known.
  func conflict(_ values: [StoreValue]) -> [StoreValue]? {
    guard !joining.conflict.isEmpty else { return nil }
    return joining.conflict.map { index in
      // As it is stored (`PostgresValue`): different texts may become the same.
      if case .text(let text) = values[index] { .text(StoredText.withoutZero(text)) } else { values[index] }
    }
  }

  /// The text says the rest.
  static func == (one: RowChange, other: RowChange) -> Bool {
    one.sql == other.sql && one.operation == other.operation
  }

  /// - Parameter rows: the values for each row.
  func command(_ rows: [[StoreValue]]) -> PostgresCommand {
    let command = translation.command(rows: rows) ?? translation.command(rows[0])
    return operation.map { command.changing(rows.count, for: $0) } ?? command
  }
}

extension PostgresCommand {
  /// A change that must change this many rows. The server itself compares the number, so that nothing waits
  /// for it: a division by zero ends the transaction.
  func changing(_ rows: Int, for operation: String) -> PostgresCommand {
    PostgresCommand(
      "WITH changed AS (\(sql) RETURNING 1) "
        + "SELECT 1 / CASE count(*) WHEN \(rows) THEN 1 ELSE 0 END FROM changed", values, operation: operation
    )
  }
}
