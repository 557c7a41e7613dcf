// Tests that a purchase waits a moment for its events, so that their order does not matter (R2).

import Domain
import Store
import TestSupport
import Testing

/// The final status of a purchase for one order of its events.
private func end(
  of reports: [PurchaseReport], pause: Int64, _ store: TestStore, _ key: ObjectID
) throws -> String? {
  for report in reports {
    try store.ingest(report)
    store.advance(pause)
    try store.endWaits()
  }
  store.advance(3 * minute)
  try store.endWaits()
  return try store.receipts().first { $0.purchase.key.id == key }.map(TestStore.status)
}

@Suite("Events that are waited for", .everyEngine)
struct SettleTests {
  private let rules = TestStore.rules(settle: .seconds(5))

  /// Runs the events in every order, each order in its own store.
  private func everyOrder(
    _ reports: (ContextID) -> [PurchaseReport], pause: Int64 = 100, ends expected: String?
  ) throws {
    for order in TestEngine.orders(Array(reports("").indices)) {
      let store = try TestStore(rules: rules)
      let named = try store.post("named", price: "price_1")
      store.advance(1)
      try store.post("newer", price: "price_1")
      let all = reports(named)
      let ended = try end(of: order.map { all[$0] }, pause: pause, store, "sub_1")
      #expect(ended == expected, "\(order)")
      guard let ended, ended.hasPrefix("pending") else { continue }
      #expect(try store.context(named).receiptID == store.only().receipt?.id, "\(order)")
    }
  }

  @Test func `A subscription event that arrives first claims no other context than the named one`() throws {
    let sent = "pending: u1 subscription sub_1 price_1 named"
    try everyOrder(
      { [Said.created(user: "u1"), Said.completed(user: $0.text), Said.invoice(user: "u1")] }, ends: sent)
    try everyOrder({ [Said.created(user: "u1"), Said.completed(contextID: $0)] }, ends: sent)
  }

  @Test("A price that a lookup found first is replaced by an event's until the receipt is sent")
  func lookedUpPrice() throws {
    let store = try TestStore(rules: rules)
    var found = Said.completed(user: "u1", prices: ["price_2"])
    found.pricesFillIn = true
    try store.post("blob", user: "u1")
    try store.ingest(found)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_2 blob")
    try store.ingest(Said.created(user: "u1", price: "price_1"))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
  }

  @Test("An invoice with a meter's line makes no receipt of the meter, in any order of the events")
  func meteredInvoice() throws {
    var invoice = Said.invoice(user: "u1")
    invoice.prices = ["price_meter", "price_plan"]
    invoice.pricesAreUnranked = true
    var subscription = Said.created(user: "u1")
    subscription.prices = ["price_plan", "price_meter"]
    for reports in permutations([invoice, subscription, Said.completed(user: "u1")]) {
      let store = try TestStore(rules: rules)
      try store.post("blob", user: "u1")
      for report in reports { try store.ingest(report) }
      #expect(try store.status() == "pending: u1 subscription sub_1 price_plan blob")
    }
  }

  @Test func `A price from an earlier event precedes that of the named context`() throws {
    let store = try TestStore(rules: rules)
    let named = try store.post("named", price: "price_1")
    try store.ingest(Said.created(user: "u1", price: "price_2"))
    try store.ingest(Said.completed(user: named.text))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_2 named")
    #expect(try store.only().receipt?.priceMismatch == true)
  }

  @Test func `A checkout that names a context with Stripe's price waits for no other event`() throws {
    let store = try TestStore(rules: rules)
    let named = try store.post("named", price: "price_1")
    try store.ingest(Said.completed(user: named.text))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 named")
  }

  @Test func `A delayed payment never counts as paid before it arrives, in any order`() throws {
    let began = [Said.created(user: "u1")]
    try everyOrder({ began + [Said.completed(user: $0.text, unpaid: true)] }, ends: "waiting/payment")
    try everyOrder(
      { began + [Said.completed(user: $0.text, unpaid: true), Said.session("1", .paid)] },
      ends: "pending: u1 subscription sub_1 price_1 named")
    let failed = Said.session("1", [.promised, .failed])
    try everyOrder(
      { began + [Said.completed(user: $0.text, unpaid: true), failed] }, ends: "cancelled/payment_failed")
  }

  @Test("A purchase known only from related events waits for its checkout for the configured time")
  func wait() throws {
    let store = try TestStore(rules: rules)
    let id = try store.post(price: "price_1")
    try store.ingest(Said.created(user: "u1"))
    #expect(try store.status() == "waiting/checkout")
    #expect(try store.context(id).state == .open)
    store.advance(5 * second - 1)
    try store.endWaits()
    #expect(try store.status() == "waiting/checkout")
    store.advance(1)
    try store.endWaits()
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
  }

  @Test("A guess for a payment that is under way is made again when the price is known, in every order")
  func guessBeforePrice() throws {
    let reports = [
      Said.completed(unpaid: true), Said.created(price: "price_2"), Said.session("1", .paid),
    ]
    for order in TestEngine.orders([0, 1, 2]) {
      let store = try TestStore(rules: rules)
      let fitting = try store.post("fitting", price: "price_2")
      store.advance(1)
      let other = try store.post("other", price: "price_1")
      let ended = try end(of: order.map { reports[$0] }, pause: 100, store, "sub_1")
      #expect(ended == "pending: u1 subscription sub_1 price_2 fitting", "\(order)")
      #expect(try store.context(fitting).state == .paid)
      #expect(try store.context(other).receiptID == nil)
    }
  }

