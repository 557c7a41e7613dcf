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
  /// How many commands there are: most add one purchase or one context at most.
  public var commands: Int

  /// - Parameter reads: what each command has declared. One that declares nothing may change any app.
  init(_ reads: [[ReadKey]]) {
    commands = reads.count
    declared = Set(reads.joined())
    apps = reads.contains(where: \.isEmpty) ? nil : Set(declared.compactMap(\.app))
    for case .purchase(let row) in declared { purchases.insert(row) }
  }
}

/// Rows of one table, found by one of its columns.
public struct BulkRead: Sendable, Equatable {
  public var table: String
  /// The columns of the result, separated by commas.
  public var columns: String
  /// The column that equals one of the values: all integers or all texts.
  public var column: String
  public var values: [StoreValue]

  init(_ columns: String, of table: String, where column: String, in values: [StoreValue]) {
    self.columns = columns
    self.table = table
    self.column = column
    self.values = values
  }
}

/// Reads ahead for the writer. Nobody else changes the rows of the batch's apps until the transaction ends, so
/// what was read once stays valid. The writer's thread.
public protocol ReadAhead: AnyObject {
  /// Called at the start of each transaction: acquires the locks, and reads. One round trip.
  /// - Returns: the rows of each read.
  func begin(
    _ plan: BatchPlan, _ keys: Set<RowKey>, _ reads: [BulkRead]
  ) throws(StoreFault) -> [any EngineStatement]
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
    let indices = reads.indices.filter { !reads[$0].values.isEmpty }
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
