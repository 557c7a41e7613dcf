// What checkout sessions report: every row of the contract's table (Join), and every format that sessions
// have had.

import Domain
import Formats
import Partners
import TestSupport
import Testing

private let completed: JSONValue = "checkout.session.completed"

@Suite("Stripe's checkout sessions")
struct StripeSessionTests {
  @Test func `A completed session names its subscription, user, customer and time`() throws {
    let said = try report(event(completed, paidSession))
    #expect(
      said
        == PurchaseReport(
          key: subscription("sub_1"), sessionID: "cs_1", observations: .paid, customerID: "cus_1",
          clientReference: "u1", happenedAt: happenedAt))
  }

  @Test(
    "A session is paid, unpaid, or unreadable, by mode and payment_status",
    arguments: ["subscription", "payment"], ["paid", "no_payment_required", "unpaid", "strange", nil])
  func paymentStatus(mode: String, status: String?) throws {
    let body = event(
      completed,
      object(
        paidSession, ("mode", .string(mode)), ("payment_status", status.map(JSONValue.string)),
        ("subscription", mode == "payment" ? .null : "sub_1")))
    switch status {
    case "paid", "no_payment_required": #expect(try report(body).observations == .paid)
    case "unpaid": #expect(try report(body).observations == .promised)
    case nil where mode == "subscription":
      #expect(try report(body).observations == .paid, "the field came in 2020")
    default: #expect(try outcome(body) == .unparsed)
    }
    let isUnderstood = try outcome(body) == nil
    if isUnderstood {
      #expect(try report(body).key == (mode == "payment" ? session("cs_1") : subscription("sub_1")))
      #expect(try isKept(body) == true)
    }
  }

  @Test func `Delayed payments and abandoned checkouts have their outcome`() throws {
    let rows: [(JSONValue, String, Observations)] = [
      ("checkout.session.async_payment_succeeded", "paid", .paid),
      ("checkout.session.async_payment_failed", "unpaid", [.promised, .failed]),
      ("checkout.session.expired", "unpaid", .expired),
    ]
    for (type, status, observations) in rows {
      let body = event(type, object(paidSession, ("payment_status", .string(status)), ("status", nil)))
      #expect(try report(body).observations == observations)
      #expect(try isKept(body) == true)
    }
    let expired = object(
      paidSession, ("payment_status", "unpaid"), ("status", "expired"), ("subscription", .null),
      ("customer", .null))
    let said = try report(event("checkout.session.expired", expired))
    #expect(said.key == session("cs_1"))
    #expect(said.observations == [.expired, .objectExpected])
  }

  @Test func `A subscription session without its subscription has its own id as key`() throws {
    for missing in [JSONValue.null, "", [:], nil] {
      let said = try report(event(completed, object(paidSession, ("subscription", missing))))
      #expect(said.key == session("cs_1"))
      #expect(said.sessionID == "cs_1")
      #expect(said.observations == [.paid, .objectExpected])
    }
  }

  @Test func `A session of 2019 has neither mode nor status, and its plan among the display items`() throws {
    let reading = try read(bytes: PackageResources.session_completed_2019_json)
    #expect(reading.id == "evt_relay2019session")
    #expect(reading.type == "checkout.session.completed")
    let said = PurchaseReport(
      key: subscription("sub_relay2019"), sessionID: "cs_test_relay2019", observations: .paid,
      customerID: "cus_relay2019", clientReference: "member-2019", prices: ["plan_relay2019"],
      happenedAt: endOf(second: 1_558_900_000))
    #expect(reading.content == .purchase(said, isWorthKeeping: true))
  }

  @Test func `A session without mode and without a subscription is unreadable`() throws {
    let bare = object(paidSession, ("mode", nil), ("subscription", nil))
    #expect(try outcome(event(completed, bare)) == .unparsed)
    #expect(try outcome(event(completed, object(paidSession, ("mode", "donation")))) == .unparsed)
  }

  @Test func `A session of 2025 for a free trial is bought without a payment`() throws {
    let reading = try read(bytes: PackageResources.session_completed_2025_json)
    let said = PurchaseReport(
      key: subscription("sub_relay2025"),
      sessionID: "cs_live_relay2025aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      observations: .paid, customerID: "cus_relay2025",
      clientReference: "8d0ad0b4-6bd5-4c5f-9f4e-0d5a5c1d2b77", names: [named("from-metadata", .ownKey)],
      happenedAt: endOf(second: 1_763_632_800))
    #expect(reading.content == .purchase(said, isWorthKeeping: true))
  }

  @Test func `A guest's payment has no customer and is bought under the session's id`() throws {
    let reading = try read(bytes: PackageResources.session_completed_guest_payment_json)
    let said = PurchaseReport(
      key: session("cs_test_relayguest"), sessionID: "cs_test_relayguest", observations: .paid,
      happenedAt: endOf(second: 1_719_500_000))
    #expect(reading.content == .purchase(said, isWorthKeeping: true))
  }

  @Test func `Escaped characters are decoded; a NUL makes only its own value invalid`() throws {
    let reading = try read(bytes: PackageResources.session_completed_unicode_json)
    guard case .purchase(let said, _) = reading.content else {
      Issue.record("says nothing: \(reading.content)")
      return
    }
    #expect(said.clientReference == "usér-Ω-日本-😀")
    #expect(said.reference(.counts)?.id == "usér-Ω-日本-😀")
    #expect(said.metadataUser == "café")
    #expect(said.customerID == "cus_relayunicode")
  }

  @Test(arguments: ["open", "expired", ""])
  func `If type and object contradict each other, the object counts`(status: String) throws {
    let body = event(
      completed, object(paidSession, ("status", .string(status)), ("payment_status", "unpaid")))
    #expect(try outcome(body) == .ignored)
    #expect(try outcome(event(completed, object(paidSession, ("status", .string(status))))) == .ignored)
  }

  @Test(arguments: [JSONValue.null, "", 7, "with\ttab", [:]])
  func `A session without an id is unreadable`(id: JSONValue) throws {
    #expect(try outcome(event(completed, object(paidSession, ("id", id)))) == .unparsed)
    #expect(try outcome(event(completed, object(paidSession, ("id", nil)))) == .unparsed)
  }

  @Test(arguments: [JSONValue.null, [], "cs_1", 7, true])
  func `A session without an object is unreadable`(object: JSONValue) throws {
    #expect(try outcome(event(completed, object)) == .unparsed)
    #expect(try outcome(event(completed, .null, [("data", object)])) == .unparsed)
  }

  @Test("Expanded objects are read as their ids, and an expanded subscription's metadata serve too")
  func expanded() throws {
    let body = event(
      completed,
      object(
        paidSession, ("customer", ["id": "cus_x", "object": "customer", "email": .null]),
        ("client_reference_id", .null),
        ("subscription", ["id": "sub_x", "object": "subscription", "metadata": ["user_id": "u-sub"]])))
    let said = try report(body)
    #expect(said.key == subscription("sub_x"))
    #expect(said.customerID == "cus_x")
    #expect(said.metadataUser == "u-sub")
    let both = event(
      completed,
      object(
        paidSession, ("metadata", ["user_id": "u-session"]),
        ("subscription", ["id": "sub_x", "metadata": ["user_id": "u-sub"]])))
    #expect(try report(both).metadataUser == "u-session", "the session goes before the subscription")
    let own = event(
      completed,
      object(
        paidSession, ("metadata", ["user_id": "u-session"]),
        ("subscription", ["id": "sub_x", "metadata": ["ply_user_id": "u-sub"]])))
    #expect(try report(own).names.min()?.id == "u-sub", "the relay's own key goes before another one")
  }

  @Test func `Line items name the prices, each once and in their order`() throws {
    let two = object(
      paidSession,
      (
        "line_items",
        ["data": [["price": ["id": "price_a"]], ["price": ["id": "price_b"]], ["price": ["id": "price_a"]]]]
      ))
    #expect(try report(event(completed, two)).prices == ["price_a", "price_b"])
    for nothing in [JSONValue.null, [:], ["data": .null], ["data": []], ["data": "elided"], "elided", 7] {
      #expect(try report(event(completed, object(paidSession, ("line_items", nothing)))).prices == [])
    }
  }

  @Test func `Other events of a session give their facts and make no receipt`() throws {
    let body = event("checkout.session.somehow_new", paidSession)
    #expect(try report(body).observations == [])
    #expect(try report(body).clientReference == "u1")
    #expect(try isKept(body) == false)
  }
}
