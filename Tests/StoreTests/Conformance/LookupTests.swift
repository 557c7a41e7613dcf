// Tests lookups: what is asked, when, and that an answer is one more observation in any order (R2, R9).

import Domain
import Formats
import Store
import TestSupport
import Testing

private let ios = AppProcessor("ios", "stripe")

private let asking: [AppSlug: AppRules] = [
  "ios": AppRules(join: JoinPolicy(settle: .zero), processors: .askedStripe, compose: TestStore.compose)
]

/// Stripe's answer about the subscription `n`.
private func answer(_ n: String = "1", user: String? = nil, price: PriceID? = "price_9") -> PurchaseReport {
  var said = Said.created(n, user: user, price: price)
  said.observations = []
  return said
}

@Suite("Lookups", .everyEngine)
struct LookupTests {
  private func due(_ store: TestStore, _ app: AppSlug = "ios") throws -> [DueLookup] {
    try store.reader.dueLookups(AppProcessor(app, "stripe"), now: store.now, limit: 100)
  }

  @Test func `A complete purchase is never looked up, and without a key none is`() throws {
    let store = try TestStore(rules: asking)
    try store.ingest(Said.completed(prices: ["price_1"]))
    #expect(try store.status() == "waiting/context")
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
    let other = try TestStore()
    try other.ingest(Said.completed())
    #expect(try other.status() == "waiting/price")
    #expect(try other.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test("A planned lookup keeps its pause if the clock is set back, and is due if it is set forward")
  func clockStep() throws {
    let store = try TestStore(rules: asking)
    try store.post(user: "u1")
    try store.ingest(Said.completed())
    store.advance(-2 * hour)
    _ = try store.apply(FollowClock(step: .hours(-2)))
    #expect(try store.reader.nextLookup(ios, after: store.now) == store.after(1500))
    store.advance(2 * hour)
    _ = try store.apply(FollowClock(step: .hours(2)))
    #expect(try due(store).count == 1)
  }

  @Test func `A purchase without a price is looked up after a delay, and an answer releases it`() throws {
    let store = try TestStore(rules: asking)
    try store.post(user: "u1")
    try store.ingest(Said.completed())
    #expect(try store.status() == "waiting/price")
    #expect(try due(store).isEmpty, "its sister events may come first")
    #expect(try store.reader.nextLookup(ios, after: store.now) == store.after(1500))
    store.advance(1500)
    let question = try #require(try due(store).first)
    #expect(question.key.id == "sub_1")
    #expect(question.sessionID == "cs_1")
    #expect(question.reason == .price)
    try store.apply(
      IngestLookup(
        ios, of: question.reference, asked: question.reason, reports: [answer()],
        nextAt: store.after(minute)))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_9 blob")
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try store.integer("SELECT count(*) FROM events") == 1, "an answer is no event")
  }

  @Test("After an answer without the data the next lookup comes later, also after a restart (R9)")
  func backOff() throws {
    let store = try TestStore(rules: asking)
    try store.ingest(Said.completed(user: nil, prices: ["price_1"]))
    #expect(try store.status() == "waiting/user")
    store.advance(2000)
    let question = try #require(try due(store).first)
    try store.apply(
      IngestLookup(
        ios, of: question.reference, asked: question.reason, reports: [], nextAt: store.after(10 * second)))
    try store.reopen()
    #expect(try due(store).isEmpty)
    store.advance(10 * second)
    #expect(try due(store).map(\.attempts) == [1])
    // It now lacks something else, for which no lookup was made yet.
    let other = try TestStore(rules: asking)
    try other.ingest(Said.completed(user: nil))
    other.advance(2000)
    let asked = try #require(try due(other).first).reference
    let half = answer(user: "u7", price: nil)
    try other.apply(IngestLookup(ios, of: asked, asked: .user, reports: [half], nextAt: other.after(day)))
    #expect(try other.status() == "waiting/price")
    other.advance(2000)
    #expect(try due(other).map(\.reason) == [.price])
  }

  @Test func `A late answer does not postpone the lookup of other missing data (R2)`() throws {
    let store = try TestStore(rules: asking)
    try store.ingest(Said.completed(user: nil))
    #expect(try store.status() == "waiting/user")
    store.advance(2000)
    let question = try #require(try due(store).first)
    #expect(question.reason == .user)
    // An event names the user while the lookup is under way.
    try store.ingest(Said.created(user: "u7", price: nil))
    #expect(try store.status() == "waiting/price")
    let planned = try #require(try store.reader.nextLookup(ios, after: store.now))
    for reports in [[], [answer(price: nil)]] {
      try store.apply(
        IngestLookup(
          ios, of: question.reference, asked: question.reason, reports: reports, nextAt: store.after(day)))
    }
    #expect(try store.reader.nextLookup(ios, after: store.now) == planned)
    store.now = planned
    let next = try #require(try due(store).first)
    #expect(next.reason == .price)
    #expect(next.attempts == 0)
    // An answer for the present reason does postpone it.
    try store.apply(
      IngestLookup(ios, of: next.reference, asked: next.reason, reports: [], nextAt: store.after(hour)))
    #expect(try store.reader.nextLookup(ios, after: store.now) == store.after(hour))
  }

