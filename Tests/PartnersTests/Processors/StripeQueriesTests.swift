// The requests to Stripe's API, and how its answers are interpreted.

import Domain
import Formats
import Partners
import TestSupport
import Testing

private func queries(_ accounts: StripeSettings.Accounts = .own) throws -> any ProcessorQueries {
  let settings = StripeSettings(accounts: accounts, apiBase: "https://stripe.example")
  return try #require(try StripeProcessor(settings, webhookSecrets: [], apiKey: "rk_test_1").queries)
}

private let base = "https://stripe.example"

@Suite("Requests to Stripe")
struct StripeQueriesTests {
  @Test("Without a key there is no request; with one it is only in the header of every request")
  func key() throws {
    #expect(try StripeProcessor(StripeSettings(), webhookSecrets: []).queries == nil)
    let queries = try queries()
    #expect(queries.headers.contains { $0.name == "Authorization" && $0.value == "Bearer rk_test_1" })
    let urls =
      queries.lookups(of: PurchaseKey(type: .subscription, id: "sub_1"), sessionID: "cs_1", lacking: .price)
      .map { $0.url(at: base) }
      + queries.eventLists(EventSelection(since: readAt, undeliveredOnly: true)).map {
        $0.page(after: nil).url(at: base)
      }
    for url in urls {
      #expect(url.hasPrefix("https://stripe.example/v1/"))
      #expect(!url.contains("rk_test_1"))
    }
  }

