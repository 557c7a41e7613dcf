// What counts as bought: trials before their card, invoices that are sent, events of an organisation, and
// events without their object.

import Domain
import Formats
import Partners
import Testing

private let created: JSONValue = "customer.subscription.created"
private let updated: JSONValue = "customer.subscription.updated"

private func changed(_ object: JSONValue, _ previous: JSONValue) -> JSONValue {
  event(updated, .null, [("data", ["object": object, "previous_attributes": previous])])
}

@Suite("What counts as bought at Stripe") struct StripeBoughtTests {
  private static let trial = object(
    activeSubscription, ("status", "trialing"), ("pending_setup_intent", "seti_1"))

  @Test func `A trial before its card is a promise; one without a card is bought`() throws {
    #expect(try report(event(created, Self.trial)).observations == .firstPaymentDue)
    let expanded = object(Self.trial, ("pending_setup_intent", ["id": "seti_1"]))
    #expect(try report(event(created, expanded)).observations == .firstPaymentDue)
    let cardless = object(Self.trial, ("pending_setup_intent", .null))
    #expect(try report(event(created, cardless)).observations == .began)
  }

  @Test func `A trial begins when its setup intent is cleared, and that event is kept`() throws {
    let done = changed(
      object(Self.trial, ("pending_setup_intent", .null)), ["pending_setup_intent": "seti_1"])
    #expect(try report(done).observations == .began)
    #expect(try isKept(done) == true)
    let replaced = changed(
      object(Self.trial, ("pending_setup_intent", "seti_2")), ["pending_setup_intent": "seti_1"])
    #expect(try report(replaced).observations == [])
    let added = changed(Self.trial, ["pending_setup_intent": .null])
    #expect(try report(added).observations == [])
  }

  @Test("A later event of a trial shows that its setup intent was cleared, if the event of that was lost")
  func clearedBefore() throws {
    let open = object(Self.trial, ("pending_setup_intent", .null))
    #expect(try report(changed(open, ["metadata": [:]])).observations == .trialSecured)
    #expect(try isKept(changed(open, ["metadata": [:]])) == false)
    #expect(try report(event("customer.subscription.trial_will_end", open)).observations == .trialSecured)
    let sent = object(open, ("collection_method", "send_invoice"))
    #expect(try report(changed(sent, ["metadata": [:]])).observations == [])
    #expect(try report(changed(object(open, ("status", "active")), ["metadata": [:]])).observations == [])
  }

  @Test func `The invoice of a trial, over nothing, proves no payment; one with an amount does`() throws {
    let free = object(firstInvoice, ("total", 0), ("amount_due", 0), ("amount_paid", 0))
    #expect(try report(event("invoice.paid", free)).observations == [])
    #expect(try isKept(event("invoice.paid", free)) == true, "it may name the user")
    let paid = object(firstInvoice, ("total", 999), ("amount_paid", 0), ("amount_due", 0))
    #expect(try report(event("invoice.paid", paid)).observations == [.firstPaymentMade, .invoicePaid])
  }

  @Test(arguments: ["active", "trialing"])
  func `A subscription whose invoice is sent is a promise`(status: String) throws {
    let sent = object(activeSubscription, ("status", .string(status)), ("collection_method", "send_invoice"))
    #expect(try report(event(created, sent)).observations == .firstPaymentDue)
    let charged = object(sent, ("collection_method", "charge_automatically"))
    #expect(try report(event(created, charged)).observations == .began)
  }

  @Test(arguments: ["subscription_cycle", "subscription_update", "manual", nil])
  func `Any paid invoice is noted, whatever its reason`(reason: String?) throws {
    let invoice = object(firstInvoice, ("billing_reason", reason.map(JSONValue.string)))
    #expect(try report(event("invoice.paid", invoice)).observations == .invoicePaid)
    #expect(try isKept(event("invoice.paid", invoice)) == false, "a renewal begins no purchase")
  }
}

@Suite("Stripe's accounts") struct StripeAccountTests {
  private static func outcome(
    _ more: [(String, JSONValue)], account: String? = nil, accounts: StripeSettings.Accounts = .own
  ) throws -> EventOutcome? {
    var settings = StripeSettings(accounts: accounts)
    settings.account = account
    return try PartnersTests.outcome(event("checkout.session.completed", paidSession, more), settings)
  }

