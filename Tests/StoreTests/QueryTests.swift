// What operators ask for: filters, pages, details; and that no question reads a whole table.

import Platform
import Domain
import SQLite
import Testing

@testable import Store

/// Receipts in several states, one a minute; the `n`-th is of `u(n % 3)`.
private func populated(_ count: Int = 12) throws -> TestStore {
  let store = try TestStore()
  for n in 0..<count {
    let app = n % 4 == 3 ? "web" : "ios"
    if n % 2 == 0 { try store.post("blob \(n)", user: "u\(n % 3)", app: app) }
    try store.take(Said.completed("\(n)", user: "u\(n % 3)", prices: ["price_1"], at: store.now), app: app)
    store.advance(minute)
  }
  return store
}

private func list(_ store: TestStore, limit: Int = 100, _ change: (inout ReceiptFilter) -> Void) throws
  -> [String]
{
  var filter = ReceiptFilter()
  change(&filter)
  return try store.reader.receipts(filter, limit: limit).map(\.purchase.key.id)
}

@Suite("Queries")
struct QueryTests {
  @Test("Receipts are listed newest first, and every filter restricts")
  func filters() throws {
    let store = try populated()
    #expect(try list(store) { _ in } == (0..<12).reversed().map { "sub_\($0)" })
    #expect(try list(store) { $0.app = "web" } == ["sub_11", "sub_7", "sub_3"])
    #expect(try list(store) { $0.app = "other" } == [])
    #expect(try list(store) { $0.userID = "u2" } == ["sub_11", "sub_8", "sub_5", "sub_2"])
    #expect(try list(store) { $0.objectID = "sub_4" } == ["sub_4"])
    #expect(try list(store) { $0.state = .pending } == [6, 5, 4, 2, 1, 0].map { "sub_\($0)" })
    #expect(try list(store) { $0.state = .waiting }.count == 6)
    #expect(try list(store) { $0.reason = "context" } == list(store) { $0.state = .waiting })
    #expect(try list(store) { $0.state = .delivered } == [])
    #expect(try list(store) { $0.importID = "imp" } == [])
    let third = TestStore.start.advanced(byMilliseconds: 3 * minute)
    #expect(try list(store) { $0.since = third }.count == 9)
    #expect(try list(store) { $0.until = third } == ["sub_2", "sub_1", "sub_0"])
    #expect(
      try list(store) {
        $0.app = "ios"
        $0.userID = "u2"
        $0.since = third
      } == ["sub_8", "sub_5"])
  }

  @Test("Every state can be listed")
  func states() throws {
    for state in ReceiptState.allCases {
      let store = try populated(1)
      let id = try #require(try store.only().receipt?.id)
      var record = try store.only()
      record.receipt?.state = state
      record.receipt?.reason = .byOperator
      let write = WriteRecord(record: record)
      try store.apply(write)
      #expect(try list(store) { $0.state = state } == ["sub_0"])
      for other in ReceiptState.allCases where other != state {
        #expect(try list(store) { $0.state = other } == [])
      }
      #expect(try store.reader.receipt(id: id)?.receipt?.state == state)
      #expect(try store.reader.counts().filter { $0.count > 0 }.map(\.state) == [state])
    }
  }

  @Test("Pages go on where the last one ended, without gaps or repeats", arguments: [1, 2, 5, 12, 50])
  func pages(limit: Int) throws {
    let store = try populated()
    var seen: [String] = []
    var filter = ReceiptFilter()
    while true {
      let page = try store.reader.receipts(filter, limit: limit)
      guard let last = page.last?.receipt?.id else { break }
      seen += page.map(\.purchase.key.id)
      filter.after = last
    }
    #expect(seen == (0..<12).reversed().map { "sub_\($0)" })
  }

  @Test("Everything about a receipt: its events in their order, its attempts, its context")
  func detail() throws {
    let store = try TestStore()
    let context = try store.post()
    try store.take(Said.created(), id: "evt_a", type: "customer.subscription.created")
    try store.take(Said.completed(), id: "evt_b", type: "checkout.session.completed")
    let id = try #require(try store.only().receipt?.id)
    let detail = try #require(try store.reader.detail(receipt: id))
    #expect(detail.events.map(\.id) == ["evt_a", "evt_b"])
    #expect(
      detail.events.map(\.outcome) == ["receipt", "receipt"] && detail.events.map(\.receiptID) == [id, id])
    #expect(detail.context?.id == context && detail.attempts.isEmpty && detail.record.receipt?.id == id)
    #expect(try store.reader.detail(receipt: "rcp_none") == nil && store.reader.receipt(id: "") == nil)
  }

  @Test(
    "Events are filtered and paged, even when several apps got the same event", arguments: [1, 2, 3, 7, 50])
  func events(limit: Int) throws {
    let store = try TestStore()
    for n in 0..<9 {
      for app in n % 3 == 0 ? ["ios", "web", "held"] : ["ios"] {
        let content: TakeEvent.Content = .nothing(n % 2 == 0 ? .ignored : .unparsed)
        let event = TakeEvent(
          app: app, processor: "stripe", eventID: "evt_\(n)", type: "type\(n % 2)", body: [UInt8(n)],
          content: content)
        #expect(try store.apply(event) == .stored(n % 2 == 0 ? .ignored : .unparsed))
        store.advance(second)
      }
    }
    func all(_ change: (inout EventFilter) -> Void) throws -> [String] {
      var filter = EventFilter()
      change(&filter)
      var seen: [String] = []
      while true {
        let page = try store.reader.events(filter, limit: limit)
        guard let last = page.last else { return seen }
        seen += page.map { "\($0.app) \($0.id)" }
        filter.after = last.row
      }
    }
    let everything = (0..<9).flatMap { n in
      (n % 3 == 0 ? ["ios", "web", "held"] : ["ios"]).map { "\($0) evt_\(n)" }
    }
    #expect(try all { _ in } == everything.reversed())
    #expect(try all { $0.app = "web" } == ["web evt_6", "web evt_3", "web evt_0"])
    #expect(try all { $0.type = "type1" }.count == 6 && all { $0.outcome = .unparsed }.count == 6)
    #expect(try all { $0.since = TestStore.start.advanced(byMilliseconds: 14 * second) } == ["ios evt_8"])
    #expect(try all { $0.until = TestStore.start.advanced(byMilliseconds: second) } == ["ios evt_0"])
    #expect(try store.reader.events(id: "evt_3").map(\.summary.app) == ["ios", "web", "held"])
    #expect(try store.reader.events(id: "evt_3").map(\.body) == [[3], [3], [3]])
    #expect(try store.reader.events(id: "evt_none").isEmpty)
  }

  @Test("Contexts are filtered and paged, with what became of them")
  func contexts() throws {
    let store = try populated()
    func all(_ change: (inout ContextFilter) -> Void) throws -> [String] {
      var filter = ContextFilter()
      change(&filter)
      var seen: [String] = []
      while true {
        let page = try store.reader.contexts(filter, now: store.now, limit: 2)
        guard let last = page.last else { return seen }
        seen += page.map(\.blob.text)
        filter.after = last.id
      }
    }
    #expect(try all { _ in } == [10, 8, 6, 4, 2, 0].map { "blob \($0)" })
    #expect(try all { $0.userID = "u1" } == ["blob 10", "blob 4"])
    #expect(try all { $0.app = "web" } == [])
    #expect(try all { $0.since = TestStore.start.advanced(byMilliseconds: 10 * minute) } == ["blob 10"])
    #expect(try all { $0.until = TestStore.start.advanced(byMilliseconds: minute) } == ["blob 0"])
    let newest = try #require(try store.reader.contexts(ContextFilter(), now: store.now, limit: 1).first)
    #expect(newest.state == .paid && newest.receiptID != nil)
  }
}

