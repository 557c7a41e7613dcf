// Databases that tests copy.

import Domain
import FoundationEssentials
import Platform
import TestSupport
import Testing

@testable import PostgresStore
@testable import SQLiteStore
@testable import Store

/// A database of a test, deleted with this value.
final class CopyPlace {
  let engine: TestEngine
  let folder: String
  /// Deletes the database when it is deleted itself; nil if this value does.
  private let store: TestStore?

  /// An empty database.
  init(_ engine: TestEngine) throws {
    self.engine = engine
    folder = try makeDirectory().path
    store = nil
  }

  /// The database of a store.
  init(_ engine: TestEngine, of store: TestStore) {
    self.engine = engine
    folder = store.folder
    self.store = store
  }

  deinit {
    guard store == nil else { return }
    // If this fails, the files stay in the system's temporary directory.
    try? FileManager.default.removeItem(atPath: folder)
    engine.remove(folder)
  }

  func opened(isTarget: Bool = false) throws -> any CopyEngine {
    guard engine.name == TestEngine.postgres.name else {
      let path = TestEngine.path(in: folder)
      if isTarget { _ = try Connection(path: path, mode: .readWriteCreate, busyTimeout: .zero) }
      return try SQLiteCopyEngine(path: path, isTarget: isTarget)
    }
    let server = try PostgresServer.shared.get()
    return try PostgresCopyEngine(
      server.url(PostgresDatabases.name(of: folder)), isTarget: isTarget, application: "tests",
      allowsUnsafe: true)
  }

  func writer(seed: UInt64 = 1) throws -> StoreWriter {
    try engine.open(folder).openWriter(
      rules: TestStore.rules(settle: .seconds(5)), random: SeededGenerator(seed: seed))
  }

  /// Reads as a program that does not own the database.
  func reader() throws -> StoreReader { StoreReader(try opened().reading) }

  /// Runs a statement that both engines understand, whatever the marks are.
  func execute(_ sql: String) throws { try opened().writing.prepare(sql).run() }

  /// All rows of the tables that are copied, with the columns in the order of their names.
  func rows() throws -> [String: [[StoreValue]]] {
    let database = try opened()
    return try Dictionary(
      uniqueKeysWithValues: CopyTable.all.map { table in
        var cursor = CopyCursor(try CopySlices(table, of: database, CopyLimits()))
        var rows: [[StoreValue]] = []
        while let row = try cursor.next() { rows.append(row) }
        return (table.name, rows)
      })
  }

  /// Begins a copy, or continues it.
  func copy(to target: CopyPlace, limits: CopyLimits = CopyLimits(rows: 7)) throws -> StoreCopy {
    try StoreCopy(
      from: opened(), to: target.opened(isTarget: true), places: (engine.name, target.engine.name),
      now: TestStore.start, limits: limits)
  }

  /// Copies all, compares, and retires this database.
  /// - Returns: what differs.
  @discardableResult
  func copyAll(to target: CopyPlace) throws -> [CopyComparison] {
    let copy = try copy(to: target)
    try copy.copyRows { _, _ in }
    let found = try CopyTable.all.map { try copy.compare($0) { _ in } }
    try copy.finish(Self.entry, now: TestStore.start)
    return found
  }

  static let entry = AuditEntry(at: TestStore.start, actor: "ann", action: "db copy", details: "{}")
}

/// A store that has rows in each table.
struct FilledStore {
  let random: RandomStore
  var place: CopyPlace { CopyPlace(TestEngine.current, of: random.store) }

  init(seed: UInt64, steps: Int = 150) throws {
    var random = try RandomStore(seed: seed)
    for _ in 0..<steps { try random.step() }
    self.random = random
    // Makes the erasure's key and a hash.
    var names = UserIdentifiers()
    names.add(id: "pi_erased")
    try random.store.apply(ForgetIdentifiers(names, app: "ios"))
    for sql in Self.additions { try random.store.execute(sql) }
  }

  /// Rows that random operations do not make.
  private static let additions = [
    """
    INSERT INTO past_purchases (row_id, object_id, app, processor, until)
    VALUES (41, 'sub_past', 'ios', 'stripe', 1)
    """,
    """
    INSERT INTO look_ups (purchase_row, app, processor, due_at, tries, fetches)
    SELECT row_id, app, processor, 9, 1, 1 FROM purchases ORDER BY row_id LIMIT 1
    """,
    """
    INSERT INTO captures (row_id, app, processor, purchase_row, ordered_at, failures, retry_at, outcome,
      status, body, ended_at)
    SELECT 9, app, processor, row_id, 1, 0, 2, 'captured', 200, X'00', 3 FROM purchases
    WHERE (observations & \(Observations.started.rawValue)) <> 0 ORDER BY row_id LIMIT 1
    """,
    """
    INSERT INTO claims (id, hash, app, purchase_row, origin, actor, offered_at, expires_at, ended_at, user_id)
    SELECT 'claim_1', X'01', app, row_id, 'page', 'ann', 1, 2, 3, 'u1' FROM purchases
    WHERE receipt_id IS NOT NULL ORDER BY row_id LIMIT 1
    """,
    """
    INSERT INTO announcements (purchase_row, app, since, due_at, attempts)
    SELECT row_id, app, 1, 2, 3 FROM purchases WHERE receipt_id IS NOT NULL ORDER BY row_id LIMIT 1
    """,
    "INSERT INTO claim_key (row_id, key) VALUES (1, X'01') ON CONFLICT DO NOTHING",
    "INSERT INTO payers (app, processor, customer_id, user_id) VALUES ('ios', 'pay', 'payer', 'u1')",
    """
    INSERT INTO jobs (row_id, id, kind, state, asked, force, actor, total, created_at, updated_at, ended_at)
    VALUES (3, 'job_1', 'replay', 'done', '{}', 0, 'ann', 1, 1, 1, 1)
    """,
    """
    INSERT INTO job_receipts (job_row, position, purchase_row, outcome, reason)
    VALUES (3, 0, 1, 'skipped', 'gone')
    """,
    "INSERT INTO job_counts (job_row, outcome, reason, count) VALUES (3, 'skipped', 'gone', 1)",
    """
    INSERT INTO failure_counts (minute, app, reason, last_cause, count, made_since)
    VALUES (-1, 'ios', 'price', '', 1, 1)
    """,
    """
    INSERT INTO alerts (destination, condition, app, firing, since, told_at)
    VALUES ('d', 'oldest_pending>15m', '', 1, 1, 1)
    """,
    """
    INSERT INTO audit (at, actor, action, subject, details)
    VALUES (1, 'ann', 'receipts cancel', 'rcp_é', '{"a":"b"}')
    """,
    """
    INSERT INTO pauses (app, began_at, ends_at, actor, reason, paused_ms)
    VALUES ('ios', 1, 2, 'ann', 'é', 3)
    """,
    """
    INSERT INTO acknowledgements (app, processor, reason, last_cause, entered, owner, note, actor, at)
    VALUES ('ios', 'stripe', 'price', '', 1, 'ann', 'é', 'bob', 2)
    """,
    """
    INSERT INTO customer_users (customer_id, app, processor, source, user_id, at)
    VALUES ('cus_é', 'ios', 'stripe', 6, 'u1', 1)
    """,
    "INSERT INTO service (row_id, serves_at) VALUES (1, 5)",
    "INSERT INTO backfills (app, processor, since) VALUES ('ios', 'stripe', 1)",
  ]
}