  @Test("An event of an organisation names its account in `context`, and is refused like a connected one")
  func context() throws {
    #expect(try Self.outcome([("context", "acct_other")]) == .otherAccount)
    #expect(try Self.outcome([("context", "acct_other")], account: "acct_own") == .otherAccount)
    #expect(try Self.outcome([("context", "acct_other")], accounts: .any) == nil)
    #expect(try Self.outcome([("context", "acct_other")], accounts: .ownAnd(["acct_other"])) == nil)
    #expect(try Self.outcome([("context", "acct_own")]) == .otherAccount)
    #expect(try Self.outcome([("context", .null)]) == nil)
  }

  @Test func `The app's own account may be named`() throws {
    #expect(try Self.outcome([("context", "acct_own")], account: "acct_own") == nil)
    #expect(try Self.outcome([("account", "acct_own")], account: "acct_own") == nil)
    #expect(try Self.outcome([], account: "acct_own") == nil)
    let both: [(String, JSONValue)] = [("account", "acct_own"), ("context", "acct_other")]
    #expect(try Self.outcome(both, account: "acct_own") == .otherAccount)
  }

  @Test func `Of a path of accounts, the last one has the object`() throws {
    #expect(try Self.outcome([("context", "acct_own/acct_other")], account: "acct_own") == .otherAccount)
    #expect(try Self.outcome([("context", "acct_other/acct_own")], account: "acct_own") == nil)
  }
}

@Suite("Stripe's thin events") struct StripeThinTests {
  private static func thin(_ type: JSONValue, _ id: JSONValue = "cs_1") -> JSONValue {
    [
      "id": "evt_1", "object": "v2.core.event", "type": type, "livemode": false,
      "created": "2026-11-28T07:00:00.000Z", "context": .null,
      "related_object": ["id": id, "type": "x", "url": "/v1/x"],
    ]
  }

  private static func content(_ body: JSONValue, fetches: Bool = true) throws -> EventReading.Content {
    var settings = StripeSettings()
    settings.fetches = fetches
    return try read(body, settings).content
  }