  /// Of two purchases of a user the first guessed a context before its price was known, and is bought at
  /// another price. It keeps the context while it settles; the second, which has the price, waits for it.
  private func guessedWrongly(_ rules: [AppSlug: AppRules]) throws -> TestStore {
    let store = try TestStore(rules: rules)
    let context = try store.post(price: "price_1")
    var due = Said.created(active: false, user: "u1", price: nil)
    due.observations = .firstPaymentDue
    try store.ingest(due)
    try store.ingest(Said.invoice(user: "u1", price: "price_2"))
    try store.ingest(Said.completed("2", prices: ["price_1"]))
    #expect(try store.receipts().map(\.purchase.contextID) == [context, nil])
    #expect(try store.receipts().map(TestStore.status) == ["waiting/checkout", "waiting/context"])
    return store
  }

  private let corrected = ["waiting/context", "pending: u1 subscription sub_2 price_1 blob"]

  @Test func `A context that the end of a wait frees goes to a purchase that waits for it`() throws {
    let store = try guessedWrongly(rules)
    store.advance(5 * second)
    try store.endWaits()
    #expect(try store.receipts().map(TestStore.status) == corrected)
  }

  @Test func `A context that a reload frees goes to a purchase that was decided before`() throws {
    // The second purchase's wait ends first, so the reload decides about it first.
    let store = try guessedWrongly(TestStore.rules(settle: .seconds(600)))
    try store.reload(TestStore.rules)
    #expect(try store.receipts().map(TestStore.status) == corrected)
  }

  @Test func `The checkout ends the wait at once, and so does an answer that there is none`() throws {
    let answers = [
      Said.completed(),
      PurchaseReport(
        key: PurchaseKey(type: .subscription, id: "sub_1"), observations: .soldWithoutCheckout,
        happenedAt: TestStore.start),
    ]
    for answer in answers {
      let store = try TestStore(rules: rules)
      try store.post(price: "price_1")
      try store.ingest(Said.created(user: "u1"))
      try store.ingest(answer)
      #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    }
  }

  @Test func `A lookup that was refused holds a receipt no longer than without a key`() throws {
    let asking: [AppSlug: AppRules] = [
      "ios": AppRules(join: JoinPolicy(), processors: .askedStripe, compose: TestStore.compose)
    ]
    let store = try TestStore(rules: asking)
    try store.post(price: "price_1")
    try store.ingest(Said.created(user: "u1"))
    try store.ingest(
      PurchaseReport(
        key: PurchaseKey(type: .subscription, id: "sub_1"), observations: .checkoutRefused,
        happenedAt: TestStore.start))
    store.advance(4 * second)
    try store.endWaits()
    #expect(try store.status() == "waiting/checkout")
    store.advance(second)
    try store.endWaits()
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
  }

  @Test func `With a key the checkout is looked up, and a missing answer delays nothing for ever`() throws {
    let asking: [AppSlug: AppRules] = [
      "ios": AppRules(join: JoinPolicy(), processors: .askedStripe, compose: TestStore.compose)
    ]
    let store = try TestStore(rules: asking)
    try store.post(price: "price_1")
    try store.ingest(Said.created(user: "u1"))
    store.advance(2 * second)
    let due = try #require(
      try store.reader.dueLookups(AppProcessor("ios", "stripe"), now: store.now, limit: 9).first)
    #expect(due.reason == .checkout)
    #expect(due.key.id == "sub_1")
    #expect(due.sessionID == nil)
    store.advance(27 * second)
    try store.endWaits()
    #expect(try store.status() == "waiting/checkout")
    store.advance(second)
    try store.endWaits()
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test("A purchase that ended without a receipt gets none when the customer buys another product")
  func ended() throws {
    for observations in [Observations.ended, [.ended, .failed]] {
      for isFirst in [false, true] {
        let store = try TestStore(rules: rules)
        try store.post(price: "price_1")
        var over = Said.created("1", customer: "cus_x")
        over.observations = observations
        let began = Said.created("1", customer: "cus_x")
        for report in isFirst ? [over, began] : [began, over] { try store.ingest(report) }
        var bought = Said.completed("2", prices: ["price_1"])
        bought.customerID = "cus_x"
        try store.ingest(bought)
        store.advance(hour)
        try store.endWaits()
        #expect(try store.status() == "pending: u1 subscription sub_2 price_1 blob")
        try store.ingest(Said.completed("1", prices: ["price_1"]))
        #expect(try store.receipts().count == 1, "not even when its checkout comes late")
      }
    }
  }

  @Test func `A subscription that ends once it has a receipt keeps it`() throws {
    let store = try TestStore(rules: rules)
    try store.ingest(Said.created(user: "u1"))
    var over = Said.created()
    over.observations = .ended
    try store.ingest(over)
    store.advance(3 * minute)
    try store.endWaits()
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 -")
  }
}