  @Test func `The pauses grow, and an object that the processor does not know is looked up hours later`() {
    let pauses = (1...7).map { Lookup.pause(attempts: $0, isUnknown: false).milliseconds }
    #expect(pauses == [10 * second, minute, 10 * minute, hour, 6 * hour, 6 * hour, 6 * hour], "\(pauses)")
    #expect(Lookup.pause(attempts: 1, isUnknown: true) == .hours(6))
    #expect(Lookup.firstPause(JoinPolicy(), for: .price) == .milliseconds(1500))
    // Well before the context's own price would be used.
    #expect(
      Lookup.firstPause(JoinPolicy(waitForProcessorPrice: .seconds(1)), for: .price) == .milliseconds(250))
    #expect(Lookup.rest(failures: 1, retryAfter: .seconds(5)) == .seconds(5))
    #expect((1...20).map { Lookup.rest(failures: $0, retryAfter: nil) }.max() == .seconds(60))
  }

  @Test func `Events and answers in any order, and twice, make the same receipt (R2)`() throws {
    let steps: [(name: String, report: PurchaseReport, isAnswer: Bool)] = [
      ("completed", Said.completed(), false),
      ("answer", answer(price: "price_1"), true),
      ("invoice", Said.invoice(price: nil), false),
      ("again", answer(price: "price_1"), true),
    ]
    for order in TestEngine.orders(Array(steps.indices)) {
      let store = try TestStore(rules: asking)
      for step in order.map({ steps[$0] }) {
        if step.isAnswer {
          // An answer follows a lookup, which concerns a purchase that waited.
          let last = try store.integer("SELECT coalesce(max(row_id), 99) FROM purchases") ?? 99
          let asked = try store.reference(PurchaseRowID(last))
          try store.apply(
            IngestLookup(ios, of: asked, asked: .price, reports: [step.report], nextAt: store.after(hour)))
        } else {
          try store.ingest(step.report)
        }
      }
      let asked = try store.only().reference
      try store.apply(
        IngestLookup(
          ios, of: asked, asked: .price, reports: [answer(price: "price_1")], nextAt: store.after(hour))
      )
      store.advance(hour)
      try store.endWaits()
      #expect(
        try store.status() == "pending: u1 subscription sub_1 price_1 -", "\(order.map { steps[$0].name })")
      #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
    }
  }

  @Test func `The subscription of a checkout can be looked up, and the two rows are merged`() throws {
    let store = try TestStore(rules: asking)
    try store.ingest(Said.completed(named: false, prices: ["price_1"]))
    #expect(try store.status() == "waiting/subscription")
    store.advance(2000)
    let question = try #require(try due(store).first)
    #expect(question.key == PurchaseKey(type: .checkoutSession, id: "cs_1"))
    var said = Said.session("1", [])
    said.clientReference = "u1"
    try store.apply(
      IngestLookup(
        ios, of: question.reference, asked: question.reason, reports: [said], nextAt: store.after(hour)))
    #expect(try store.only().purchase.key == PurchaseKey(type: .subscription, id: "sub_1"))
    #expect(try store.status() == "waiting/context")
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `A receipt that an operator ended is not looked up any more`() throws {
    let store = try TestStore(rules: asking)
    try store.ingest(Said.completed())
    let id = try #require(try store.only().receipt?.id)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 1)
    #expect(try store.apply(CancelReceipt(id: id, note: "test")) == .done)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `Receipts that waited before a key was configured are scheduled, a slice at a time`() throws {
    let store = try TestStore()
    for n in 0..<700 { try store.ingest(Said.completed("\(n)", user: "u\(n)")) }
    var plan: PlanLookups? = PlanLookups(ios, reason: .price)
    var slices = 0
    while let next = plan {
      plan = try store.apply(next)
      slices += 1
    }
    #expect(slices == 2)
    #expect(try due(store).count == 100)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 700)
  }

  @Test("A gap longer than backfill_after is backfilled from shortly before it, until that succeeds")
  func service() throws {
    let store = try TestStore(rules: asking)
    let start = NoteService(backfillAfter: [ios: .minutes(10)])
    #expect(try store.apply(start) == nil)
    #expect(try store.reader.backfills() == [:], "the first start has missed nothing")
    store.advance(9 * minute)
    #expect(try store.apply(start) == TestStore.start)
    #expect(try store.reader.backfills() == [:])
    let last = store.now
    store.advance(10 * minute)
    _ = try store.apply(start)
    let since = last.advanced(by: .milliseconds(-5 * minute))
    #expect(try store.reader.backfills() == [ios: since])
    // Interrupted, and down again for long: the backfill begins where the first one would have.
    store.advance(day)
    try store.reopen()
    _ = try store.apply(start)
    #expect(try store.reader.backfills() == [ios: since])
    try store.apply(NoteBackfilled(ios, since: since))
    #expect(try store.reader.backfills() == [:])
  }
}