  @Test(
    "Without a key it cannot be read, and the reason is that it is thin",
    arguments: [
      ("v1.checkout.session.completed", true), ("v1.customer.subscription.created", true),
      ("v1.invoice.paid", true), ("v1.checkout.session.expired", false),
    ] as [(JSONValue, Bool)])
  func unparsed(type: JSONValue, maySell: Bool) throws {
    let body = Self.thin(type)
    #expect(try Self.content(body, fetches: false) == .nothing(.unparsed))
    #expect(
      StripeProcessor.unreadable(in: body.serialized())
        == ReadingFault(field: ReadingFault.thin, maySell: maySell))
  }

  @Test func `With a key the object is fetched`() throws {
    #expect(
      try Self.content(Self.thin("v1.checkout.session.completed"))
        == .fetchFirst(session("cs_1"), sessionID: "cs_1", isWorthKeeping: true))
    #expect(
      try Self.content(Self.thin("v1.checkout.session.expired"))
        == .fetchFirst(session("cs_1"), sessionID: "cs_1", isWorthKeeping: false))
    #expect(
      try Self.content(Self.thin("v1.customer.subscription.created", "sub_1"))
        == .fetchFirst(subscription("sub_1"), sessionID: nil, isWorthKeeping: true))
    #expect(
      try Self.content(Self.thin("v1.customer.subscription.updated", "sub_1"))
        == .fetchFirst(subscription("sub_1"), sessionID: nil, isWorthKeeping: false))
  }

  @Test(
    "A paid invoice and a customer are fetched by their own ids, which are no purchases'",
    arguments: [
      ("v1.invoice.paid", "invoice"), ("v1.invoice.payment_succeeded", "invoice"),
      ("v1.customer.created", "customer"), ("v1.customer.updated", "customer"),
    ] as [(JSONValue, String)])
  func named(type: JSONValue, object: String) throws {
    let key = PurchaseKey(processor: "stripe", type: PurchaseKey.ObjectType(object), id: "x_1")
    #expect(
      try Self.content(Self.thin(type, "x_1")) == .fetchFirst(key, sessionID: nil, isWorthKeeping: true))
    #expect(try Self.content(Self.thin(type, "x_1"), fetches: false) == .nothing(.unparsed))
    #expect(try Self.content(Self.thin(type, .null)) == .nothing(.unparsed), "it names nothing")
  }

  @Test func `That a delayed payment failed, the type of the event says, and no object does`() throws {
    let body = Self.thin("v1.checkout.session.async_payment_failed")
    for fetches in [true, false] {
      guard case .purchase(let report, let isWorthKeeping) = try Self.content(body, fetches: fetches) else {
        Issue.record("it is fetched")
        continue
      }
      #expect(report.key == session("cs_1"))
      #expect(report.sessionID == "cs_1")
      #expect(report.observations == [.promised, .failed])
      #expect(isWorthKeeping == fetches, "without a key the checkout itself could not be read")
    }
  }

  private static func answer(
    _ body: JSONValue, _ type: PurchaseKey.ObjectType, _ id: ObjectID
  ) throws -> EventReading.Content? {
    let queries = try #require(
      try StripeProcessor(StripeSettings(), webhookSecrets: [], apiKey: "rk_1").queries)
    let key = PurchaseKey(processor: "stripe", type: type, id: id)
    return queries.event(from: body.serialized(), about: key, now: readAt)
  }

  @Test(arguments: [
    firstInvoice, object(firstInvoice, ("billing_reason", "subscription_cycle")),
    object(firstInvoice, ("total", 0)), object(firstInvoice, ("status", "open")),
    object(firstInvoice, ("subscription", .null)),
  ])
  func `A fetched invoice says of its subscription what its snapshot would`(_ invoice: JSONValue) throws {
    let fetched = try #require(try Self.answer(invoice, "invoice", "in_1"))
    let said = try read(event("invoice.paid", invoice)).content
    guard case .purchase(var report, let isWorthKeeping) = fetched else {
      #expect(fetched == .nothing(.ignored))
      #expect(fetched == said)
      return
    }
    #expect(report.happenedAt == readAt)
    report.happenedAt = happenedAt
    #expect(said == .purchase(report, isWorthKeeping: isWorthKeeping))
  }

  @Test("A fetched customer names its users, and a fetched session that sells nothing those of its customer")
  func customers() throws {
    let customer: JSONValue = ["id": "cus_1", "object": "customer", "metadata": ["user_id": "u20"]]
    let facts = CustomerFacts(
      customerID: "cus_1", names: [NamedUser(id: "u20", source: .customerMetadata, standing: .counts)],
      areOfCustomer: true, happenedAt: readAt)
    #expect(try Self.answer(customer, "customer", "cus_1") == .customer(facts))
    let setup = object(paidSession, ("mode", "setup"), ("subscription", .null))
    guard case .customer(let learned)? = try Self.answer(setup, "checkout_session", "cs_1") else {
      Issue.record("a setup session sells nothing")
      return
    }
    #expect(learned.clientReference == "u1")
    #expect(!learned.areOfCustomer)
    let expired = object(setup, ("status", "expired"))
    #expect(try Self.answer(expired, "checkout_session", "cs_1") == .nothing(.ignored))
  }

  @Test func `An answer about another object, and one about a purchase, is no event's`() throws {
    #expect(try Self.answer(firstInvoice, "invoice", "in_2") == nil)
    #expect(try Self.answer(firstInvoice, "customer", "in_1") == nil)
    #expect(try Self.answer(paidSession, "checkout_session", "cs_1") == nil)
    #expect(try Self.answer(activeSubscription, "subscription", "sub_1") == nil)
    #expect(try Self.answer(["id": "in_1"], "invoice", "in_1") == nil)
  }

  @Test func `A key that may not read invoices or customers stops no other query`() throws {
    let queries = try #require(
      try StripeProcessor(StripeSettings(), webhookSecrets: [], apiKey: "rk_1").queries)
    func asked(_ type: PurchaseKey.ObjectType) -> [ProcessorQuery] {
      let key = PurchaseKey(processor: "stripe", type: type, id: "x_1/y")
      return queries.lookups(of: key, sessionID: nil, lacking: nil)
    }
    #expect(asked("invoice") == [ProcessorQuery(target: "/v1/invoices/x_1%2Fy", isOptional: true)])
    #expect(asked("customer") == [ProcessorQuery(target: "/v1/customers/x_1%2Fy", isOptional: true)])
  }

  @Test(
    arguments: [
      "v1.charge.succeeded", "v1.payment_intent.succeeded", "v2.core.event_destination.ping",
      "v1.invoice.created", "v1.customer.deleted", "v1.customer.discount.created",
    ] as [JSONValue])
  func `Events about other things are ignored`(type: JSONValue) throws {
    #expect(try Self.content(Self.thin(type)) == .nothing(.ignored))
    #expect(try Self.content(Self.thin(type), fetches: false) == .nothing(.ignored))
  }

  @Test func `One of another account or mode is not fetched`() throws {
    let other = object(Self.thin("v1.checkout.session.completed"), ("context", "acct_other"))
    #expect(try Self.content(other) == .nothing(.otherAccount))
  }

  @Test func `A fetched object counts as if it had been in the event`() throws {
    let queries = try #require(
      try StripeProcessor(StripeSettings(), webhookSecrets: [], apiKey: "rk_1").queries)
    func seen(_ answer: JSONValue, _ key: PurchaseKey) -> Observations? {
      queries.state(from: answer.serialized(), about: key, now: readAt)?.observations
    }
    #expect(seen(paidSession, session("cs_1")) == .paid)
    let unpaid = object(paidSession, ("payment_status", "unpaid"))
    #expect(seen(unpaid, session("cs_1")) == .promised)
    let open = object(unpaid, ("status", "open"))
    #expect(seen(open, session("cs_1")) == [])
    #expect(seen(object(open, ("status", "expired")), session("cs_1")) == .expired)
    let early = object(paidSession, ("subscription", .null))
    #expect(seen(early, session("cs_1")) == [.paid, .objectExpected])
    #expect(seen(activeSubscription, subscription("sub_1")) == .began)
    #expect(seen(object(paidSession, ("mode", "setup")), session("cs_1")) == [], "it sells nothing")
    let incomplete = object(activeSubscription, ("status", "incomplete"))
    #expect(seen(incomplete, subscription("sub_1")) == .firstPaymentDue)
    let afterTrial = object(activeSubscription, ("pending_setup_intent", "seti_1"))
    #expect(seen(afterTrial, subscription("sub_1")) == .firstPaymentDue, "its first invoice is not paid yet")
  }
}

