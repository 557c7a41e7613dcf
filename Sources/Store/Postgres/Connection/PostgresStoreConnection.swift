// PostgreSQL as an engine of the store. One thread at a time.

internal import Platform
internal import Store

/// A connection that the store uses. It connects again after a loss, before the next transaction.
///
/// Each wait for the server costs a network round trip. So BEGIN is sent with the first statement of a
/// transaction, and changes wait until something is read or the transaction is committed; then all are sent
/// together.
final class PostgresStoreConnection: EngineConnection {
  /// What the connection is for.
  enum Role {
    case writer
    /// Each statement runs in a transaction that only reads.
    case reader
  }

  private enum Transaction: Equatable {
    case none
    /// Begun by the store, and not sent yet.
    case begun(PostgresBegin)
    case sent
  }

  /// Changes that are sent without waiting for more: it bounds the memory that they need.
  private static let waitingMax = 1_000
  private static let bytesMax = 8 << 20

  /// How long a transaction of a writer may take in total. Stripe's Checkout waits 10 s for an answer.
  private static let transactionTime: Duration = .seconds(8)

  private let source: PostgresSource
  private let role: Role
  /// Nil before the first use.
  private var connection: PostgresConnection?
  private var backoff = Backoff()
  /// When the open transaction must have ended.
  private var deadline = MonotonicInstant(nanoseconds: .max)
  /// Identifies this connection's batches.
  private let writer = Int64.random(in: .min ... .max)
  private var batch: Int64 = 0
  private var isCommitting = false
  private var transaction = Transaction.none
  private var waiting = PostgresChanges()
  private lazy var ahead = PostgresReadAhead(self)

  /// - Parameter connection: nil to connect at the first use.
  init(_ source: PostgresSource, role: Role, _ connection: PostgresConnection? = nil) {
    self.source = source
    self.role = role
    self.connection = connection
  }

  var keys: any KeyIndex { ahead.keys }
  var hasRoundTrips: Bool { true }
  var readAhead: (any ReadAhead)? { role == .writer ? ahead : nil }
  var usesServerClock: Bool { source.usesServerClock }

  /// How many times it has waited for the server.
  var roundTrips: Int { connection?.roundTrips ?? 0 }

  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement { PostgresStatement(sql, self) }

  var isInTransaction: Bool { transaction != .none }

  func begin() throws(StoreFault) { try begin(role == .writer ? .writing : .reading) }

  /// REPEATABLE READ is one snapshot (https://www.postgresql.org/docs/15/transaction-iso.html).
  func beginReading() throws(StoreFault) { try begin(.snapshot) }

  private func begin(_ begin: PostgresBegin) throws(StoreFault) {
    rollBack()
    if role == .writer { deadline = .now() + Self.transactionTime }
    _ = try opened()
    transaction = .begun(begin)
    ahead.forgetKnown()
  }

  func commit() throws(StoreFault) {
    guard transaction == .sent || !waiting.isEmpty else {
      transaction = .none
      return
    }
    // After a failure the store rolls back.
    try sendCommit()
    transaction = .none
  }

  private func sendCommit() throws(StoreFault) {
    isCommitting = true
    defer { isCommitting = false }
    do throws(StoreFault) {
      _ = try send([PostgresCommand("COMMIT")])
    } catch {
      guard error.kind.isOutage, ahead.hasLocked else { throw error }
      try resolve(error)
    }
  }

  /// A statement that notes the number of the batch in the open transaction, and locks this writer's row
  /// until that has ended.
  func noteBatch() -> PostgresCommand {
    batch += 1
    return PostgresCommand(
      """
      INSERT INTO writers (id, batch, seen_at)
      VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
      ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, seen_at = excluded.seen_at
        WHERE writers.batch < excluded.batch
      """, [.integer(writer), .integer(batch)], operation: "note the batch")
  }

