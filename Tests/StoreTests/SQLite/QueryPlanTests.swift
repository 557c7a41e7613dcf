// Tests that no statement reads a whole growing table, and that lists use the indexes made for them.

import Domain
import Platform
import Testing

@testable import SQLiteStore
@testable import Store

extension ReceiptFilter {
  /// Each filter that selects few receipts, with its index; alone, and with all conditions that could mislead
  /// the planner.
  fileprivate static var narrow: [(filter: ReceiptFilter, index: String)] {
    let changes: [((inout ReceiptFilter) -> Void, String)] = [
      ({ $0.userID = "u" }, "INTEGER PRIMARY KEY"), ({ $0.objectID = "sub" }, "INTEGER PRIMARY KEY"),
      ({ $0.importID = "imp" }, "INDEX purchases_by_import"),
      ({ $0.customerID = "cus" }, "INTEGER PRIMARY KEY"), ({ $0.sessionID = "cs" }, "INTEGER PRIMARY KEY"),
    ]
    return changes.flatMap { change, index in
      var alone = ReceiptFilter()
      change(&alone)
      var all = alone
      all.app = "a"
      all.processor = "p"
      all.state = .failed
      all.reason = "r"
      all.after = "rcp"
      all.since = TestStore.start
      return [(alone, index), (all, index)]
    }
  }
}

extension ContextFilter {
  /// Every combination of conditions on contexts, with the index that serves it.
  fileprivate static var all: [(filter: ContextFilter, index: String)] {
    var (app, user, both) = (ContextFilter(), ContextFilter(), ContextFilter())
    app.app = "a"
    user.userID = "u"
    (both.app, both.userID, both.since) = ("a", "u", TestStore.start)
    return [
      (app, "INDEX contexts_by_app (app=?"), (user, "INTEGER PRIMARY KEY (rowid=?"),
      (both, "INTEGER PRIMARY KEY (rowid=?"), (ContextFilter(), "INTEGER PRIMARY KEY (rowid>?"),
    ]
  }
}

@Suite("Query plans")
struct QueryPlanTests {
  /// Growing tables. A full scan of one of them takes longer every day.
  private static let growing = ["purchases", "events", "contexts", "attempts", "captures", "payers"]

  func sqlite(_ reader: StoreReader) throws -> Connection {
    try #require(reader.connection.engine as? SQLiteConnection).connection
  }

  /// The steps of a statement's plan that read all of a growing table.
  func fullScans(of sql: String, _ connection: Connection) throws -> [String] {
    try plan(of: sql, connection).filter { step in
      Self.growing.contains { step.hasPrefix("SCAN \($0)") } || step.hasPrefix("SCAN p")
        || step.hasPrefix("SCAN c")
        || step.hasPrefix("SCAN e")
    }
  }

  func plan(of sql: String, _ connection: Connection) throws -> [String] {
    let explaining = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
    let numbers = sql.matches(of: /\?([0-9]+)/).compactMap { Int($0.output.1) }
    let count = (numbers.max() ?? 0) + sql.matches(of: /\?(?![0-9])/).count
    return try explaining.all(Array(repeating: StoreValue.null, count: count)) { row throws(SQLiteError) in
      try row.text(3)
    }
  }