  @Test("A subscription is requested by its id, then by its session; a session with its line items")
  func lookups() throws {
    let queries = try queries()
    let session = "https://stripe.example/v1/checkout/sessions/cs_1?expand%5B%5D=line_items"
    #expect(
      queries.lookups(of: PurchaseKey(type: .subscription, id: "sub_1"), sessionID: "cs_1", lacking: .price)
        .map { $0.url(at: base) }
        == ["https://stripe.example/v1/subscriptions/sub_1", session])
    #expect(
      queries.lookups(of: PurchaseKey(type: .checkoutSession, id: "cs_1"), sessionID: "cs_1", lacking: .price)
        .map { $0.url(at: base) }
        == [session])
    // An id is Stripe's, but still untrusted input.
    let odd = queries.lookups(
      of: PurchaseKey(type: .subscription, id: "../x?y=ä&z"), sessionID: nil, lacking: .price)
    #expect(
      odd.map { $0.url(at: base) } == ["https://stripe.example/v1/subscriptions/..%2Fx%3Fy%3D%C3%A4%26z"])
  }

  @Test func `A list has its start, its types, a hundred events to a page, and the last page's end`() throws {
    let selection = EventSelection(
      since: Timestamp(unixMilliseconds: 1_700_000_000_999), undeliveredOnly: false)
    let lists = try queries().eventLists(selection)
    let url = try #require(lists.first?.page(after: "evt_1&x").url(at: base))
    #expect(
      url.hasPrefix("https://stripe.example/v1/events?limit=100&created%5Bgte%5D=1700000000&types%5B%5D="))
    #expect(url.contains("&types%5B%5D=checkout.session.completed"))
    #expect(url.contains("types%5B%5D=invoice.paid"))
    #expect(url.hasSuffix("&starting_after=evt_1%26x"))
    #expect(!url.contains("delivery_success"))
    #expect(url.split(separator: "&").count { $0.hasPrefix("types") } <= 20, "Stripe takes no more")
    let undelivered = try queries(.ownAnd(["acct_1"]))
      .eventLists(EventSelection(since: readAt, undeliveredOnly: true)).map { $0.page(after: nil) }
    #expect(undelivered.map { $0.headers["Stripe-Account"] } == [nil, "acct_1"])
    #expect(undelivered.allSatisfy { $0.target.contains("&delivery_success=false") })
  }

  @Test func `A page gives each event's own bytes unchanged`() throws {
    let first = #"{ "id": "evt_2", "type":"invoice.paid",  "data": {"object": {"x": "é\u00e9 ] } \" "}} }"#
    let second = #"{"id":"evt_1","created":1.0e3}"#
    let text = #"{"object":"list","data":[ \#(first) ,\#(second)],"has_more":true,"url":"/v1/events"}"#
    let page = try #require(try queries().page(from: Array(text.utf8)))
    #expect(page.events.map { String(decoding: $0, as: UTF8.self) } == [first, second])
    #expect(page.next == "evt_1")
    let last = try queries().page(from: Array(#"{"data":[{"id":"evt_1"}],"has_more":false}"#.utf8))
    #expect(last?.next == nil)
    #expect(last?.events.count == 1)
    #expect(try queries().page(from: Array(#"{"data":[],"has_more":false}"#.utf8))?.events == [])
    for broken in [
      "", "[]", "{}", #"{"data":{},"has_more":false}"#, #"{"data":[],"has_more":true}"#, "<html>",
    ] {
      #expect(try queries().page(from: Array(broken.utf8)) == nil, "\(broken)")
    }
  }

  @Test func `A fetched subscription gives price, customer and user, and nothing about the payment`() throws {
    let report = try #require(
      try queries().report(
        from: activeSubscription.serialized(), about: PurchaseKey(type: .subscription, id: "sub_1"),
        now: readAt))
    #expect(report.key == PurchaseKey(type: .subscription, id: "sub_1"))
    #expect(report.sessionID == nil)
    #expect(report.prices == ["price_1"])
    #expect(report.customerID == "cus_1")
    #expect(report.metadataUser == "u1")
    #expect(report.observations == [])
    #expect(report.happenedAt == readAt)
  }

  @Test("A fetched session gives its line items, its reference, and the subscription that it sold")
  func session() throws {
    let items: JSONValue = ["object": "list", "data": [["id": "li_1", "price": ["id": "price_9"]]]]
    let whole = object(paidSession, ("line_items", items))
    let report = try #require(
      try queries().report(
        from: whole.serialized(), about: PurchaseKey(type: .subscription, id: "sub_1"), now: readAt))
    #expect(report.key == PurchaseKey(type: .subscription, id: "sub_1"))
    #expect(report.sessionID == "cs_1")
    #expect(report.prices == ["price_9"])
    #expect(report.clientReference == "u1")
    #expect(report.observations == [])
    let payment = object(whole, ("subscription", .null), ("mode", "payment"))
    let single = try #require(
      try queries().report(
        from: payment.serialized(), about: PurchaseKey(type: .subscription, id: "sub_1"), now: readAt))
    #expect(single.key == PurchaseKey(type: .checkoutSession, id: "cs_1"))
    for other: JSONValue in [firstInvoice, [:], [], ["object": "subscription"], ["error": ["type": "x"]]] {
      #expect(
        try queries().report(
          from: other.serialized(), about: PurchaseKey(type: .subscription, id: "sub_1"), now: readAt) == nil)
    }
  }

  @Test func `The checkout of a subscription is requested by the subscription's id`() throws {
    let queries = try queries()
    let key = PurchaseKey(type: .subscription, id: "sub_1")
    let asked = queries.lookups(of: key, sessionID: nil, lacking: .checkout).map { $0.url(at: base) }
    #expect(asked.count == 1)
    #expect(asked.first?.hasSuffix("/v1/checkout/sessions?limit=1&subscription=sub_1") == true)
    func report(_ sessions: [JSONValue]) -> PurchaseReport? {
      let list: JSONValue = ["object": "list", "has_more": false, "data": .array(sessions)]
      return queries.report(from: list.serialized(), about: key, now: readAt)
    }
    let none = try #require(report([]))
    #expect(none.key == key)
    #expect(none.observations == .soldWithoutCheckout)
    #expect(none.sessionID == nil)
    let session = object(paidSession, ("object", "checkout.session"), ("status", "complete"))
    let paid = try #require(report([session]))
    #expect(paid.sessionID == "cs_1")
    #expect(paid.key == key)
    #expect(paid.observations == [], "of a payment only events are accepted")
    let unpaid = try #require(report([object(session, ("payment_status", "unpaid"))]))
    #expect(unpaid.observations == .promised, "that money is still to come, Stripe's answer says, too")
    #expect(report([object(session, ("subscription", "sub_other"))]) == nil)
  }

  @Test(
    arguments: [
      (200, QueryVerdict.answered), (404, .notFound), (429, .limited), (401, .refused), (403, .refused),
      (400, .notFound), (302, .refused), (402, .refused), (409, .transient), (500, .transient),
      (503, .transient), (nil, .transient),
    ] as [(Int?, QueryVerdict)])
  func `Every status has one meaning`(status: Int?, verdict: QueryVerdict) throws {
    #expect(try queries().judge(status: status) == verdict)
  }
}