/// Puts a row as it is, whatever the rules would say.
private struct WriteRecord: StoreCommand {
  var record: PurchaseRecord

  func apply(to store: StoreSession) throws(SQLiteError) {
    guard let old = try store.purchases.find(row: record.rowID) else { return }
    try store.purchases.update(record, from: old)
  }
}

extension ReceiptFilter {
  /// Each of what names few receipts, with its index; alone, and with all that could mislead.
  fileprivate static var narrow: [(filter: ReceiptFilter, index: String)] {
    let changes: [((inout ReceiptFilter) -> Void, String)] = [
      ({ $0.userID = "u" }, "purchases_by_user"), ({ $0.objectID = "sub" }, "purchases_by_object"),
      ({ $0.importID = "imp" }, "purchases_by_import"),
    ]
    return changes.flatMap { change, index in
      var alone = ReceiptFilter()
      change(&alone)
      var all = alone
      all.app = "a"
      all.state = .failed
      all.reason = "r"
      all.after = "rcp"
      all.since = TestStore.start
      return [(alone, index), (all, index)]
    }
  }
}

extension ContextFilter {
  /// Every way to choose contexts, with the index that serves it.
  fileprivate static var all: [(filter: ContextFilter, index: String)] {
    var (app, user, both) = (ContextFilter(), ContextFilter(), ContextFilter())
    app.app = "a"
    user.userID = "u"
    (both.app, both.userID, both.since) = ("a", "u", TestStore.start)
    return [(app, "INDEX contexts_by_app (app=?"), (user, "INDEX contexts_by_user (user_id=?")]
      + [
        (both, "INDEX contexts_by_user (user_id=? AND app=?"),
        (ContextFilter(), "INTEGER PRIMARY KEY (rowid>?"),
      ]
  }
}

@Suite("Query plans")
struct QueryPlanTests {
  /// Tables that grow; a question that reads one of them from end to end gets slower every day.
  private static let growing = ["purchases", "events", "contexts", "attempts"]

  /// The steps of a statement's plan that read all of a growing table.
  private func fullScans(of sql: String, _ connection: Connection) throws -> [String] {
    try plan(of: sql, connection).filter { step in
      Self.growing.contains { step.hasPrefix("SCAN \($0)") } || step.hasPrefix("SCAN p")
        || step.hasPrefix("SCAN c")
        || step.hasPrefix("SCAN e")
    }
  }

