// What the answer to the relay's own request says about a payment order.

import Domain
import Formats
import Partners
import Testing

@Suite("The state of Swedbank Pay payments")
struct SwedbankStateTests {
  private static let id = "/psp/paymentorders/34761895-d1e4-412a-0a30-08dc43423140"
  private static let key = SwedbankHarness.key(id)
  private static let now = SwedbankHarness.startedAt
  private static let paid =
    SwedbankSamples.json(PackageResources.swedbank_callbacks_json)["getResponsePaid"] ?? .null

  private static func queries() throws -> any ProcessorQueries {
    try #require(try SwedbankHarness.processor().queries)
  }

  private static func report(_ answer: JSONValue, about key: PurchaseKey = key) throws -> PurchaseReport? {
    try queries().report(from: answer.serialized(), about: key, now: now)
  }

  /// The sample with members of its payment order changed.
  private static func order(_ changes: (String, JSONValue?)..., operations: JSONValue? = nil) -> JSONValue {
    let order = changes.reduce(paid["paymentOrder"] ?? .null) { $0.with($1.0, $1.1) }
    let answer = paid.with("paymentOrder", order)
    return operations.map { answer.with("operations", $0) } ?? answer
  }

  @Test("A payment order is fetched in the version that has a status, with what was paid (CB01)")
  func lookup() throws {
    let queries = try Self.queries()
    for lacking in [nil, Reason.price, .user] {
      let expected = ProcessorQuery(
        target: "\(Self.id)?$expand=paid", headers: ["Content-Type": "application/json;version=3.1"])
      #expect(queries.lookups(of: Self.key, sessionID: "x", lacking: lacking) == [expected])
    }
    var foreign = Self.key
    foreign.processor = "stripe"
    #expect(queries.lookups(of: foreign, sessionID: nil, lacking: nil).isEmpty)
    #expect(queries.headers.contains { $0 == ("Authorization", "Bearer \(SwedbankHarness.token)") })
    #expect(queries.eventLists(EventSelection(since: Self.now, undeliveredOnly: false)).isEmpty)
  }

  @Test("CB03: A paid order is paid, with its amount; an authorisation is still to be captured")
  func paid() throws {
    let report = try #require(try Self.report(Self.paid))
    #expect(report.key == Self.key)
    #expect(report.observations == .paid)
    #expect(report.payment == PaymentFacts(amount: "1.00", currency: "SEK", isCaptured: false))
    #expect(report.happenedAt == Self.now)
    #expect(report.startedBy == nil)
  }

  @Test(
    "CB04: Every status has its meaning, and only Paid is a payment",
    arguments: [
      ("Initialized", []), ("Paid", .paid), ("Failed", []), ("Aborted", .closed),
      ("Cancelled", [.closed, .reversed]), ("Reversed", .reversed),
    ] as [(String, Observations)])
  func statuses(_ status: String, _ seen: Observations) throws {
    let report = try #require(try Self.report(Self.order(("status", .string(status)))))
    #expect(report.observations == seen)
    #expect(report.observations.showPayment == (status == "Paid"))
    #expect(report.payment?.amount == "1.00")
    #expect(report.payment?.isCaptured == (status == "Paid" ? false : nil))
  }

