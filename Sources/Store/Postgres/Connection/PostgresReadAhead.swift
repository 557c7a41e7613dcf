// Locks the apps of a batch and reads what it has declared. One thread at a time.

internal import Domain
internal import Store

/// The part of a writer's connection that is the same for each batch.
final class PostgresReadAhead: ReadAhead {
  /// How many row numbers are acquired if a batch needs more than expected.
  private static let moreNumbers: Int64 = 64

  private unowned let connection: PostgresStoreConnection
  let keys: PostgresKeys
  /// Row numbers for the open transaction, largest first. What it does not use is lost: numbers of an earlier
  /// transaction would be smaller than those that another program has used since.
  private var numbers: [NumberedTable: [Int64]] = [:]
  /// Whether the open transaction holds locks.
  private(set) var hasLocked = false
  /// Apps whose row to lock is committed.
  private var lockable: Set<AppSlug> = []
  private(set) var now: Timestamp?

  init(_ connection: PostgresStoreConnection) {
    self.connection = connection
    keys = PostgresKeys(connection)
  }

  func begin(
    _ plan: BatchPlan, _ wanted: Set<RowKey>, _ reads: [BulkRead]
  ) throws(StoreFault) -> [any EngineStatement] {
    try insertLocks(of: plan)
    let locks = Self.locks(plan)
    hasLocked = plan.locksApps
    let numbered = NumberedTable.allCases.filter { plan.additions[$0, default: 0] > 0 }
    let numbering = numbered.map { Self.acquire($0, Int64(plan.additions[$0, default: 0])) }
    let keyed = wanted.isEmpty ? [] : [PostgresKeys.read(wanted)]
    let notes = hasLocked ? [connection.noteBatch()] : []
    let results = try connection.send(
      locks + [Self.state] + notes + numbering + keyed + reads.map(Self.command))
    if let apps = plan.apps, hasLocked, let locked = results.first, locked.count < apps.count {
      // An earlier transaction that inserted the row was lost with its server.
      lockable = []
      throw StoreFault(.conflict, operation: "lock apps", reason: "an app has no row to lock")
    }
    var rest = results[locks.count...]
    let state = rest.popFirst()
    if let state, !state.isNull(0, 1) { throw connection.refuse(state.text(0, 1)) }
    let time = state.map { Timestamp(unixMilliseconds: $0.integer(0, 0)) }
    now = connection.usesServerClock ? time : nil
    rest = rest.dropFirst(notes.count)
    for table in numbered {
      if let result = rest.popFirst() { add(result, to: table) }
    }
    if !keyed.isEmpty, let result = rest.popFirst() { keys.note(wanted, result) }
    return rest.map(PostgresRows.init)
  }

  /// Called when a transaction begins and ends.
  func forgetKnown() {
    keys.forgetKnown()
    numbers = [:]
    hasLocked = false
    now = nil
  }

  func read(_ reads: [BulkRead]) throws(StoreFault) -> [any EngineStatement] {
    try connection.send(reads.map(Self.command)).map(PostgresRows.init)
  }

  func makeRow(_ table: NumberedTable) throws(StoreFault) -> Int64 {
    if numbers[table, default: []].isEmpty {
      add(try connection.run(Self.acquire(table, Self.moreNumbers)), to: table)
    }
    guard let number = numbers[table]?.popLast() else {
      throw StoreFault(.misuse, operation: "nextval", reason: "the server gave no row number")
    }
    return number
  }

  /// Inserts the rows of new apps, in a separate transaction: a lock on a missing row locks nothing, and a
  /// row that is not committed is not seen by a transaction that locks all apps.
  private func insertLocks(of plan: BatchPlan) throws(StoreFault) {
    guard let apps = plan.apps, !apps.isSubset(of: lockable) else { return }
    try connection.runBefore(
      PostgresCommand(
        "INSERT INTO app_locks (app) SELECT unnest($1) ON CONFLICT DO NOTHING",
        [.texts(apps.map(\.text).sorted())], operation: "lock apps"))
    lockable.formUnion(apps)
  }

  /// Locks the apps in one order, so that two programs do not wait for each other.
  private static func locks(_ plan: BatchPlan) -> [PostgresCommand] {
    guard let apps = plan.apps else {
      return [PostgresCommand("SELECT app FROM app_locks ORDER BY app FOR UPDATE", operation: "lock apps")]
    }
    // Also without apps: a database that is being retired lets no batch begin (`PostgresCopyEngine.lockOut`).
    guard plan.locksApps else {
      return [PostgresCommand("LOCK TABLE app_locks IN ROW SHARE MODE", operation: "lock apps")]
    }
    return [
      PostgresCommand(
        """
        SELECT app FROM app_locks
        WHERE app = ANY($1) OR app IN (SELECT app FROM purchases WHERE row_id = ANY($2))
        ORDER BY app FOR UPDATE
        """,
        [.texts(apps.map(\.text).sorted()), .integers(plan.purchases.map(\.number))], operation: "lock apps")
    ]
  }

  /// Read after the locks: the clock, because `now()` is the time when the transaction began, before it
  /// waited for them; and the other database of a copy, because a connection can be older than the copy.
  private static let state = PostgresCommand(
    """
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      (SELECT place FROM copies WHERE \(LeaseTable.isCopied) LIMIT 1)
    """, operation: "read the clock")

  private static func command(_ read: BulkRead) -> PostgresCommand {
    guard let (column, values) = read.condition else {
      return PostgresCommand("SELECT \(read.columns) FROM \(read.table)")
    }
    var numbers: [Int64] = []
    var texts: [String] = []
    for value in values {
      if case .integer(let number) = value { numbers.append(number) }
      if case .text(let text) = value { texts.append(text) }
    }
    return PostgresCommand(
      "SELECT \(read.columns) FROM \(read.table) WHERE \(column) = ANY($1)",
      [texts.isEmpty ? .integers(numbers) : .texts(texts)])
  }

  private static func acquire(_ table: NumberedTable, _ count: Int64) -> PostgresCommand {
    let sequence = table == .purchases ? "purchase_rows" : "context_rows"
    return PostgresCommand("SELECT nextval('\(sequence)') FROM generate_series(1, $1)", [.integer(count)])
  }

  private func add(_ result: PostgresResult, to table: NumberedTable) {
    numbers[table] = (0..<result.count).map { result.integer($0, 0) }.sorted(by: >)
  }
}