  /// Every statement that a connection holds prepared (https://www.sqlite.org/stmt.html).
  private func statements(_ connection: Connection) throws -> [String] {
    try connection.prepare("SELECT sql FROM sqlite_stmt").all { row throws(SQLiteError) in try row.text(0) }
      .filter { sql in ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) } }
      .filter { !$0.contains("sqlite_stmt") }
  }

  @Test func `Open guesses are found by their own index, for any number of the user's purchases`() throws {
    let store = try TestStore()
    let connection = try Connection(path: store.path, mode: .readOnly, busyTimeout: .seconds(1))
    let plan = try plan(of: PurchaseRows.guessingSQL, connection)
    #expect(plan.contains { $0.contains("INDEX purchases_guessing (user_id=? AND app=?)") }, "\(plan)")
    #expect(plan.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(plan)")
  }

  @Test func `The owner of a payer is found by the primary key, and a user's payers by their index`() throws {
    let store = try TestStore()
    let owner = try plan(of: Payer.ownersSQL, sqlite(store.reader))
    #expect(owner == ["SEARCH payers USING PRIMARY KEY (processor=? AND account=? AND payer=?)"])
    let ofUser = try plan(of: StoreReader.userSQL.payers, sqlite(store.reader))
    #expect(ofUser.first == "SEARCH payers USING COVERING INDEX payers_by_user (user_id=?)")
  }

  @Test func `The next lookup of an app is found by its index`() throws {
    let store = try TestStore()
    let connection = try Connection(path: store.path, mode: .readOnly, busyTimeout: .seconds(1))
    let plan = try plan(of: "SELECT min(due_at) FROM look_ups WHERE app = 'ios'", connection)
    try #require(plan.count == 1, "\(plan)")
    #expect(plan[0].contains("look_ups_due"), "\(plan)")
  }

  @Test func `Receipts that lack a user are counted within their group`() throws {
    let store = try TestStore()
    for sql in [StoreReader.identitySQL.waitingForUser, StoreReader.identitySQL.unknownReferences] {
      let plan = try plan(of: sql, sqlite(store.reader))
      #expect(
        plan.contains { $0.contains("INDEX purchases_by_group (app=? AND state=? AND reason=?") }, "\(plan)")
    }
  }

  @Test func `None of the writer's statements reads a whole table`() throws {
    let store = try TestStore()
    let connection = try Database.open(path: store.path, role: .guest)
    let session = try StoreSession(
      StoreConnection(SQLiteConnection(connection)), rules: [:],
      random: SeededGenerator(seed: 1))
    let held = try statements(connection)
    #expect(held.count > 25, "the session's \(held.count) statements are there to be asked about")
    // `pauses` has one row for each app that was ever paused, and all are needed.
    for sql in held where !sql.hasSuffix("FROM pauses") {
      #expect(try fullScans(of: sql, connection) == [], "\(sql)")
    }
    // Statements that run for every event or delivery must not sort in a temporary table.
    for sql in held where !sql.hasPrefix("UPDATE") {
      #expect(try !plan(of: sql, connection).contains { $0.contains("TEMP B-TREE") }, "\(sql)")
    }
    _ = session.now
  }

  /// A reader prepares a statement at its first use.
  private func useEveryStatement(of reader: StoreReader) throws {
    let (app, now) = (AppSlug("ios"), TestStore.start)
    let place = AppDestination(app, "purchasely")
    _ = try (reader.pendingDestinations(of: app), reader.counts(), reader.oldestPending(app: app))
    _ = try reader.pause(of: app)
    _ = try reader.dueRows(place, isReplay: false, now: now, limit: 1)
    _ = try (reader.due(row: 1, now: now), reader.nextDue(place, isReplay: false, after: now))
    _ = try reader.openCaptures(of: AppProcessor(app, "afterpay"))
    _ = try reader.capture(ofPurchase: 1)
    _ = try reader.belongs("payer", to: "u", at: AppProcessor(app, "swedbank"))
    _ = try reader.overdue(place, now: now, cutoff: now, limit: 1)
    _ = try (reader.status(app: app, contextID: "c", now: now), reader.status(app: app, sessionID: "s"))
    _ = try reader.status(app: app, paymentID: "p")
  }

  @Test func `None of the reader's statements reads a whole table, nor does any list of receipts`() throws {
    let store = try TestStore()
    try useEveryStatement(of: store.reader)
    let held = try statements(sqlite(store.reader))
    // Those that begin with WITH are left out.
    #expect(held.count >= 7, "\(held)")
    for sql in held { #expect(try fullScans(of: sql, sqlite(store.reader)) == [], "\(sql)") }
    let receipts = [
      StoreReader.groupSQL, StoreReader.countGroupSQL, StoreReader.comparedSQL(ReceiptFilter()),
      StoreReader.recentFailuresSQL, JobRow.replaysDueSQL, JobRow.hasDueSQL, JobRow.plannedAppsSQL,
      JobRow.plannedSQL,
    ]
    let events = StoreReader.eventSQL
    let counts = [events.countAll, events.countGroup]
    for sql in receipts + counts + [events.all, events.ofPurchase, events.one, events.group]
      + events.nextGroup
    {
      #expect(try fullScans(of: sql, sqlite(store.reader)) == [], "\(sql)")
    }
    for (filter, index) in ReceiptFilter.narrow {
      let found = try StoreReader.few(filter, store.reader.connection.engine.keys)
      let few = try #require(found)
      let steps = try plan(of: few.sql, sqlite(store.reader))
      #expect(steps.first?.hasPrefix("SEARCH purchases USING \(index) ") == true, "\(steps)")
      #expect(try fullScans(of: few.sql, sqlite(store.reader)) == [], "\(few.sql)")
    }
    for (filter, index) in ContextFilter.all {
      let steps = try plan(of: StoreReader.select(filter), sqlite(store.reader))
      #expect(steps.first?.contains(index) == true, "\(steps)")
      let isSorted = steps.contains { $0.contains("TEMP B-TREE") }
      #expect(isSorted == (filter.userID != nil), "only the few of a user: \(steps)")
    }
    let seeks = [
      "app=? AND processor=? AND outcome=? AND type=? AND rowid>?",
      "app=? AND processor=? AND outcome=? AND type>?", "app=? AND processor=? AND outcome>?",
      "app=? AND processor>?", "app>?",
    ]
    for (sql, seek) in zip([events.group] + events.nextGroup, seeks) {
      let steps = try plan(of: sql, sqlite(store.reader))
      try #require(steps.count == 1, "\(steps)")
      #expect(steps[0].contains("COVERING INDEX events_by_group (\(seek)"), "\(steps)")
    }
    let session = try #require(held.first { $0.contains("session_id = object_id") })
    #expect(
      try plan(of: session, sqlite(store.reader)).first
        == "SEARCH purchases USING INDEX purchases_by_object (object_id=? AND app=?)")
    let failures = try plan(of: StoreReader.recentFailuresSQL, sqlite(store.reader))
    #expect(failures.first?.hasPrefix("SEARCH failure_counts USING PRIMARY KEY (minute>?)") == true)
    let deliveries = try plan(of: StoreReader.deliveriesSQL, sqlite(store.reader))
    #expect(
      deliveries.first?.contains("SEARCH delivery_counts USING PRIMARY KEY (minute>? AND minute<?)") == true)
    for sql in [StoreReader.oldestOfGroupSQL, StoreReader.newestOfGroupSQL] {
      let steps = try plan(of: sql, sqlite(store.reader))
      let index = "purchases_by_group (app=? AND state=? AND reason=? AND last_cause=? AND processor=?"
      #expect(steps.map { $0.contains(index) } == [true])
    }
    let withoutID = try plan(of: StoreReader.withoutImportIDSQL, sqlite(store.reader))
    #expect(withoutID.map { $0.contains("purchases_without_import_id (app=? AND receipt_id>") } == [true])
    let count = try plan(of: StoreReader.countGroupSQL, sqlite(store.reader))
    #expect(count.contains { $0.contains("COVERING INDEX purchases_by_group") }, "\(count)")
    #expect(!count.contains { $0.contains("TEMP B-TREE") }, "\(count)")
    let trend = try plan(of: StoreReader.trendSQL, sqlite(store.reader))
    let hour =
      "COVERING INDEX purchases_by_group (app=? AND state=? AND reason=? AND last_cause=? "
      + "AND processor=? AND receipt_id>? AND receipt_id<?)"
    #expect(trend.count { $0.contains(hour) } == 1)
    #expect(!trend.contains { $0.contains("TEMP B-TREE") }, "\(trend)")
    let group = try plan(of: StoreReader.groupSQL, sqlite(store.reader))
    #expect(group.map { $0.contains("AND last_cause=? AND processor=? AND receipt_id>") } == [true])
  }

  @Test func `Unfinished lookups and captures are counted and listed by their own indexes`() throws {
    let store = try TestStore()
    let sql = StoreReader.unfinishedSQL
    let expected = [
      (sql.lookups, "COVERING INDEX look_ups_due (app=? AND processor=?"),
      (sql.dueLookups, "COVERING INDEX look_ups_due (app=? AND processor=? AND due_at<?"),
      (sql.failedLookups, "INDEX look_ups_failed (app=? AND processor=? AND due_at>?"),
      (sql.abandonedLookups, "INDEX look_ups_failed (app=? AND processor=? AND due_at>?"),
      (sql.openCaptures, "INDEX captures_"),
      (sql.unknownCaptures, "INDEX captures_oldest (app=? AND processor=? AND ordered_at<?"),
      (sql.oldestCapture, "INDEX captures_oldest (app=? AND processor=?"),
      (sql.abandonedCaptures, "INDEX captures_abandoned (app=? AND processor=?"),
      (sql.lookup, "INTEGER PRIMARY KEY (rowid=?"), (sql.captures, "INDEX captures_by_purchase"),
      (StoreReader.troubledSQL[0].sql, "INDEX captures_oldest (app=? AND processor=?"),
      (StoreReader.troubledSQL[1].sql, "INDEX captures_abandoned (app=? AND processor=?"),
      (StoreReader.troubledSQL[2].sql, "INDEX look_ups_failed (app=? AND processor=?"),
      (StoreReader.troubledSQL[3].sql, "INDEX look_ups_failed (app=? AND processor=? AND due_at>?"),
      (LookupRows.retryingSQL, "INDEX look_ups_failed (app=? AND processor=? AND due_at>?"),
    ]
    for (sql, index) in expected {
      let steps = try plan(of: sql, sqlite(store.reader))
      #expect(steps.contains { $0.contains("SEARCH") && $0.contains(index) }, "\(sql): \(steps)")
      #expect(steps.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(sql): \(steps)")
      #expect(steps.allSatisfy { !$0.hasPrefix("SCAN look_ups") && !$0.hasPrefix("SCAN l ") }, "\(steps)")
      #expect(try fullScans(of: sql, sqlite(store.reader)) == [], "\(sql)")
    }
  }

  @Test func `Queries of metrics and alerts take the same steps for any number of receipts`() throws {
    let store = try TestStore()
    let connection = try sqlite(store.reader)
    func steps() throws -> Int64 {
      let counting = "SELECT sum(nstep) FROM sqlite_stmt WHERE sql NOT LIKE '%sqlite_stmt%'"
      let before = try connection.integer(counting) ?? 0
      _ = try store.reader.counts()
      _ = try store.reader.oldestPending(app: "ios")
      return (try connection.integer(counting) ?? 0) - before
    }
    func sell(_ numbers: ClosedRange<Int>) throws {
      for number in numbers { try store.ingest(Said.payment("\(number)", user: "u\(number)")) }
      store.advance(hour)
      try store.endWaits()
    }
    try sell(1...5)
    let few = try steps()
    try sell(6...300)
    let many = try steps()
    #expect(try store.reader.counts().map(\.count).reduce(0, +) == 300)
    #expect(few > 0, "\(few) steps, then \(many)")
    #expect(many <= few + 20, "\(few) steps, then \(many)")
  }

  @Test func `A job's step does not read each of its 100,000 planned receipts`() throws {
    let store = try TestStore()
    let file = try Connection(path: store.path, mode: .readWrite, busyTimeout: .seconds(1))
    // `JobRows.plannedApps` and `StoreReader.plannedApps` use this statement.
    let asking = try sqlite(store.reader).prepare(JobRow.plannedAppsSQL)
    func steps(plannedOfEachApp count: Int64) throws -> Int64 {
      try file.execute("DELETE FROM job_receipts; DELETE FROM jobs")
      try file.execute(
        """
        INSERT INTO jobs (row_id, id, kind, state, asked, force, actor, total, created_at, updated_at)
        VALUES (1, 'job_1', 'replay', 'running', '{}', 0, 'ann', 0, 0, 0)
        """)
      try file.prepare(
        """
        INSERT INTO job_receipts (job_row, position, purchase_row, outcome, app)
          WITH RECURSIVE counting (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counting WHERE n < 2 * ?1)
          SELECT 1, -n, n, 'planned', iif(n % 2, 'ios', 'web') FROM counting
        """
      ).run([.integer(count)])
      let apps = try asking.all([.integer(1)]) { row throws(SQLiteError) in try row.text(0) }
      #expect(apps == ["ios", "web"])
      let counted = try sqlite(store.reader).prepare("SELECT nstep FROM sqlite_stmt WHERE sql = ?1")
        .first([.text(JobRow.plannedAppsSQL)]) { row throws(SQLiteError) in row.integer(0) }
      defer { total = counted ?? 0 }
      return (counted ?? 0) - total
    }
    var total: Int64 = 0
    let few = try steps(plannedOfEachApp: 1)
    let many = try steps(plannedOfEachApp: 50_000)
    #expect(few > 0, "\(few) steps of SQLite's virtual machine, then \(many)")
    #expect(many == few, "\(few) steps of SQLite's virtual machine, then \(many)")
  }
}
