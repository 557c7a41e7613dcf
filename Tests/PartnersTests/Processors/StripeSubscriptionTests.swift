// What subscriptions and invoices report: when they prove a purchase, and the formats that their keys and
// prices have had.

import Domain
import Formats
import Partners
import TestSupport
import Testing

private let created: JSONValue = "customer.subscription.created"
private let updated: JSONValue = "customer.subscription.updated"
private let statuses = [
  "active", "trialing", "incomplete", "incomplete_expired", "past_due", "canceled", "unpaid", "paused", "",
]

private func updatedEvent(_ status: String, previous: JSONValue?) -> JSONValue {
  var data: JSONValue = ["object": object(activeSubscription, ("status", .string(status)))]
  if let previous { data = object(data, ("previous_attributes", previous)) }
  return event(updated, .null, [("data", data)])
}

/// The observations of a new subscription with this status.
private func beginning(_ status: String) -> Observations {
  switch status {
  case "active", "trialing": .began
  case "incomplete": .firstPaymentDue
  default: change(status)
  }
}

/// The observations of its other events with this status.
private func change(_ status: String) -> Observations {
  switch status {
  case "incomplete_expired": [.failed, .ended]
  case "canceled": .ended
  case "trialing": .trialSecured
  default: []
  }
}

@Suite("Stripe's subscriptions")
struct StripeSubscriptionTests {
  @Test(
    "A created subscription began if it is active or on trial, and waits if it is incomplete",
    arguments: statuses)
  func createdStatus(status: String) throws {
    let body = event(created, object(activeSubscription, ("status", .string(status))))
    let said = try report(body)
    #expect(said.observations == beginning(status))
    #expect(try isKept(body) == true, "its price, user and customer serve the checkout's event")
    #expect(said.key == subscription("sub_1"))
    #expect(said.sessionID == nil)
    #expect(said.customerID == "cus_1")
    #expect(said.metadataUser == "u1")
    #expect(said.prices == ["price_1"])
  }

  @Test("An updated one began if it was incomplete before and is active or on trial now", arguments: statuses)
  func updatedStatus(status: String) throws {
    let began = updatedEvent(status, previous: ["status": "incomplete"])
    #expect(try report(began).observations == beginning(status))
    #expect(try isKept(began) == true)
    let others: [JSONValue?] = [
      ["status": "past_due"], ["status": "trialing"], ["status": .null], ["status": 7], ["items": [:]], [:],
      .null, [],
      "incomplete", nil,
    ]
    for previous in others {
      let changed = updatedEvent(status, previous: previous)
      #expect(try report(changed).observations == change(status))
      // A renewal or a change of an unknown subscription is not stored; its end is.
      #expect(try isKept(changed) == change(status).contains(.ended))
    }
  }

  @Test(arguments: ["paused", "resumed", "trial_will_end", "pending_update_applied", "new_one"])
  func `Pauses of subscriptions prove nothing and are ignored`(word: String) throws {
    let body = event(.string("customer.subscription.\(word)"), activeSubscription)
    #expect(try report(body).observations == [])
    #expect(try isKept(body) == false)
  }

  @Test func `A deleted subscription has ended, with any status, and that is stored`() throws {
    for status in ["active", "canceled", "incomplete"] {
      let object = object(activeSubscription, ("status", .string(status)))
      let body = event("customer.subscription.deleted", object)
      #expect(try report(body).observations == .ended)
      #expect(try isKept(body) == true)
    }
  }

  @Test(
    "The price is the item's, else its plan, else the subscription's plan",
    arguments: [
      (["data": [["price": ["id": "p"], "plan": ["id": "q"]]]], ["p"]),
      (["data": [["plan": ["id": "q"]]]], ["q"]),
      (["data": [["price": "p"]]], ["p"]),
      (["data": [["price": .null, "plan": "q"]]], ["q"]),
      (["data": [["price": 15, "plan": ["id": "15"]]]], ["15"]),
      (["data": [["price": ["id": ""], "plan": ["id": "q"]]]], []),
      (["data": [["price": ["id": "p"]], [:], ["price": ["id": "r"]]]], ["p", "r"]),
      (["data": [["price": ["id": "p"]], ["price": ["id": "p"]]]], ["p"]),
      (["data": [[:]]], ["legacy"]), (["data": []], ["legacy"]), ([:], ["legacy"]), (.null, ["legacy"]),
      ("elided", ["legacy"]),
    ] as [(JSONValue, [PriceID])])
  func prices(items: JSONValue, prices: [PriceID]) throws {
    let body = event(created, object(activeSubscription, ("items", items), ("plan", ["id": "legacy"])))
    #expect(try report(body).prices == prices)
  }

