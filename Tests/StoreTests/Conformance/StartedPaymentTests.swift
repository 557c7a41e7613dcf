// Tests payments that start at the relay: a start makes no receipt, claims the context that it names, and is
// found by its user only.

import Domain
import Store
import Testing

@Suite("Payments that start at the relay", .everyEngine)
struct StartedPaymentTests {
  private let store: TestStore

  init() throws { store = try TestStore() }

  @discardableResult
  private func report(_ said: PurchaseReport) throws -> Bool {
    try store.apply(StorePayment(app: "ios", said))
  }

  private func found(_ n: String = "1", by user: UserID = "u1") throws -> PurchaseRecord? {
    try store.reader.startedPayment(Said.payKey(n), app: "ios", user: user)
  }

  private func contextOf(_ n: String) throws -> ContextID? { try found(n)?.purchase.contextID }

  @Test("A started payment has no receipt, waits for nothing and is no event; a restart keeps it (R9)")
  func started() throws {
    var said = Said.pay(.started, by: "u1")
    said.payment = PaymentFacts(
      amount: "59.99", currency: "USD", isCaptured: false, reference: "ref1", details: #"{"a":"b"}"#)
    #expect(try report(said))
    try store.reopen()
    store.advance(30 * day)
    try store.endWaits()
    #expect(try store.receipts().isEmpty)
    #expect(try store.integer("SELECT count(*) FROM events") == 0)
    let record = try #require(try found())
    #expect(record.receipt == nil)
    #expect(record.purchase.payment == said.payment)
    #expect(record.purchase.userID == "u1")
    #expect(record.purchase.observations == .started)
    #expect(record.purchase.createdAt == TestStore.start)
  }

  @Test(arguments: [Observations.started, .closed, .reversed, [.closed, .reversed]])
  func `Without a payment no observation of it makes a receipt`(observations: Observations) throws {
    try report(Said.pay(.started, by: "u1"))
    try report(Said.pay(observations))
    store.advance(30 * day)
    try store.endWaits()
    #expect(try store.receipts().isEmpty)
  }

  @Test("When it is paid, its receipt has its user and the context that was named at the start")
  func paid() throws {
    let named = try store.post("named")
    store.advance(second)
    try store.post("newer")
    try report(Said.pay(.started, by: "u1", in: named))
    #expect(try store.context(named).state == .open)
    // The processor's answer names neither.
    try report(Said.pay(.paid))
    #expect(try store.status() == "pending: u1 payment pay_1 price_1 named")
    #expect(try store.context(named).state == .paid)
  }

  @Test("CA30: The status of a payment is found by its id, in its app only, from its start to its end")
  func status() throws {
    func status(_ n: String = "1", app: AppSlug = "ios") throws -> CheckoutStatus? {
      try store.reader.status(app: app, paymentID: Said.payKey(n).id)
    }
    #expect(try status() == nil)
    let named = try store.post("named")
    try report(Said.pay(.started, by: "u1", in: named))
    #expect(try status()?.state == .open)
    #expect(try status()?.paid == false)
    #expect(try status()?.contextID == named)
    #expect(try status(app: "web") == nil)
    #expect(try status("2") == nil)
    try report(Said.pay(.paid))
    #expect(try status()?.state == .paid)
    #expect(try status()?.paid == true)
    try report(Said.pay(.started, "2", by: "u1"))
    try report(Said.pay(.closed, "2"))
    #expect(try status("2")?.state == .cancelled)
    #expect(try status("2")?.paid == false)
  }

  @Test func `A payment that was not started through the relay has no status by its id`() throws {
    try report(Said.pay(.paid))
    #expect(try store.reader.status(app: "ios", paymentID: Said.payKey("1").id) == nil)
  }

  @Test func `Without a named context the user's newest one is guessed when it is paid, not before`() throws {
    try report(Said.pay(.started, by: "u1"))
    try store.post("late")
    #expect(try contextOf("1") == nil)
    try report(Said.pay(.paid))
    #expect(try store.status() == "pending: u1 payment pay_1 price_1 late")
  }

  @Test func `A payment is reversed or closed after it was paid: its receipt stays`() throws {
    try store.post()
    try report(Said.pay(.started, by: "u1"))
    try report(Said.pay(.paid))
    let before = try store.status()
    try report(Said.pay([.reversed, .closed]))
    #expect(try store.status() == before)
    #expect(try store.only().purchase.observations == [.started, .paid, .reversed, .closed])
  }

  @Test func `A second payment with the same context takes it from one that was only started`() throws {
    let context = try store.post("blob")
    try report(Said.pay(.started, "1", by: "u1", in: context))
    try report(Said.pay(.started, "2", by: "u1", in: context))
    #expect(try contextOf("1") == nil)
    #expect(try contextOf("2") == context)
    try report(Said.pay(.paid, "2"))
    #expect(try store.status() == "pending: u1 payment pay_2 price_1 blob")
    // A paid one keeps it.
    try report(Said.pay(.started, "3", by: "u1", in: context))
    #expect(try contextOf("2") == context)
    #expect(try contextOf("3") == nil)
  }

  @Test func `A payment that ended without money releases its context, for a waiting purchase, too`() throws {
    let context = try store.post("blob")
    try report(Said.pay(.started, "1", by: "u1", in: context))
    try report(Said.pay(.started, "2", by: "u1"))
    try report(Said.pay(.paid, "2"))
    #expect(try store.status() == "waiting/context")
    try report(Said.pay(.closed, "1"))
    #expect(try contextOf("1") == nil)
    #expect(try store.status() == "pending: u1 payment pay_2 price_1 blob")
  }

  @Test func `A payment claims no context of another user`() throws {
    let foreign = try store.post("foreign", user: "u2")
    try report(Said.pay(.started, by: "u1", in: foreign))
    try report(Said.pay(.paid))
    #expect(try store.only().purchase.userID == "u1")
    #expect(try store.status() == "waiting/context")
    #expect(try store.context(foreign).state == .open)
  }

  @Test func `A payment is found by its own user, processor and app only`() throws {
    try report(Said.pay(.started, by: "u1"))
    #expect(try found() != nil)
    #expect(try found(by: "u2") == nil)
    #expect(try found("2") == nil)
    var other = Said.payKey()
    other.processor = "other"
    #expect(try store.reader.startedPayment(other, app: "ios", user: "u1") == nil)
    #expect(try store.reader.startedPayment(Said.payKey(), app: "web", user: "u1") == nil)
    // A purchase that did not start at the relay is no payment of it.
    try store.ingest(Said.completed())
    let key = try store.only().purchase.key
    #expect(try store.reader.startedPayment(key, app: "ios", user: "u1") == nil)
  }

  @Test func `A context is found by its own user and app only`() throws {
    let id = try store.post(user: "u1")
    #expect(try store.reader.hasContext(id, app: "ios", user: "u1"))
    #expect(try !store.reader.hasContext(id, app: "ios", user: "u2"))
    #expect(try !store.reader.hasContext(id, app: "web", user: "u1"))
    #expect(try !store.reader.hasContext("", app: "ios", user: "u1"))
  }

  @Test func `A forgotten user's payment is emptied, and what comes later about it is not stored`() throws {
    var said = Said.pay(.started, by: "u1")
    said.payment = PaymentFacts(amount: "59.99", currency: "USD", reference: "ref-of-u1")
    try report(said)
    let rows = try store.reader.purchases(ofUser: "u1", limit: 10).map(\.row)
    #expect(rows.count == 1)
    _ = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    let dump = try TestEngine.current.dump(store.folder)
    for text in ["ref-of-u1", "pay_1", "59.99"] { #expect(!dump.contains(text), "\(text)") }
    #expect(try found() == nil)
    #expect(try !report(Said.pay(.paid)))
    #expect(try store.receipts().isEmpty)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 1)
  }

  @Test func `A started payment is kept as long as purchases without a receipt are`() throws {
    try report(Said.pay(.started, by: "u1"))
    store.advance(hour)
    #expect(try store.apply(RetainNoted(cutoff: TestStore.start)).deleted == 0)
    #expect(try store.apply(RetainNoted(cutoff: store.now)).deleted == 1)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 0)
  }

  @Test func `While the app is not configured nothing is stored`() throws {
    let report = Said.pay(.started, by: "u1")
    #expect(try store.apply(WhileConfigured("gone", StorePayment(app: "gone", report))) == nil)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 0)
  }
}