  private func plan(of sql: String, _ connection: Connection) throws -> [String] {
    let explaining = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
    let numbers = sql.matches(of: /\?([0-9]+)/).compactMap { Int($0.output.1) }
    let count = (numbers.max() ?? 0) + sql.matches(of: /\?(?![0-9])/).count
    return try explaining.all(Array(repeating: Value.null, count: count)) { row throws(SQLiteError) in
      try row.text(3)
    }
  }

  /// Every statement that a connection holds prepared (https://www.sqlite.org/stmt.html).
  private func statements(_ connection: Connection) throws -> [String] {
    try connection.prepare("SELECT sql FROM sqlite_stmt").all { row throws(SQLiteError) in try row.text(0) }
      .filter { sql in ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) } }
      .filter { !$0.contains("sqlite_stmt") }
  }

  @Test("None of the writer's statements reads a whole table")
  func writer() throws {
    let store = try TestStore()
    let connection = try Database.open(path: store.path, role: .guest)
    let session = try StoreSession(connection, rules: [:], random: SeededGenerator(seed: 1))
    let held = try statements(connection)
    #expect(held.count > 25, "the session's \(held.count) statements are there to be asked about")
    for sql in held { #expect(try fullScans(of: sql, connection) == [], "\(sql)") }
    // What every event and every delivery runs sets up no table of its own to sort in.
    for sql in held where !sql.hasPrefix("UPDATE") {
      #expect(try !plan(of: sql, connection).contains { $0.contains("TEMP B-TREE") }, "\(sql)")
    }
    _ = session.now
  }

  @Test("None of the reader's statements reads a whole table, nor does any list of receipts")
  func reader() throws {
    let store = try TestStore()
    let held = try statements(store.reader.connection)
    #expect(held.count >= 6)
    for sql in held { #expect(try fullScans(of: sql, store.reader.connection) == [], "\(sql)") }
    let receipts = [StoreReader.groupSQL, StoreReader.failuresSQL]
    let events = StoreReader.eventSQL
    for sql in receipts + [events.all, events.ofPurchase, events.one, events.group, events.nextGroup] {
      #expect(try fullScans(of: sql, store.reader.connection) == [], "\(sql)")
    }
    for (filter, index) in ReceiptFilter.narrow {
      let steps = try plan(of: try #require(StoreReader.fewSQL(filter)), store.reader.connection)
      #expect(steps.first?.hasPrefix("SEARCH purchases USING INDEX \(index) ") == true, "\(steps)")
    }
    for (filter, index) in ContextFilter.all {
      let steps = try plan(of: StoreReader.select(filter), store.reader.connection)
      #expect(steps.first?.contains(index) == true, "\(steps)")
      let isSorted = steps.contains { $0.contains("TEMP B-TREE") }
      #expect(isSorted == (filter.userID != nil), "only the few of a user: \(steps)")
    }
    for sql in [events.group, events.nextGroup] {
      let steps = try plan(of: sql, store.reader.connection)
      #expect(steps.count == 1 && steps[0].contains("COVERING INDEX events_by_group ("), "\(steps)")
    }
    let failures = try plan(of: StoreReader.failuresSQL, store.reader.connection)
    #expect(failures.first?.hasPrefix("SEARCH delivery_counts USING PRIMARY KEY (minute>?)") == true)
    let counts = try plan(of: StoreReader.deliveriesSQL, store.reader.connection)
    #expect(
      counts.first?.contains("SEARCH delivery_counts USING PRIMARY KEY (minute>? AND minute<?)") == true)
    for sql in [StoreReader.oldestOfGroupSQL, StoreReader.newestOfGroupSQL] {
      let steps = try plan(of: sql, store.reader.connection)
      #expect(steps.count == 1 && steps[0].contains("purchases_by_group (app=? AND state=? AND reason=?)"))
    }
    let group = try plan(of: StoreReader.groupSQL, store.reader.connection)
    #expect(group.count == 1 && group[0].contains("purchases_by_group (app=? AND state=? AND reason=? AND"))
  }

  @Test("What metrics and alerts ask takes as many steps on any number of receipts")
  func steps() throws {
    let store = try TestStore()
    let connection = store.reader.connection
    func steps() throws -> Int64 {
      let counting = "SELECT sum(nstep) FROM sqlite_stmt WHERE sql NOT LIKE '%sqlite_stmt%'"
      let before = try connection.integer(counting) ?? 0
      _ = try store.reader.counts()
      _ = try store.reader.oldestPending(app: "ios")
      return (try connection.integer(counting) ?? 0) - before
    }
    func sell(_ numbers: ClosedRange<Int>) throws {
      for number in numbers { try store.take(Said.payment("\(number)", user: "u\(number)")) }
      store.advance(hour)
      try store.endWaits()
    }
    try sell(1...5)
    let few = try steps()
    try sell(6...300)
    let many = try steps()
    #expect(try store.reader.counts().map(\.count).reduce(0, +) == 300)
    #expect(few > 0 && many <= few + 20, "\(few) steps, then \(many)")
  }
}
