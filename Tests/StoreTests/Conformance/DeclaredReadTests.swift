// Tests that a batch declares what it reads, so that an engine whose reads cost a round trip can prefetch it.

import Domain
import Testing

@testable import Store

/// Reads a key that it has not declared.
private struct ReadSecretly: StoreCommand {
  var reads: [ReadKey] { [.user(app: "ios", id: "u1")] }

  func apply(to store: StoreSession) throws(StoreFault) {
    _ = try store.purchases.find(app: "ios", "stripe", soldBy: "cs_secret")
    _ = try store.purchases.find(row: 77)
  }
}

@Suite("Reads that are declared", .everyEngine)
struct DeclaredReadTests {
  private static let words: Set<String> = Set(
    TestStore.rules.keys.map(\.text) + ["stripe", "subscription", "checkout_session", "pay", "payment"]
      // The account of a payer whose processor names none, and of rows from older versions.
      + [""]
      // A context inside an event is compared with those of its user.
      + (0..<40).map { "blob \($0)" })

  private func recorded() throws -> (TestStore, ReadRecord) {
    let record = ReadRecord(words: Self.words)
    return (try TestStore(record: record), record)
  }

  @Test func `A command with an undeclared read is detected`() throws {
    let (store, record) = try recorded()
    try store.apply(ReadSecretly())
    #expect(record.undeclared.map { $0.prefix(9) } == ["a key of ", "row 77 in"])
  }

  @Test(arguments: 11...14)
  func `Commands read only declared rows and rows to which those refer`(seed: UInt64) throws {
    let record = ReadRecord(words: Self.words)
    var happening = try RandomStore(seed: seed, record: record)
    for step in 0..<TestEngine.current.randomSteps {
      try happening.step()
      try #require(record.undeclared == [], "seed \(seed), step \(step): \(happening.last)")
    }
    #expect(record.fetches.count > TestEngine.current.randomSteps / 2)
  }

  @Test func `Events of a forgotten user are also declared under their hashes`() throws {
    let (store, record) = try recorded()
    try store.ingest(Said.completed(prices: ["price_1"]), id: "evt_1")
    let row = try #require(try store.reader.purchases(ofUser: "u1", limit: 1).first?.row)
    _ = try store.apply(ForgetPurchases(rows: [row], cancelsOpen: true))
    #expect(try store.ingest(Said.completed(prices: ["price_1"]), id: "evt_1") == .repeated)
    #expect(try store.ingest(Said.invoice(), id: "evt_2") == .stored(.erased))
    #expect(record.undeclared == [])
  }

  @Test func `A payer is declared, after an erasure also under its hash`() throws {
    let (store, record) = try recorded()
    let command = AcquirePayer("payer", for: "u1", at: AppProcessor("ios", "pay"))
    #expect(try store.apply(command))
    #expect(try store.apply(ForgetUserRows(.payers, app: "ios", userID: "u1")) == 1)
    #expect(try store.apply(command))
    #expect(record.fetches.last?.count == 2)
    #expect(record.undeclared == [])
  }

  @Test func `A batch is fetched once, with everything that its commands declare`() throws {
    let (store, record) = try recorded()
    let answers = Answers()
    let event = IngestEvent(
      app: "ios", processor: "stripe", eventID: "evt_1", type: "t", body: [],
      content: .report(Said.completed(user: "u2"), keep: true))
    let context = store.contextCommand("blob 1", user: "u1")
    let result = store.writer.apply(
      [
        answers.submission("context", WhileConfigured("ios", context)),
        answers.submission("event", WhileConfigured("ios", event)), answers.submission("pulse", Pulse()),
      ], now: store.now)
    #expect(result.fault == nil)
    #expect(record.fetches.count == 1)
    #expect(
      record.fetches.last == [
        .user(app: "ios", id: "u1"), .blob(app: "ios", user: "u1", digest: context.digest),
        .event(app: "ios", processor: "stripe", id: "evt_1"), .contexts(app: "ios", user: "u2"),
        .object(app: "ios", key: Said.completed().key), .session(app: "ios", processor: "stripe", id: "cs_1"),
        .customer(app: "ios", processor: "stripe", id: "cus_1"), .user(app: "ios", id: "u2"),
      ])
    #expect(record.undeclared == [])
  }

  @Test func `A command about a receipt declares its row, also when it is wrapped`() throws {
    let (store, record) = try recorded()
    try store.ingest(Said.completed(prices: ["price_1"]))
    let receipt = try store.only()
    let id = try #require(receipt.receipt?.id)
    let cancel = CancelReceipt(id: id, note: "why")
    let replay = ReceiptChange.replay(ReplayReceipt(id: id, force: false, dueAt: store.now))
    let row = [ReadKey.purchase(row: receipt.rowID)]
    #expect(cancel.reads == row)
    #expect(CommandList([cancel, cancel]).reads == row + row)
    #expect(Audited(replay) { _ in nil }.reads == row)
    _ = try store.apply(Audited(cancel) { _ in nil })
    _ = try store.apply(replay)
    #expect(record.undeclared == [])
  }
}
