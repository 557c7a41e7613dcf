// Locks the apps of a batch and reads what it has declared. One thread at a time.

internal import Domain
internal import PostgreSQL
internal import Store

/// The part of a writer's connection that is the same for each batch.
final class PostgresReadAhead: ReadAhead {
  /// The increment of the sequences of row numbers in the schema.
  static let blockSize: Int64 = 64

  private unowned let connection: PostgresStoreConnection
  let keys: PostgresKeys
  /// Row numbers that no other program has. They are not given back: gaps do no harm.
  private var numbers: [NumberedTable: [ClosedRange<Int64>]] = [:]
  /// The statements that acquired the locks of the open transaction.
  private(set) var locks: [PostgresCommand] = []
  var hasLocked: Bool { !locks.isEmpty }
  /// Apps whose row to lock is committed, and those that the open transaction may have inserted.
  private var lockable: Set<AppSlug> = []
  private var inserted: Set<AppSlug> = []

  init(_ connection: PostgresStoreConnection) {
    self.connection = connection
    keys = PostgresKeys(connection)
  }

  func begin(
    _ plan: BatchPlan, _ wanted: Set<RowKey>, _ reads: [BulkRead]
  ) throws(StoreFault) -> [any EngineStatement] {
    locks = locks(plan)
    let blocks = NumberedTable.allCases.map { ($0, lackingBlocks($0, commands: plan.commands)) }
    let numbering = blocks.filter { $0.1 > 0 }.map { Self.acquire($0.0, blocks: $0.1) }
    let keyed = wanted.isEmpty ? [] : [PostgresKeys.read(wanted)]
    let commands = locks + numbering + keyed + reads.map(Self.command)
    guard !commands.isEmpty else { return [] }
    let results = try connection.send(commands)
    try checkLocks(plan, results.prefix(locks.count).last)
    var rest = results[locks.count...]
    for (table, count) in blocks where count > 0 {
      if let result = rest.popFirst() { add(result, to: table) }
    }
    if !keyed.isEmpty, let result = rest.popFirst() { keys.note(wanted, result) }
    return rest.map(PostgresRows.init)
  }

  /// Called when a transaction begins and ends.
  func forgetKnown() {
    keys.forgetKnown()
    locks = []
    inserted = []
  }

  /// Called after a commit.
  func didCommit() { lockable.formUnion(inserted) }

  /// Called when the connection was lost: numbers may have been acquired that the server has not kept.
  func didLoseConnection() { numbers = [:] }

  /// A missing row locks nothing. It is missing if an earlier transaction that inserted it was lost.
  private func checkLocks(_ plan: BatchPlan, _ result: PostgresResult?) throws(StoreFault) {
    guard let apps = plan.apps, let result else { return }
    inserted = apps
    guard result.count < apps.count else { return }
    lockable = []
    locks = locks(plan)
    _ = try connection.send(locks)
  }

  func read(_ reads: [BulkRead]) throws(StoreFault) -> [any EngineStatement] {
    try connection.send(reads.map(Self.command)).map(PostgresRows.init)
  }

  func makeRow(_ table: NumberedTable) throws(StoreFault) -> Int64 {
    if numbers[table, default: []].isEmpty {
      add(try connection.run(Self.acquire(table, blocks: 1)), to: table)
    }
    guard let range = numbers[table]?.popLast() else {
      throw StoreFault(.misuse, operation: "nextval", reason: "the server gave no row number")
    }
    if range.count > 1 { numbers[table]?.append(range.lowerBound + 1...range.upperBound) }
    return range.lowerBound
  }

  /// Locks the apps in one order, so that two programs do not wait for each other. A lock on a missing row locks
  /// nothing, so the rows of new apps are inserted first.
  private func locks(_ plan: BatchPlan) -> [PostgresCommand] {
    guard let apps = plan.apps else {
      return [PostgresCommand("SELECT app FROM app_locks ORDER BY app FOR UPDATE", operation: "lock apps")]
    }
    guard !apps.isEmpty || !plan.purchases.isEmpty else { return [] }
    let names = PostgresValue.texts(apps.map(\.text).sorted())
    let rows = PostgresValue.integers(plan.purchases.map(\.number))
    let inserting =
      apps.isSubset(of: lockable)
      ? []
      : [
        PostgresCommand(
          "INSERT INTO app_locks (app) SELECT unnest($1) ON CONFLICT DO NOTHING", [names],
          operation: "lock apps")
      ]
    return inserting + [
      PostgresCommand(
        """
        SELECT app FROM app_locks
        WHERE app = ANY($1) OR app IN (SELECT app FROM purchases WHERE row_id = ANY($2))
        ORDER BY app FOR UPDATE
        """, [names, rows], operation: "lock apps")
    ]
  }

  private static func command(_ read: BulkRead) -> PostgresCommand {
    var numbers: [Int64] = []
    var texts: [String] = []
    for value in read.values {
      if case .integer(let number) = value { numbers.append(number) }
      if case .text(let text) = value { texts.append(text) }
    }
    return PostgresCommand(
      "SELECT \(read.columns) FROM \(read.table) WHERE \(read.column) = ANY($1)",
      [texts.isEmpty ? .integers(numbers) : .texts(texts)])
  }

  /// How many blocks of row numbers the batch lacks.
  private func lackingBlocks(_ table: NumberedTable, commands: Int) -> Int64 {
    let present = numbers[table]?.reduce(0) { $0 + $1.count } ?? 0
    let missing = Int64(commands) - Int64(present)
    return missing > 0 ? (missing + Self.blockSize - 1) / Self.blockSize : 0
  }

  private static func acquire(_ table: NumberedTable, blocks: Int64) -> PostgresCommand {
    let sequence = table == .purchases ? "purchase_rows" : "context_rows"
    return PostgresCommand("SELECT nextval('\(sequence)') FROM generate_series(1, $1)", [.integer(blocks)])
  }

  /// Adds blocks, so that the smallest numbers are used first.
  private func add(_ result: PostgresResult, to table: NumberedTable) {
    let starts = (0..<result.count).map { result.integer($0, 0) }
    let blocks = starts.sorted(by: >).map { $0...$0 + Self.blockSize - 1 }
    numbers[table] = blocks + numbers[table, default: []]
  }
}