  /// Finds out whether the last batch was stored, after the answer to its COMMIT was lost. The server may
  /// still be working on it: then it holds this writer's row, and the search waits. The transaction that
  /// searches locks the row, which is a write, so its COMMIT waits until the batch is on the standby, too.
  /// - Throws: `conflict` if it was not stored, `unavailable` if that is not known.
  private func resolve(_ loss: StoreFault) throws(StoreFault) {
    var pause: Duration = .milliseconds(10)
    // Also when the transaction's time has passed: there is nothing better to do for a moment.
    let end = max(deadline, .now() + .seconds(2))
    while MonotonicInstant.now() < end {
      let isStored: Bool
      do throws(PostgresError) {
        let connection = try reopened(within: end.duration(since: .now()))
        connection.timeLimit = max(end.duration(since: .now()), .milliseconds(100))
        PostgresSource.rollBack(connection)
        let results = try source.run(
          connection, .writing,
          [
            PostgresCommand(
              "INSERT INTO writers (id, batch, seen_at) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING",
              [.integer(writer)]),
            PostgresCommand("SELECT batch FROM writers WHERE id = $1 FOR UPDATE", [.integer(writer)]),
          ], limits, settings)
        isStored = results[1].count == 1 && results[1].integer(0, 0) == batch
      } catch {
        // An error of the search says nothing about the batch.
        PostgresConnection.pause(pause)
        pause = min(pause * 2, .milliseconds(500))
        continue
      }
      if isStored { return }
      throw StoreFault(.conflict, operation: "COMMIT", reason: "the connection was lost before it")
    }
    throw StoreFault(
      .unavailable, operation: loss.operation, reason: "\(loss.reason); whether it is stored is not known")
  }

  /// Every query has its index, as on SQLite. Without statistics, as of a new table, the server would scan
  /// whole tables for the ids of a batch.
  private static let plans = ["set_config('enable_seqscan', 'off', true)", "set_config('jit', 'off', true)"]

  /// A pooler may give a transaction a session that another program has configured.
  private static let durable = [
    "set_config('client_min_messages', 'notice', true)",
    """
    set_config('synchronous_commit',
      CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)
    """,
  ]

  private var settings: [String] {
    Self.plans + (role == .reader || source.allowsUnsafe ? [] : Self.durable)
  }

  private var limits: PostgresLimits {
    role == .writer
      ? PostgresLimits(lock: .seconds(3), statement: .seconds(7), idle: source.idleTime)
      : source.readingLimits
  }

  /// Ends the session on a database that was copied, or is an unfinished copy. The next one finds which.
  func refuse(_ place: String) -> StoreFault {
    connection?.close()
    return StoreFault(
      .notPermitted, operation: "begin",
      reason: "the database is retired, or is an unfinished copy; the other database is \(place)")
  }

  func rollBack() {
    _ = waiting.removeAll()
    ahead.forgetKnown()
    defer { transaction = .none }
    if transaction == .sent, let connection { PostgresSource.rollBack(connection) }
  }