@Suite("Stripe's lookups for the user") struct StripeUserLookupTests {
  @Test func `A customer is asked for last, and a key that may not read it is no fault of the app`() throws {
    let queries = try #require(
      try StripeProcessor(StripeSettings(), webhookSecrets: [], apiKey: "rk_1").queries)
    let query = try #require(queries.lookup(ofCustomer: "cus_1/x"))
    #expect(query.target == "/v1/customers/cus_1%2Fx")
    #expect(query.isOptional)
    let customer: JSONValue = ["id": "cus_1", "object": "customer", "metadata": ["user_id": "u20"]]
    let report = try #require(
      queries.report(from: customer.serialized(), about: subscription("sub_1"), now: readAt))
    #expect(report.key == subscription("sub_1"))
    #expect(report.customerID == "cus_1")
    #expect(report.names == [NamedUser(id: "u20", source: .customerMetadata, standing: .counts)])
  }

  @Test("While it is open whose sale a subscription is, its session is looked up, which names the link")
  func sessionOfSale() throws {
    var settings = StripeSettings()
    settings.sells = StripeSelection(paymentLinks: ["plink_1"])
    let queries = try #require(try StripeProcessor(settings, webhookSecrets: [], apiKey: "rk_1").queries)
    let targets = queries.lookups(of: subscription("sub_1"), sessionID: nil, lacking: .price).map(\.target)
    #expect(targets == ["/v1/subscriptions/sub_1", "/v1/checkout/sessions?limit=1&subscription=sub_1"])
    #expect(queries.lookups(of: subscription("sub_1"), sessionID: nil, lacking: .user).count == 1)
    func seen(_ sessions: [JSONValue]) -> Observations? {
      let list: JSONValue = ["object": "list", "data": .array(sessions)]
      return queries.report(from: list.serialized(), about: subscription("sub_1"), now: readAt)?.observations
    }
    let ofLink = object(paidSession, ("payment_link", "plink_1"))
    #expect(seen([ofLink])?.contains(.ours) == true)
    #expect(seen([paidSession])?.isForeign == true)
    #expect(seen([])?.isForeign == true, "without a session there was no link")
  }

  @Test func `A lookup fills in prices that no event named, and replaces none, in either order`() throws {
    let queries = try #require(
      try StripeProcessor(StripeSettings(), webhookSecrets: [], apiKey: "rk_1").queries)
    let fee: JSONValue = ["price": ["id": "price_fee", "type": "one_time", "recurring": .null]]
    let plan: JSONValue = ["price": ["id": "price_plan", "type": "recurring"]]
    let answer = object(paidSession, ("line_items", ["data": [fee, plan]]))
    let lookup = try #require(
      queries.report(from: answer.serialized(), about: subscription("sub_1"), now: readAt))
    #expect(lookup.prices == ["price_plan", "price_fee"])
    let ofEvent = try report(event("customer.subscription.created", activeSubscription))
    var purchase = Purchase(ofEvent, reference: .counts, now: readAt)
    purchase.absorb(lookup, reference: .counts)
    #expect(purchase.prices == ["price_1"])
    var late = Purchase(lookup, reference: .counts, now: readAt)
    #expect(late.prices == ["price_plan", "price_fee"])
    let session = try report(
      event("checkout.session.completed", object(paidSession, ("line_items", ["data": [plan]]))))
    late.absorb(session, reference: .counts)
    #expect(late.prices == ["price_plan"])
  }
}