  @Test func `No more prices are read than a row should hold`() throws {
    let items = (0..<500).map { JSONValue.object([.init(name: "price", value: .string("price_\($0)"))]) }
    let body = event(created, object(activeSubscription, ("items", ["data": .array(items)])))
    #expect(try report(body).prices == (0..<100).map { "price_\($0)" })
  }

  @Test func `A subscription of 2016 has one plan and an api_version with a suffix`() throws {
    let reading = try read(bytes: PackageResources.subscription_created_2016_json)
    let said = PurchaseReport(
      key: subscription("sub_relay2016"), observations: .began, customerID: "cus_relay2016",
      prices: ["gold-2016"], happenedAt: endOf(second: 1_460_000_000))
    #expect(reading.content == .purchase(said, isWorthKeeping: true))
  }

  @Test func `A subscription of 2026 has several items, of which two share a price`() throws {
    let reading = try read(bytes: PackageResources.subscription_created_2026_json)
    let said = PurchaseReport(
      key: subscription("sub_relay2026"), observations: .began, customerID: "cus_relay2026",
      metadataUser: "member-2026", prices: ["price_relayMonthly", "price_relaySeats"],
      happenedAt: endOf(second: 1_790_000_000))
    #expect(reading.content == .purchase(said, isWorthKeeping: true))
  }

  @Test func `A subscription without an id, as in 2013, is unreadable`() throws {
    #expect(try outcome(event(created, object(activeSubscription, ("id", nil)))) == .unparsed)
    #expect(try outcome(event(created, .null)) == .unparsed)
  }
}

@Suite("Stripe's invoices")
struct StripeInvoiceTests {
  @Test(
    "The first invoice of a subscription proves the purchase when it is paid",
    arguments: ["paid", "payment_succeeded"],
    [
      "subscription_create", "subscription_cycle", "subscription_update", "subscription_threshold", "manual",
      nil,
    ])
  func reasons(word: String, reason: String?) throws {
    let body = event(
      .string("invoice.\(word)"), object(firstInvoice, ("billing_reason", reason.map(JSONValue.string))))
    let isFirst = reason == "subscription_create"
    #expect(try report(body).observations == (isFirst ? [.firstPaymentMade, .invoicePaid] : .invoicePaid))
    #expect(try isKept(body) == isFirst)
    #expect(try report(body).prices == ["price_1"])
  }

  @Test(arguments: ["open", "draft", "void"])
  func `An invoice whose own state contradicts the event proves nothing`(status: String) throws {
    let body = event("invoice.paid", object(firstInvoice, ("status", .string(status))))
    #expect(try report(body).observations == [])
    #expect(try isKept(body) == false)
  }

  @Test(arguments: ["upcoming", "created", "finalized", "payment_failed", "payment_action_required"])
  func `Other events of an invoice prove nothing`(word: String) throws {
    let body = event(.string("invoice.\(word)"), object(firstInvoice, ("id", nil)))
    #expect(try report(body).observations == [])
    #expect(try isKept(body) == false)
  }

  @Test func `The subscription is found in the shape of every API version`() throws {
    let places: [(JSONValue, ObjectID)] = [
      (["subscription": "s"], "s"), (["subscription": ["id": "s"]], "s"),
      (["parent": ["subscription_details": ["subscription": "s"]]], "s"),
      (["parent": ["subscription_details": ["subscription": ["id": "s"]]]], "s"),
      (["subscription": "s", "parent": ["subscription_details": ["subscription": "s"]]], "s"),
      (["subscription": "old", "parent": ["subscription_details": ["subscription": "new"]]], "new"),
      (["subscription": "s", "parent": .null], "s"),
      (["subscription": "s", "parent": ["quote_details": [:], "subscription_details": .null]], "s"),
      (["lines": ["data": [[:], ["subscription": "s"]]]], "s"),
      (["lines": ["data": [["parent": ["subscription_item_details": ["subscription": "s"]]]]]], "s"),
    ]
    for (fields, id) in places {
      let base: JSONValue = ["id": "in_1", "status": "paid", "billing_reason": "subscription_create"]
      guard case .object(let members) = fields, case .object(let common) = base else { continue }
      let said = try report(event("invoice.paid", .object(common + members)))
      #expect(said.key == subscription(id), "\(fields.text)")
    }
  }

