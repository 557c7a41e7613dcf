// The simulated Stripe API over real connections, with the relay's queries.

import Domain
import Formats
import HTTPClient
import Partners
import Platform
import Sandbox
import TestSupport
import Testing

@Suite struct SandboxStripeTests {
  private static func stripe(
    _ count: Int, _ behaviour: SandboxStripeBehaviour = SandboxStripeBehaviour()
  ) throws -> SandboxStripe {
    var random = SeededGenerator(seed: 1)
    let records = StripeRecords.made(count, now: 1_800_000_000_000, random: &random)
    return try SandboxStripe(records: records, behaviour: behaviour)
  }

  private static func ask(
    _ url: String, key: String? = "sk_test_1", _ pool: TransferPool
  ) throws -> (status: Int?, body: [UInt8], retryAfter: String?) {
    let headers = key.map { [TransferHeader("Authorization", "Bearer \($0)")] } ?? []
    let result = try pool.answer(
      to: TransferRequest(method: .get, url: url, headers: headers, answerBytesMax: 1 << 24))
    return (result.status, result.body, result.header("Retry-After"))
  }

  private static func queries(_ stripe: SandboxStripe) throws -> any ProcessorQueries {
    let settings = StripeSettings(apiBase: stripe.base)
    return try #require(try StripeProcessor(settings, webhookSecrets: [], apiKey: "sk_test_1").queries)
  }

  @Test func aListIsGoneThroughPageByPage() throws {
    let stripe = try Self.stripe(25, SandboxStripeBehaviour(pageSizeMax: 10))
    let (queries, pool) = (try Self.queries(stripe), try TransferPool(connectionsMax: 1))
    let list = try #require(
      queries.eventLists(EventSelection(since: Timestamp(unixMilliseconds: 0), undeliveredOnly: false)).first)
    var ids: [String] = []
    var cursor: String?
    var pages = 0
    repeat {
      let page = try #require(
        queries.page(from: try Self.ask(list.page(after: cursor).url(at: stripe.base), pool).body))
      ids += try page.events.map { try JSONValue(parsing: $0)["id"]?.stringValue ?? "" }
      cursor = page.next
      pages += 1
    } while cursor != nil
    #expect(pages == 3)
    #expect(Set(ids).count == 25)
  }

  @Test func aListTakesFilters() throws {
    let stripe = try Self.stripe(25)
    var records = stripe.records
    records.add(
      ["id": "evt_lost", "type": "invoice.paid", "created": 1_800_000_000, "data": [:]], isDelivered: false)
    stripe.records = records
    let (queries, pool) = (try Self.queries(stripe), try TransferPool(connectionsMax: 1))
    func count(_ since: Int64, _ undelivered: Bool) throws -> Int? {
      let selection = EventSelection(since: Timestamp(unixSeconds: since), undeliveredOnly: undelivered)
      let list = try #require(queries.eventLists(selection).first)
      return queries.page(from: try Self.ask(list.page(after: nil).url(at: stripe.base), pool).body)?.events
        .count
    }
    #expect(try count(0, false) == 26)
    #expect(try count(0, true) == 1)
    #expect(try count(1_800_000_000 - 600, false) == 12, "one a minute, and the lost one")
    // As curl sends a list, and as Stripe's libraries do.
    for form in ["types%5B%5D", "types[]", "types%5B0%5D", "types[0]", "types[19]", "type"] {
      let none = try JSONValue(parsing: Self.ask("\(stripe.base)/v1/events?\(form)=no.such", pool).body)
      #expect(none["data"] == [], "\(form)")
      let both = "\(form)=invoice.paid&types[1]=no.such"
      let one = try JSONValue(parsing: Self.ask("\(stripe.base)/v1/events?\(both)&limit=100", pool).body)
      guard case .array(let events) = one["data"] else { throw TransferFailure.internalFault }
      #expect(!events.isEmpty, "\(form)")
      #expect(events.allSatisfy { $0["type"] == "invoice.paid" }, "\(form)")
    }
    #expect(try Self.ask("\(stripe.base)/v1/events?starting_after=evt_0", pool).status == 400)
    #expect(try Self.ask("\(stripe.base)/v1/events?limit=101", pool).status == 400)
  }

  @Test func objectsTellWhatTheirEventsLeaveOut() throws {
    let stripe = try Self.stripe(0)
    var random = SeededGenerator(seed: 2)
    let purchase = SandboxPurchase(userID: "u1", priceID: "price_1", isSubscription: true, random: &random)
    var records = stripe.records
    let event = records.add(purchase, at: 1_800_000_000_000, random: &random)
    stripe.records = records
    #expect(!String(decoding: event.body, as: UTF8.self).contains("price_1"), "as Stripe's own event")
    let (queries, pool) = (try Self.queries(stripe), try TransferPool(connectionsMax: 1))
    let key = PurchaseKey(type: .subscription, id: ObjectID(purchase.objectID))
    let now = Timestamp(unixSeconds: 1_800_000_000)
    for query in queries.lookups(of: key, sessionID: SessionID(purchase.sessionID), lacking: .price) {
      let report = queries.report(
        from: try Self.ask(query.url(at: stripe.base), pool).body, about: key, now: now)
      #expect(report?.prices == ["price_1"], "\(query.target)")
      #expect(report?.key == key, "\(query.target)")
    }
    let plain = "\(stripe.base)/v1/checkout/sessions/\(purchase.sessionID)"
    #expect(queries.report(from: try Self.ask(plain, pool).body, about: key, now: now)?.prices == [])
    for form in ["expand[]", "expand[0]"] {
      let whole = try Self.ask("\(plain)?\(form)=line_items", pool).body
      #expect(queries.report(from: whole, about: key, now: now)?.prices == ["price_1"], "\(form)")
    }
    #expect(try Self.ask("\(plain)/line_items", pool).status == 200)
    for place in ["subscriptions/sub_0", "invoices/in_0", "customers/cus_0", "prices/price_0"] {
      #expect(try Self.ask("\(stripe.base)/v1/\(place)", pool).status == 404)
    }
    records.add(object: ["id": "in_1", "object": "invoice"])
    stripe.records = records
    #expect(try Self.ask("\(stripe.base)/v1/invoices/in_1", pool).status == 200)
    #expect(try Self.ask("\(stripe.base)/v1/customers/in_1", pool).status == 404, "it is no customer")
  }

  @Test func itHasKeysLimitsAndBadDays() throws {
    let stripe = try Self.stripe(1, SandboxStripeBehaviour(apiKey: "sk_test_1"))
    let pool = try TransferPool(connectionsMax: 1)
    let url = "\(stripe.base)/v1/events"
    #expect(try Self.ask(url, pool).status == 200)
    #expect(try Self.ask(url, key: "sk_other", pool).status == 401)
    #expect(try Self.ask(url, key: nil, pool).status == 401)
    stripe.behaviour.requestsPerSecondMax = 0
    let limited = try Self.ask(url, pool)
    #expect(limited.status == 429)
    #expect(limited.retryAfter == "1")
    stripe.behaviour = SandboxStripeBehaviour(failRate: 1)
    #expect(try Self.ask(url, pool).status == 500)
    stripe.behaviour = SandboxStripeBehaviour(status: 403)
    #expect(try Self.ask(url, pool).status == 403)
  }
}
