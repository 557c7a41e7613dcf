// What a batch locks and reads before its first command, for an engine whose reads cost a network round trip.
// Values, and the engine's part as a protocol.

public import Domain

/// What a batch needs from the database before its commands run.
public struct BatchPlan: Sendable {
  /// The apps whose rows the batch may change; nil for all apps.
  public var apps: Set<AppSlug>?
  /// Purchases whose apps belong to these, too.
  public var purchases: Set<PurchaseRowID> = []
  /// What the commands have declared.
  public var declared: Set<ReadKey> = []
  /// How many rows of each table it is likely to add.
  public var additions: [NumberedTable: Int] = [:]

  /// - Parameter commands: what each command has declared.
  init(_ commands: [(reads: [ReadKey], scope: CommandScope)]) {
    declared = Set(commands.lazy.flatMap(\.reads))
    let scope = commands.reduce(CommandScope.none) { $0.union($1.scope) }
    if case .apps(let apps) = scope { self.apps = apps }
    for key in declared {
      switch key {
      case .purchase(let row): purchases.insert(row)
      case .object: additions[.purchases, default: 0] += 1
      case .blob: additions[.contexts, default: 0] += 1
      default: break
      }
    }
  }

  /// Whether the batch may change rows of an app.
  public var locksApps: Bool { apps?.isEmpty != true || !purchases.isEmpty }

  /// Whether the apps of all rows are known before anything is read.
  var namesItsApps: Bool { apps != nil && purchases.isEmpty }
}

/// Rows of one table: all, or those that are found by one of its columns.
public struct BulkRead: Sendable, Equatable {
  public var table: String
  /// The columns of the result, separated by commas.
  public var columns: String
  /// The column that equals one of the values, which are all integers or all texts; nil for all rows.
  public var condition: (column: String, values: [StoreValue])?

  init(_ columns: String, of table: String, where column: String, in values: [StoreValue]) {
    self.columns = columns
    self.table = table
    condition = (column, values)
  }

  init(_ columns: String, ofAll table: String) {
    self.columns = columns
    self.table = table
  }

  /// Whether no row can be found.
  var isEmpty: Bool { condition?.values.isEmpty ?? false }

  public static func == (left: Self, right: Self) -> Bool {
    left.table == right.table && left.columns == right.columns
      && left.condition?.column == right.condition?.column
      && left.condition?.values == right.condition?.values
  }
}

/// Reads ahead for the writer. Nobody else changes the rows of the batch's apps until the transaction ends,
/// so what was read once stays valid. The writer's thread.
public protocol ReadAhead: AnyObject {
  /// Called at the start of each transaction: acquires the locks, and reads. One round trip.
  /// - Returns: the rows of each read.
  func begin(
    _ plan: BatchPlan, _ keys: Set<RowKey>, _ reads: [BulkRead]
  ) throws(StoreFault) -> [any EngineStatement]
  /// The server's time, read after the locks were acquired; nil if this program's time is used.
  var now: Timestamp? { get }
  /// Reads more in the same transaction. One round trip.
  func read(_ reads: [BulkRead]) throws(StoreFault) -> [any EngineStatement]
  /// A row number that no other program uses, for a new row of this table.
  func makeRow(_ table: NumberedTable) throws(StoreFault) -> Int64
}

/// A table whose row numbers are known before the row is stored.
public enum NumberedTable: String, Sendable, CaseIterable {
  case purchases, contexts
}

extension ReadAhead {
  /// Calls `body` with each row of each read that has values to look for; `body` gets the read's index.
  func read(
    _ reads: [BulkRead], _ body: (Int, StoreRow) throws(StoreFault) -> Void
  ) throws(StoreFault) {
    let indices = reads.indices.filter { !reads[$0].isEmpty }
    guard !indices.isEmpty else { return }
    try forEachRow(try read(indices.map { reads[$0] }), indices, body)
  }
}

/// Calls `body` with each row of each result and the number that belongs to the result.
func forEachRow(
  _ results: [any EngineStatement], _ indices: [Int], _ body: (Int, StoreRow) throws(StoreFault) -> Void
) throws(StoreFault) {
  for (index, result) in zip(indices, results) {
    while try result.step() { try body(index, StoreRow(result)) }
    result.reset()
  }
}