  @Test("An order of version 2 and an unknown status say nothing, so the order is fetched again")
  func noStatus() throws {
    let answers = [
      Self.order(("status", nil), ("state", "Ready")), Self.order(("status", "Ready")),
      Self.order(("status", "paid")), Self.order(("status", 1)), Self.order(("status", .null)),
    ]
    for answer in answers { #expect(try Self.report(answer) == nil) }
  }

  @Test func `The answer must be about the order that was asked for`() throws {
    for id in ["/psp/paymentorders/other", "https://evil.test\(Self.id)", "", "\(Self.id)/paid"] {
      #expect(try Self.report(Self.order(("id", .string(id)))) == nil)
    }
    #expect(try Self.report(Self.order(("id", nil))) == nil)
    #expect(try Self.report(Self.order(("id", 1))) == nil)
    #expect(try Self.report(Self.paid, about: SwedbankHarness.key("/psp/paymentorders/other")) == nil)
    #expect(try Self.report(["problem": "x"]) == nil)
  }

  @Test func `Both spellings of the payment order are read`() throws {
    let answer = Self.paid.with("paymentorder", Self.paid["paymentOrder"]).with("paymentOrder", nil)
    #expect(try Self.report(answer)?.observations == .paid)
  }

  @Test func `An amount without a usable currency is not stored; a fraction is no amount`() throws {
    for (amount, currency, text) in [
      (1500, "SEK", "15.00"), (1500, "JPY", "1500"), (1500, 752, nil), (1500, nil, nil),
      (.number(15.5), "SEK", nil),
      ("1500", "SEK", nil), (.integer(.min), "SEK", "-92233720368547758.08"),
    ] as [(JSONValue, JSONValue?, String?)] {
      let answer = Self.order(("amount", amount.normal), ("currency", currency))
      let facts = try #require(try Self.report(answer)?.payment)
      #expect(facts.amount == text)
      #expect((facts.currency == nil) == (text == nil))
    }
  }

  @Test func `Whether the money is captured follows from what remains, the operations and the type`() throws {
    let capture: JSONValue = [["rel": "capture", "href": "/x"]]
    func paid(_ type: JSONValue?) -> JSONValue { ["id": "/x/paid", "transactionType": type ?? .null] }
    let cases: [(JSONValue?, JSONValue?, JSONValue, JSONValue?, Bool?)] = [
      // what remains to capture, what can be reversed, operations, paid, captured
      (100, nil, [], paid("Sale"), false), (0, nil, [], paid("Authorization"), true),
      (nil, nil, [], paid("Sale"), true), (nil, nil, capture, paid("Authorization"), false),
      (nil, nil, [], paid("Authorization"), false), (0, nil, capture, paid("Authorization"), false),
      (nil, nil, [], nil, nil), (nil, 100, [], paid("Authorization"), true),
      (nil, 0, [], paid("Authorization"), false), (100, 40, [], paid("Authorization"), false),
      (nil, 100, capture, paid("Authorization"), false),
    ]
    for (remaining, reversible, operations, paid, expected) in cases {
      let answer = Self.order(
        ("remainingCaptureAmount", remaining), ("remainingReversalAmount", reversible), ("paid", paid),
        operations: operations)
      #expect(try Self.report(answer)?.payment?.isCaptured == expected)
    }
    let old = Self.order(
      ("remainingCaptureAmount", nil), ("paid", nil), ("transactionType", "Sale"), operations: [])
    #expect(try Self.report(old)?.payment?.isCaptured == true)
  }

  @Test func `A check of a card is no payment`() throws {
    let paid: JSONValue = ["id": "/x/paid", "transactionType": "Verification"]
    for answer in [Self.order(("operation", "Verify")), Self.order(("paid", paid))] {
      let report = try #require(try Self.report(answer))
      #expect(report.observations == .closed)
      #expect(report.payment?.isCaptured == nil)
    }
  }

  @Test func `Payments need no price, and are followed up after the configured time`() throws {
    var settings = SwedbankHarness.settings()
    settings.settleAfter = .seconds(180)
    #expect(settings.rules.followsUpAfter == .seconds(180))
    #expect(settings.rules.isAsked)
    for rules in [settings.rules, SwedbankProcessor.rules(isAsked: true)] { #expect(!rules.namesPrices) }
    #expect(SwedbankProcessor.rules(isAsked: false).followsUpAfter == nil)
    // By this, failed fetches are repeated soon.
    #expect(SwedbankProcessor.rules(isAsked: true).followsUpAfter == SwedbankSettings.settleAfterDefault)
    #expect(SwedbankHarness.settings().rules.followsUpAfter == .seconds(900))
  }
}
