// Which sales of an account are the app's.

import Domain
import Formats
import Partners
import Testing

private let completed: JSONValue = "checkout.session.completed"
private let created: JSONValue = "customer.subscription.created"

/// What the event of a session proves about whose sale it is.
private func seen(
  _ body: JSONValue, sells: StripeSelection? = nil, except: StripeSelection = StripeSelection()
) throws -> Observations {
  var settings = StripeSettings()
  (settings.sells, settings.except) = (sells, except)
  return try report(body, settings).observations
}

private func session(_ changes: (String, JSONValue?)...) -> JSONValue {
  var base = paidSession
  for (name, value) in changes { base = object(base, (name, value)) }
  return event(completed, base)
}

private func items(_ price: JSONValue, product: JSONValue = .null) -> JSONValue {
  ["object": "list", "data": [["price": ["id": price, "product": product]]]]
}

@Suite("Whose sale a Stripe event is about") struct StripeSalesTests {
  @Test func `Without a selection every sale may be the app's`() throws {
    #expect(try seen(session(("line_items", items("price_1")))) == .paid)
  }

  @Test func `A sale is the app's if any entry matches`() throws {
    let sells = StripeSelection(
      prices: ["price_1"], products: ["prod_1"], paymentLinks: ["plink_1"], metadata: ["app": "ios"])
    let matching = [
      session(("line_items", items("price_1"))), session(("line_items", items("price_9", product: "prod_1"))),
      session(("line_items", items("price_9", product: ["id": "prod_1"]))),
      session(("payment_link", "plink_1")), session(("payment_link", ["id": "plink_1"])),
      session(("metadata", ["app": "ios", "more": "x"])),
      session(("subscription", ["id": "sub_1", "metadata": ["app": "ios"]])),
    ]
    for body in matching { #expect(try seen(body, sells: sells).contains(.ours), "\(body.text)") }
  }

  @Test func `Metadata match only if every pair is there, on one object`() throws {
    let sells = StripeSelection(metadata: ["app": "ios", "shop": "de"])
    #expect(try seen(session(("metadata", ["app": "ios", "shop": "de"])), sells: sells).contains(.ours))
    for metadata: JSONValue in [
      ["app": "ios"], ["app": "ios", "shop": "fr"], [:], ["app": "ios", "shop": 7],
    ] {
      #expect(try seen(session(("metadata", metadata)), sells: sells).isSuperset(of: .notOurs))
    }
  }

  @Test func `Another price proves a foreign sale only where the event names prices`() throws {
    let sells = StripeSelection(prices: ["price_1"])
    #expect(try seen(session(("line_items", items("price_9"))), sells: sells).isForeign)
    #expect(try !seen(session(), sells: sells).isForeign)
    #expect(try !seen(session(), sells: sells).contains(.ours))
    let subscription = object(activeSubscription, ("items", items("price_9")))
    #expect(try seen(event(created, subscription), sells: sells).isForeign)
    let products = StripeSelection(products: ["prod_1"])
    #expect(try !seen(event(created, subscription), sells: products).isForeign)
  }

  @Test func `Another Payment Link proves a foreign sale only in the session's own event`() throws {
    let sells = StripeSelection(paymentLinks: ["plink_1"])
    #expect(try seen(session(("payment_link", "plink_2")), sells: sells).isForeign)
    #expect(try seen(session(("payment_link", .null)), sells: sells).isForeign)
    #expect(try !seen(event(created, activeSubscription), sells: sells).isForeign)
  }

  @Test func `Two events prove together what neither of them proves`() throws {
    let sells = StripeSelection(prices: ["price_1"], paymentLinks: ["plink_1"])
    let ofSession = try seen(session(("payment_link", "plink_2")), sells: sells)
    let other = object(activeSubscription, ("items", items("price_9")))
    let ofSubscription = try seen(event(created, other), sells: sells)
    #expect(!ofSession.isForeign)
    #expect(!ofSubscription.isForeign)
    #expect(ofSession.union(ofSubscription).isForeign)
    let mine = try seen(event(created, activeSubscription), sells: sells)
    #expect(!ofSession.union(mine).isForeign, "an entry that matches in any event counts more")
  }

  @Test func `A copy of metadata in an invoice may match, and proves nothing if it does not`() throws {
    let sells = StripeSelection(metadata: ["app": "ios"])
    func invoice(_ app: JSONValue) -> JSONValue {
      let details: JSONValue = ["subscription": "sub_1", "metadata": ["app": app]]
      return event("invoice.paid", object(firstInvoice, ("parent", ["subscription_details": details])))
    }
    #expect(try seen(invoice("ios"), sells: sells).contains(.ours))
    #expect(try !seen(invoice("tv"), sells: sells).isForeign)
  }

  @Test func `An exception counts more than a selection`() throws {
    let sells = StripeSelection(prices: ["price_1"])
    let except = StripeSelection(paymentLinks: ["plink_shop"])
    let both = session(("line_items", items("price_1")), ("payment_link", "plink_shop"))
    #expect(try seen(both, sells: sells, except: except).isForeign)
    #expect(try seen(both, except: except).isForeign)
    #expect(try !seen(session(("payment_link", "plink_app")), except: except).isForeign)
  }

  @Test func `Purchasely's own checkouts are never the app's, wherever their mark is`() throws {
    let mark: JSONValue = ["ply_provider": "purchasely", "ply_channel": "web2app"]
    let sells = StripeSelection(prices: ["price_1"])
    let marked = [
      session(("metadata", mark), ("line_items", items("price_1"))),
      session(("subscription", ["id": "sub_1", "metadata": mark])),
      event(created, object(activeSubscription, ("metadata", mark))),
      event(
        "invoice.paid",
        object(
          firstInvoice,
          ("parent", ["subscription_details": ["subscription": "sub_1", "metadata": mark]]))),
    ]
    for body in marked {
      #expect(try seen(body).isForeign, "\(body.text)")
      #expect(try seen(body, sells: sells).isForeign, "\(body.text)")
    }
    #expect(try !seen(session(("metadata", ["ply_provider": "other"]))).isForeign)
  }

  @Test func `The rule that decided is named for the operator`() throws {
    func rule(_ body: JSONValue, _ change: (inout StripeSettings) -> Void) throws -> String? {
      var settings = StripeSettings()
      change(&settings)
      return try StripeProcessor(settings, webhookSecrets: []).foreignRule(in: body.serialized())
    }
    let shop = session(("payment_link", "plink_shop"))
    #expect(
      try rule(shop) { $0.except.paymentLinks = ["plink_shop"] } == "stripe.except, payment_links: plink_shop"
    )
    #expect(
      try rule(shop) { $0.sells = StripeSelection(paymentLinks: ["plink_1"]) }
        == "nothing in stripe.sells matches it")
    #expect(try rule(shop) { _ in } == nil)
    let own = session(("metadata", ["ply_provider": "purchasely"]))
    #expect(try rule(own) { _ in }?.contains("ply_provider") == true)
  }

  @Test func `The first price is the plan's: recurring before one-time, licensed before metered`() throws {
    func item(_ id: JSONValue, _ type: JSONValue, _ usage: JSONValue?) -> JSONValue {
      let recurring: JSONValue = usage.map { ["interval": "month", "usage_type": $0] } ?? .null
      return ["price": ["id": id, "type": type, "recurring": recurring]]
    }
    let list: JSONValue = [
      "data": [
        item("price_fee", "one_time", nil), item("price_meter", "recurring", "metered"),
        item("price_plan", "recurring", "licensed"), item("price_seats", "recurring", "licensed"),
      ]
    ]
    let expected: [PriceID] = ["price_plan", "price_seats", "price_meter", "price_fee"]
    #expect(try report(session(("line_items", list))).prices == expected)
    #expect(try report(event(created, object(activeSubscription, ("items", list)))).prices == expected)
  }

  @Test("The price of an inline price is that of its product or lookup key, unless it is sold itself")
  func priceMap() throws {
    func price(_ price: JSONValue, sells: [String]? = nil) throws -> [PriceID] {
      var settings = StripeSettings()
      settings.priceMap = ["prod_1": "price_monthly", "lookup:yearly": "price_yearly"]
      settings.sells = sells.map { StripeSelection(prices: $0) }
      let list: JSONValue = ["data": [["price": price]]]
      return try report(session(("line_items", list)), settings).prices
    }
    #expect(try price(["id": "price_inline", "product": "prod_1"]) == ["price_monthly"])
    #expect(try price(["id": "price_2", "product": "prod_1", "lookup_key": "yearly"]) == ["price_yearly"])
    #expect(try price(["product": "prod_1"]) == ["price_monthly"])
    #expect(try price(["id": "price_2", "product": "prod_2"]) == ["price_2"])
    #expect(try price(["id": "price_2", "product": "prod_1"], sells: ["price_2"]) == ["price_2"])
    #expect(try price(["id": "price_3", "product": "prod_1"], sells: ["price_2"]) == ["price_monthly"])
  }

  @Test("A setup session that `sells` does not name teaches only the relay's own names")
  func setupSession() throws {
    let context: JSONValue = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
    let names: JSONValue = ["user_id": "u42", "ply_user_id": "u7"]
    func facts(_ reference: JSONValue, _ metadata: JSONValue) throws -> CustomerFacts? {
      var settings = StripeSettings()
      settings.sells = StripeSelection(prices: ["price_1"], metadata: ["app": "ios"])
      let body = session(
        ("mode", "setup"), ("subscription", .null), ("client_reference_id", reference),
        ("metadata", metadata))
      guard case .customer(let facts) = try read(body, settings).content else { return nil }
      return facts
    }
    let other = try #require(try facts("u42", names))
    #expect(other.clientReference == nil)
    #expect(other.names.map(\.id) == ["u7"])
    #expect(try facts(context, names)?.clientReference == "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD")
    let own = try #require(try facts("u42", object(names, ("app", "ios"))))
    #expect(own.clientReference == "u42")
    #expect(own.names.map(\.id).contains("u42"))
  }

  @Test func `An inline price whose product is mapped to a sold price is the app's`() throws {
    var settings = StripeSettings()
    settings.priceMap = ["prod_1": "price_monthly"]
    settings.sells = StripeSelection(prices: ["price_monthly"])
    let body = session(("line_items", items("price_inline", product: "prod_1")))
    #expect(try report(body, settings).observations.contains(.ours))
  }
}