  @Test func `An invoice without a subscription is ignored`() throws {
    for missing in [JSONValue.null, "", [:], 7, nil] {
      #expect(try outcome(event("invoice.paid", object(firstInvoice, ("subscription", missing)))) == .ignored)
    }
    #expect(try outcome(event("invoice.paid", .null)) == .unparsed)
  }

  @Test(
    arguments: [
      (
        ["pricing": ["price_details": ["price": "new"]], "price": ["id": "old"], "plan": ["id": "older"]],
        ["new"]
      ),
      (["pricing": ["price_details": ["price": ["id": "new"]]]], ["new"]),
      (["pricing": ["type": "price_details"], "price": ["id": "old"]], ["old"]),
      (["pricing": .null, "price": .null, "plan": ["id": "older"]], ["older"]),
      (["price": .null, "plan": .null], []),
    ] as [(JSONValue, [PriceID])])
  func `The price of a line is read from its newest shape`(line: JSONValue, prices: [PriceID]) throws {
    let body = event("invoice.paid", object(firstInvoice, ("lines", ["data": [line]])))
    #expect(try report(body).prices == prices)
  }

  @Test func `Lines that name only the ids of several prices do not say which is the plan's`() throws {
    func source(_ lines: [JSONValue]) throws -> Purchase.PriceSource {
      try report(event("invoice.paid", object(firstInvoice, ("lines", ["data": .array(lines)])))).priceSource
    }
    func line(_ price: JSONValue) -> JSONValue { ["type": "subscription", "price": price] }
    let (plan, meter) = (line("price_plan"), line("price_meter"))
    #expect(try source([meter, plan]) == .unranked)
    #expect(try source([plan]) == .event)
    #expect(try source([plan, plan]) == .event, "they are one price")
    let setup: JSONValue = ["type": "invoiceitem", "price": "price_setup"]
    #expect(try source([setup, plan]) == .event, "the other is no line of the subscription")
    let whole = [("price_plan", "licensed"), ("price_meter", "metered")].map { id, usage in
      line(["id": .string(id), "recurring": ["usage_type": .string(usage)]])
    }
    #expect(try source(whole) == .event)
  }

  @Test(arguments: [.null, [:], [], "elided"] as [JSONValue])
  func `Without lines only the price is missing`(lines: JSONValue) throws {
    let said = try report(event("invoice.paid", object(firstInvoice, ("lines", lines))))
    #expect(said.prices == [])
    #expect(said.observations == [.firstPaymentMade, .invoicePaid])
    #expect(said.key == subscription("sub_1"))
  }

  @Test func `Both shapes side by side, of a connected account, give the same report`() throws {
    let settings = StripeSettings(accounts: .any)
    let reading = try read(bytes: PackageResources.invoice_paid_2022_both_shapes_json, settings)
    let said = PurchaseReport(
      key: subscription("sub_relay2022"), observations: [.firstPaymentMade, .invoicePaid],
      customerID: "cus_relay2022",
      names: [named("member-2022", .metadataOfInvoice)], prices: ["price_relay2022"],
      happenedAt: endOf(second: 1_750_000_000))
    #expect(reading.content == .purchase(said, isWorthKeeping: true))
    let own = try read(bytes: PackageResources.invoice_paid_2022_both_shapes_json)
    #expect(own.content == .nothing(.otherAccount))
  }

  @Test func `A set-up fee in the first line is not read as the price of the subscription`() throws {
    let reading = try read(bytes: PackageResources.invoice_paid_2025_setup_fee_json)
    let said = PurchaseReport(
      key: subscription("sub_relay2025"), observations: [.firstPaymentMade, .invoicePaid],
      customerID: "cus_relay2025",
      names: [named("member-2025", .ownKeyOfInvoice)], prices: ["price_relayMonthly", "price_relaySetup"],
      happenedAt: endOf(second: 1_763_632_801))
    #expect(reading.content == .purchase(said, isWorthKeeping: true))
    let fee: JSONValue = ["type": "invoiceitem", "price": ["id": "fee"], "subscription": "sub_1"]
    let plan: JSONValue = ["type": "subscription", "price": ["id": "monthly"], "subscription": "sub_1"]
    let old = event("invoice.paid", object(firstInvoice, ("lines", ["data": [fee, plan]])))
    #expect(try report(old).prices == ["monthly", "fee"])
    let unreadable: JSONValue = [
      "parent": ["subscription_item_details": ["subscription": 7]], "price": ["id": "unreadable"],
    ]
    let damaged = event("invoice.paid", object(firstInvoice, ("lines", ["data": [unreadable, plan]])))
    #expect(try report(damaged).prices == ["monthly", "unreadable"])
  }
}
