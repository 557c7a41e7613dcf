// Tests the index of a search: what it finds, and how it follows erasure, retention and crashes.

import Domain
import Testing

@testable import Store

/// Reads the test's events, which have the ids and addresses that they name as words.
private let mentions: MentionReader = { _, body in
  var found = Mentions()
  for word in String(decoding: body, as: UTF8.self).split(separator: " ").map(String.init) {
    if word.contains("@") { found.add(address: word) } else { found.add(id: word) }
  }
  return found
}

@Suite("The index of a search", .everyEngine)
struct SearchIndexTests {
  private static let sizes = SearchSizes(rows: 4, runs: 3)

  /// Ingests the event of a purchase that names a payment and an address.
  private func buy(_ n: Int, _ store: TestStore, more: String = "") throws {
    let report = Said.completed("\(n)", user: "user-\(n)", prices: ["price_1"], at: store.now)
    try store.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: EventID("evt_\(n)"), type: "test",
        body: Array("pi_payment\(n)x user\(n)@example.com \(more)".utf8), content: .report(report, keep: true)
      ))
  }

  /// - Returns: the name of the next step, which is applied; nil if nothing is to do.
  private func step(_ store: TestStore) throws -> String? {
    // On a server only rows that have been there for a while are indexed.
    switch try store.reader.searchStep(mentions, now: store.after(minute), sizes: Self.sizes) {
    case nil: return nil
    case .begin:
      try store.apply(BeginSearchIndex())
      return "begin"
    case .drop(let runs):
      try store.apply(DropSearchRuns(runs))
      return "drop"
    case .delete(let run):
      try store.apply(DeleteSearchRun(run))
      return "delete"
    case .write(let draft):
      #expect(try store.apply(WriteSearchRun(draft)) == .ready)
      return "\(draft.family) \(draft.level)"
    }
  }

  /// - Returns: the run that is to be written next.
  private func draft(of store: TestStore) throws -> SearchDraft {
    let step = try store.reader.searchStep(mentions, now: store.after(minute), sizes: Self.sizes)
    guard case .write(let draft)? = step else { return try #require(nil, "there is nothing to write") }
    return draft
  }

  private func index(_ store: TestStore) throws {
    var steps = 0
    while try step(store) != nil {
      steps += 1
      try #require(steps < 500, "it ends")
    }
  }

  private func find(_ text: String, _ store: TestStore) throws -> [String] {
    try store.reader.find(
      #require(FindQuery(text)), FindFilter(), mentions: mentions, now: store.now, limit: 50
    ).list.map { finding in
      switch finding.item {
      case .purchase(let purchase): "\(finding.match.rawValue) \(purchase.objectID)"
      case .context(let context): "\(finding.match.rawValue) \(context.id)"
      case .event(let event): "\(finding.match.rawValue) \(event.id)"
      }
    }
  }

  private func entries(_ store: TestStore) throws -> [SearchEntry] {
    try store.reader.connection.prepare("SELECT first, entries FROM search_blocks").all {
      row throws(StoreFault) in
      SearchBlock(first: row.integer(0), bytes: row.blob(1))
    }.flatMap(\.entries)
  }

  @Test func `What events name is found before, while and after they are indexed`() throws {
    let store = try TestStore()
    for n in 1...30 {
      try buy(n, store)
      store.advance(second)
      if n > 3 { _ = try step(store) }
      for wanted in [1, n] {
        let (id, address) = ("pi_payment\(wanted)x", "User\(wanted)@example.com")
        #expect(try find(id, store) == ["mention sub_\(wanted)"], "\(wanted) of \(n)")
        #expect(try find(address, store) == ["address sub_\(wanted)"], "\(wanted) of \(n)")
      }
    }
    try index(store)
    #expect(try find("pi_payment17", store) == ["mention sub_17"], "the beginning of an id")
    #expect(try find("payment17x", store) == ["mention sub_17"], "the end of an id")
    #expect(try find("pi_payment2", store).count == 11, "2 and 20…29")
    #expect(try find("pi_payment31x", store) == [])
    #expect(try find("nobody@example.com", store) == [])
    let runs = try store.reader.searchRuns()
    #expect(runs.filter { $0.family == .events && $0.level == 1 }.count == 2, "\(runs)")
    #expect(runs.allSatisfy { $0.state == .ready })
    // Levels replace each other without a gap.
    let ofEvents = runs.filter { $0.family == .events }.sorted { $0.firstRow < $1.firstRow }
    for (run, next) in zip(ofEvents, ofEvents.dropFirst()) { #expect(run.lastRow + 1 == next.firstRow) }
  }

  @Test func `An event without a purchase is found, and leads to its customer's purchases`() throws {
    let store = try TestStore()
    try buy(1, store)
    for n in 1...9 {
      try store.apply(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: EventID("evt_charge\(n)"), type: "charge.succeeded",
          body: Array("ch_charge\(n)x cus_\(n)".utf8), content: .nothing(.ignored)))
    }
    for _ in 0..<2 {
      #expect(try Set(find("ch_charge1x", store)) == ["mention evt_charge1", "customer sub_1"])
      #expect(try find("ch_charge2x", store) == ["mention evt_charge2"])
      try index(store)
    }
  }

  @Test func `A payment that the relay started is found by the merchant's reference`() throws {
    let store = try TestStore()
    for n in 1...9 {
      var said = Said.pay(.started, "\(n)", by: "user-\(n)")
      said.payment = PaymentFacts(amount: "5.00", currency: "SEK", reference: "order-4711-\(n)")
      try store.apply(StorePayment(app: "ios", said))
    }
    for _ in 0..<2 {
      #expect(try find("order-4711-7", store) == ["reference pay_7"])
      #expect(try find("order-4711", store).count == 9)
      try index(store)
    }
    #expect(try store.reader.searchRuns().contains { $0.family == .payments })
  }

  @Test func `An erasure removes a user's entries from all runs, and voids what was read before`() throws {
    let store = try TestStore()
    for n in 1...10 { try buy(n, store) }
    try store.apply(BeginSearchIndex())
    let draft = try draft(of: store)
    let rows = try store.receipts().filter { [2, 9].map { "user-\($0)" }.contains($0.purchase.userID?.text) }
    try store.apply(ForgetPurchases(rows: rows.map(\.rowID), cancelsOpen: true))
    #expect(try store.apply(WriteSearchRun(draft)) == .void)
    try index(store)
    #expect(try find("user2@example.com", store) == [])
    #expect(try find("user3@example.com", store) == ["address sub_3"])

    let hash = try #require(try store.reader.searchState()).hash
    func keys(_ n: Int) -> Set<Int64> {
      SearchKey.keys(mentions("stripe", Array("pi_payment\(n)x user\(n)@example.com".utf8)), hash)
    }
    #expect(try entries(store).contains { keys(3).contains($0.key) })
    let other = try #require(try store.receipts().first { $0.purchase.userID == "user-3" })
    try store.apply(ForgetPurchases(rows: [other.rowID], cancelsOpen: true))
    #expect(try !entries(store).contains { keys(3).contains($0.key) })
    #expect(try find("user3@example.com", store) == [])
    #expect(try find("user4@example.com", store) == ["address sub_4"])
    try index(store)
    #expect(try !entries(store).contains { keys(2).union(keys(3)).contains($0.key) })
  }

  @Test func `Entries of deleted events go with their runs, or after 30 days`() throws {
    let store = try TestStore()
    for n in 1...10 {
      try buy(n, store)
      store.advance(minute)
    }
    try index(store)
    let before = try entries(store).count
    let cutoff = TestStore.start + .milliseconds(6 * minute)
    try store.apply(Retain(table: .events, cutoff: cutoff, afterRow: 0))
    try index(store)
    let first = try #require(try store.integer("SELECT min(row_id) FROM events"))
    #expect(try store.reader.searchRuns().allSatisfy { $0.family == .payments || $0.lastRow >= first })
    #expect(try entries(store).contains { $0.row < first }, "the run has newer events, too")
    #expect(try entries(store).count < before)
    store.advance(31 * day)
    try index(store)
    #expect(try entries(store).allSatisfy { $0.row >= first })
    #expect(try find("user8@example.com", store) == ["address sub_8"])
  }

  @Test func `A run that was not completed is dropped, and its rows are indexed again`() throws {
    let store = try TestStore()
    for n in 1...8 { try buy(n, store, more: (0..<12).map { "in_\(n)number\($0)" }.joined(separator: " ")) }
    try store.apply(BeginSearchIndex())
    var draft = try draft(of: store)
    // As if it needed several slices.
    while draft.blocks.count <= WriteSearchRun.blocksMax { draft.blocks += draft.blocks }
    let outcome = try store.apply(WriteSearchRun(draft))
    guard case .written(let progress) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(progress.blocks == WriteSearchRun.blocksMax)
    #expect(try find("user3@example.com", store) == ["address sub_3"], "it is read from its event")
    try store.reopen()
    #expect(try step(store) == "drop")
    #expect(try store.apply(WriteSearchRun(draft, written: progress)) == .void, "the program that died")
    try index(store)
    let runs = try store.reader.searchRuns()
    #expect(runs.allSatisfy { $0.state == .ready })
    let orphans = "SELECT count(*) FROM search_blocks WHERE run NOT IN (SELECT run FROM search_runs)"
    #expect(try store.integer(orphans) == 0)
    #expect(try find("user3@example.com", store) == ["address sub_3"])
  }

  @Test func `Two programs do not make runs from the same rows`() throws {
    let store = try TestStore()
    for n in 1...8 { try buy(n, store) }
    try store.apply(BeginSearchIndex())
    try store.apply(BeginSearchIndex())
    let draft = try draft(of: store)
    #expect(try store.apply(WriteSearchRun(draft)) == .ready)
    #expect(try store.apply(WriteSearchRun(draft)) == .void)
  }

  @Test func `When the numbers of rows begin again, the index does, too`() throws {
    let store = try TestStore()
    for n in 1...8 { try buy(n, store) }
    try index(store)
    try store.execute("DELETE FROM events")
    try index(store)
    #expect(try store.reader.searchRuns().allSatisfy { $0.family == .payments })
    #expect(try find("user3@example.com", store) == [])
  }
}