  /// The connection, connected again if it was lost.
  private func opened() throws(StoreFault) -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    guard backoff.allowsTry else {
      throw StoreFault(.unreachable, operation: "connect", reason: "the database cannot be reached")
    }
    do throws(PostgresError) {
      let connection = try reopened(
        within: source.isOwner ? PostgresSource.reconnectTime : PostgresSource.firstTime)
      backoff = Backoff()
      return connection
    } catch {
      backoff.fail()
      throw StoreFault(error)
    }
  }

  private func reopened(within time: Duration) throws(PostgresError) -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    let connection = try source.connect(within: time, writes: role == .writer)
    self.connection = connection
    return connection
  }

  /// Runs a statement in a separate transaction, before the open one, of which nothing was sent yet.
  func runBefore(_ command: PostgresCommand) throws(StoreFault) {
    do throws(PostgresError) {
      let connection = try reopened(within: PostgresSource.reconnectTime)
      connection.timeLimit = remaining
      try source.run(connection, .writing, [command], limits, settings)
    } catch {
      throw error.kind == .connectionLost
        ? StoreFault(.conflict, operation: error.operation, reason: error.reason) : StoreFault(error)
    }
  }

  /// The time until the deadline.
  private var remaining: Duration {
    role == .reader ? source.readingTime : max(deadline.duration(since: .now()), .milliseconds(100))
  }

  /// Runs a change. In a transaction it is sent later.
  /// - Parameter table: the table that it changes; nil if that is not known.
  func change(_ command: PostgresCommand, of table: String?) throws(StoreFault) {
    guard transaction != .none else {
      _ = try run(command)
      return
    }
    waiting.add(command, to: table)
    if waiting.count >= Self.waitingMax || waiting.bytes >= Self.bytesMax { _ = try send([]) }
  }

  /// Runs a change of one row. In a transaction it is sent later, together with others of the same text.
  func change(_ change: RowChange, _ values: [StoreValue]) throws(StoreFault) {
    guard transaction != .none else {
      _ = try run(change.command([values]))
      return
    }
    waiting.add(change, values)
    if waiting.count >= Self.waitingMax || waiting.bytes >= Self.bytesMax { _ = try send([]) }
  }

  /// Runs a statement, after the changes before it. Outside a transaction it is one.
  func run(_ command: PostgresCommand) throws(StoreFault) -> PostgresResult { try send([command])[0] }

  /// Runs statements together, after the changes before them.
  /// - Parameter isRepeated: whether the statements were lost with another connection.
  func send(
    _ commands: [PostgresCommand], isRepeated: Bool = false
  ) throws(StoreFault) -> [PostgresResult] {
    let begun = transaction
    var before: [PostgresCommand] = []
    var after: [PostgresCommand] = []
    switch transaction {
    case .begun(let begin): before = source.beginning(begin, limits, settings)
    case .none:
      if role == .writer { deadline = .now() + Self.transactionTime }
      before = source.beginning(role == .writer ? .writing : .reading, limits, settings)
      after = [PostgresCommand("COMMIT")]
    case .sent: break
    }
    before += waiting.removeAll()
    // A transaction that was begun continues on its own connection.
    guard let connection = transaction == .sent ? connection : try opened() else { return [] }
    if transaction != .none { transaction = .sent }
    connection.timeLimit = remaining
    do throws(PostgresError) {
      let results = try connection.runTogether(before + commands + after)
      return Array(results[before.count..<before.count + commands.count])
    } catch {
      if transaction == .none { PostgresSource.rollBack(connection) }
      // After a failover each reader still has its connection to the old server.
      if error.kind == .connectionLost, role == .reader, begun != .sent, !isRepeated {
        transaction = begun
        return try send(commands, isRepeated: true)
      }
      // What was lost before COMMIT was sent is not stored. After the deadline nobody waits for it any more.
      if error.kind == .connectionLost, transaction == .sent, role == .writer, !isCommitting,
        MonotonicInstant.now() < deadline
      {
        throw StoreFault(.conflict, operation: error.operation, reason: error.reason)
      }
      throw StoreFault(error)
    }
  }
}

// MARK: - Check

// What a connection checks of the whole database. One thread at a time.

extension PostgresStoreConnection {
  /// A server grows its files as needed, and reports when its disk is full.
  func freeBytes() throws(StoreFault) -> Int64 { 0 }

  /// Its own file shows this: pages of other tables may have space on a full disk. The file ends with the
  /// transaction.
  func tryToGrow() throws(StoreFault) {
    _ = try run(
      PostgresCommand(
        """
        CREATE TEMPORARY TABLE growth ON COMMIT DROP AS
        SELECT repeat('x', 1000) AS content FROM generate_series(1, 4000)
        """, operation: "try to grow"))
  }

  /// Checks what can be checked with SQL: indexes that are incomplete, and constraints that may not hold for
  /// old rows. pg_amcheck(1) checks the files.
  func integrityFaults() throws(StoreFault) -> [String] {
    let result = try run(
      PostgresCommand(
        """
        SELECT 'the index ' || c.relname || ' is not valid: REINDEX INDEX ' || c.relname
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace
        UNION ALL
        SELECT 'the constraint ' || conname || ' is not validated' FROM pg_constraint
        WHERE NOT convalidated AND connamespace = current_schema()::regnamespace
        """))
    return (0..<result.count).map { result.text($0, 0) }
  }
}

// MARK: - Backoff

// When to connect again after a failure. A value.

/// Growing pauses between attempts, of random length: several programs must not come back at the same moment.
struct Backoff {
  private static let longest: Duration = .seconds(2)

  private var nextAt = MonotonicInstant(nanoseconds: .min)
  private var pause: Duration = .milliseconds(100)

  /// Whether the pause after the last failure is over.
  var allowsTry: Bool { MonotonicInstant.now() >= nextAt }

  /// Notes a failed attempt.
  mutating func fail() {
    nextAt = .now() + pause * Double.random(in: 0.5...1)
    pause = min(pause * 2, Self.longest)
  }
}
