// Tests that the order of reports does not change what is known of a purchase (R2).

import Domain
import Platform
import TestSupport
import Testing

private let start = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let subscription = PurchaseKey(type: .subscription, id: "sub_1")
private let session = PurchaseKey(type: .checkoutSession, id: "cs_1")

private func report(
  _ observations: Observations = [], key: PurchaseKey = subscription, session: SessionID? = nil,
  reference: String? = nil, metadataUser: String? = nil, prices: [PriceID] = [], context: ContextBlob? = nil,
  at offset: Int64 = 0
) -> PurchaseReport {
  PurchaseReport(
    key: key, sessionID: session, observations: observations, clientReference: reference, context: context,
    metadataUser: metadataUser, prices: prices, happenedAt: start.advanced(by: .milliseconds(offset)))
}

private func purchase(_ reports: [PurchaseReport]) -> Purchase? {
  guard let first = reports.first else { return nil }
  var purchase = Purchase(first, now: start)
  for report in reports.dropFirst() { purchase.absorb(report) }
  return purchase
}

/// The values that must not depend on the order.
private struct Known: Equatable {
  var observations: Observations
  var isBought: Bool
  var deservesReceipt: Bool
  var endedUnpaid: Bool
  var isAbandoned: Bool
  var user: UserID?
  var source: Purchase.UserSource?
  var happenedAt: Timestamp

  init(_ purchase: Purchase) {
    observations = purchase.observations
    isBought = purchase.isBought
    deservesReceipt = purchase.deservesReceipt
    endedUnpaid = purchase.endedUnpaid
    isAbandoned = purchase.isAbandoned
    user = purchase.userID
    source = purchase.userSource
    happenedAt = purchase.happenedAt
  }
}

@Suite("Facts about a purchase")
struct PurchaseTests {
  @Test(arguments: 1...60)
  func `Random reports give the same purchase in every order, also when repeated (R2)`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let reports = (0..<5).map { index in
      report(
        Observations(rawValue: Int64.random(in: 0..<64, using: &random)),
        session: Bool.random(using: &random) ? "cs_1" : nil,
        reference: Bool.random(using: &random) ? "referenced" : nil,
        metadataUser: Bool.random(using: &random) ? "named" : nil, at: Int64.random(in: 0..<9, using: &random)
      )
    }
    let expected = Known(try #require(purchase(reports)))
    for order in permutations(reports) {
      let known = Known(try #require(purchase(order)))
      #expect(known == expected, "seed \(seed)")
      let repeated = Known(try #require(purchase(order + order.reversed())))
      #expect(repeated == expected, "seed \(seed), each twice")
    }
  }

  @Test(arguments: 1...40)
  func `Two merged rows of one purchase equal one row with all reports (R2)`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let reports = (0..<4).map { index in
      report(
        Observations(rawValue: Int64.random(in: 0..<64, using: &random)),
        reference: Bool.random(using: &random) ? "referenced" : nil,
        metadataUser: Bool.random(using: &random) ? "named" : nil, at: Int64.random(in: 0..<9, using: &random)
      )
    }
    let whole = Known(try #require(purchase(reports)))
    for split in 1..<4 {
      let left = try #require(purchase(Array(reports[..<split])))
      let right = try #require(purchase(Array(reports[split...])))
      for (survivor, other) in [(left, right), (right, left)] {
        var merged = survivor
        merged.absorb(other)
        #expect(Known(merged) == whole, "seed \(seed), split at \(split)")
      }
    }
  }

  @Test func `A more certain source replaces the user, an equally certain or lesser one does not`() {
    let sources: [Purchase.UserSource] = [
      .byOperator, .claim, .context, .ownKey, .ownKeyOfInvoice, .reference, .metadata, .metadataOfInvoice,
      .customerMetadata, .customerMetadataOfLaterKey, .customer,
    ]
    for (known, old) in sources.enumerated() {
      for (offered, new) in sources.enumerated() {
        var purchase = Purchase(report(), now: start)
        purchase.learn(NamedUser(id: "old", source: old, standing: .counts))
        purchase.learn(NamedUser(id: "new", source: new, standing: .counts))
        #expect(purchase.userID == (offered < known ? "new" : "old"), "\(old), then \(new)")
        #expect(purchase.userSource == (offered < known ? new : old))
      }
    }
  }

  @Test("A blob in an event replaces a named or a guessed context, but no operator's and no other blob")
  func blobRank() {
    let sources: [Purchase.ContextSource] = [.byOperator, .blob, .metadata, .reference, .guess]
    for source in sources {
      var purchase = Purchase(report(), now: start)
      (purchase.contextID, purchase.contextSource) = ("ctx_old", source)
      purchase.context = ContextBlob(text: "old", priceID: nil)
      purchase.learnContext(ContextBlob(text: "new", priceID: nil))
      let isReplaced = source > .blob
      #expect(purchase.context?.text == (isReplaced ? "new" : "old"), "\(source)")
      #expect(purchase.contextSource == (isReplaced ? .blob : source))
      #expect(purchase.contextID == (isReplaced ? nil : "ctx_old"))
    }
  }

  @Test func `The checkout's reference precedes the metadata, unless it cannot be a user`() throws {
    var random = SeededGenerator(seed: 1)
    let contextID = ContextID.make(now: start, random: &random)
    let rows: [(String?, String?)] = [
      ("ref", "ref"), (nil, "meta"), ("", "meta"), (contextID.text, "meta"), ("tab\there", "meta"),
      (String(repeating: "x", count: 256), "meta"), (String(repeating: "x", count: 255), nil),
    ]
    for (reference, user) in rows {
      let known = try #require(purchase([report(reference: reference, metadataUser: "meta")]))
      #expect(known.userID?.text == user ?? reference)
    }
  }

  @Test func `An identifier of a context is a name for it in the metadata first, then as the reference`() {
    var random = SeededGenerator(seed: 2)
    let one = ContextID.make(now: start, random: &random)
    let two = ContextID.make(now: start, random: &random)
    var said = report(reference: one.text)
    #expect(said.namedContexts.first?.id == one)
    said.contextID = two
    #expect(said.namedContexts.first?.id == two)
    said.contextID = "ctx_short"
    #expect(said.namedContexts.first?.id == one)
    said.clientReference = "jdo-1"
    #expect(said.namedContexts.first?.id == nil)
    #expect(said.reference(.counts)?.id == "jdo-1")
  }

  @Test func `A context's id is not a user, neither as reference nor in the metadata`() {
    let id = "ctx_01MC8E1R00ABCDEFGHJKMNPQRS"
    #expect(report(reference: id).reference(.counts) == nil)
    #expect(report(metadataUser: id).metadataUser == nil)
    #expect(purchase([report(reference: id, metadataUser: id)])?.userID == nil)
    #expect(purchase([report(reference: id, metadataUser: "jdo-1")])?.userID == "jdo-1")
  }

  @Test func `The checkout's own prices replace a related event's, and never the reverse`() throws {
    let sister = report(prices: ["price_S"])
    let checkout = report(session: "cs_1", prices: ["price_C", "price_D"])
    let silent = report(session: "cs_1")
    for order in permutations([sister, checkout, silent]) {
      #expect(try #require(purchase(order)).prices == ["price_C", "price_D"])
    }
    #expect(try #require(purchase([sister, silent])).prices == ["price_S"])
  }

  @Test func `A price that a lookup found yields to any event's, in any order`() throws {
    var found = report(session: "cs_1", prices: ["price_L"])
    found.pricesFillIn = true
    let sister = report(prices: ["price_S"])
    for order in permutations([found, sister]) {
      #expect(try #require(purchase(order)).prices == ["price_S"])
    }
    #expect(try #require(purchase([found])).prices == ["price_L"])
    for order in permutations([found, sister, report(session: "cs_1", prices: ["price_C"])]) {
      #expect(try #require(purchase(order)).prices == ["price_C"])
    }
  }

  @Test("Prices of which none is said to be the plan's yield to any other event's, and no lookup's")
  func unranked() throws {
    var invoice = report(prices: ["price_meter", "price_plan"])
    invoice.pricesAreUnranked = true
    let subscription = report(prices: ["price_plan", "price_meter"])
    for order in permutations([invoice, subscription]) {
      #expect(try #require(purchase(order)).prices == ["price_plan", "price_meter"])
    }
    var found = report(prices: ["price_plan"])
    found.pricesFillIn = true
    for order in permutations([invoice, found]) {
      #expect(try #require(purchase(order)).prices == ["price_meter", "price_plan"])
    }
  }

  @Test func `The purchase has the time of the earliest report, in any order`() throws {
    let order = [report(at: 7), report(at: 3), report(at: 5)]
    for order in permutations(order) {
      #expect(try #require(purchase(order)).happenedAt == start.advanced(by: .milliseconds(3)))
    }
  }

  @Test func `A checkout takes the subscription's key when an event names both`() {
    var known = Purchase(report([.paid, .objectExpected], key: session, session: "cs_1"), now: start)
    #expect(known.awaitsObject)
    known.absorb(report(key: subscription, session: "cs_other"))
    #expect(known.key == session)
    known.absorb(report(key: subscription))
    #expect(known.key == session)
    known.absorb(report(key: subscription, session: "cs_1"))
    #expect(known.key == subscription)
    #expect(!known.awaitsObject)
    known.absorb(report(key: session, session: "cs_1"))
    #expect(known.key == subscription, "and keeps it")
  }

  @Test func `A purchase is bought when its money came, by every set of observations`() {
    for bits in Int64(0)..<128 {
      let seen = Observations(rawValue: bits)
      for user: UserID? in ["u", nil] {
        let known = Purchase(
          key: subscription, observations: seen, userID: user, userSource: user == nil ? nil : .metadata,
          happenedAt: start, createdAt: start)
        let isPaid =
          seen.contains(.paid) || (seen.contains(.firstPaymentMade) && seen.contains(.promised))
        let began = seen.contains(.began) || seen.contains(.firstPaymentMade)
        let isBought = isPaid || (!seen.contains(.promised) && began && user != nil)
        #expect(known.isBought == isBought, "\(bits) \(user ?? "-")")
        #expect(known.deservesReceipt == (isBought || seen.contains(.promised)))
        #expect(!(known.endedUnpaid && known.isBought))
        #expect(!(known.isAbandoned && known.deservesReceipt))
      }
    }
  }

  @Test func `A payment that started at the relay awaits its outcome until it is paid, closed or reversed`() {
    for bits in Int64(0)..<(1 << 13) {
      let seen = Observations(rawValue: bits)
      let known = Purchase(
        key: subscription, observations: seen, userID: "u", userSource: .reference, happenedAt: start,
        createdAt: start)
      let relayed = Purchase(
        key: subscription, observations: seen.subtracting([.started, .reversed, .closed]), userID: "u",
        userSource: .reference, happenedAt: start, createdAt: start)
      #expect(known.deservesReceipt == relayed.deservesReceipt)
      #expect(known.isBought == relayed.isBought)
      #expect(known.endedUnpaid == relayed.endedUnpaid)
      let isOpen = seen.contains(.started) && !known.isPaid && seen.isDisjoint(with: [.closed, .reversed])
      #expect(known.awaitsOutcome == isOpen)
      #expect(known.isFinal == (seen.contains(.closed) || seen.contains(.reversed)))
      #expect(!(known.isAbandoned && known.deservesReceipt))
    }
  }

  @Test func `The facts of a payment are filled in, and a captured payment stays captured`() {
    var known = Purchase(
      PurchaseReport(
        key: subscription, startedBy: "u", payment: PaymentFacts(amount: "1.00", isCaptured: true),
        happenedAt: start), now: start)
    #expect(known.userID == "u")
    known.absorb(
      PurchaseReport(
        key: subscription,
        payment: PaymentFacts(amount: "2.00", currency: "USD", isCaptured: false, reference: "r"),
        happenedAt: start))
    #expect(
      known.payment
        == PaymentFacts(amount: "2.00", currency: "USD", isCaptured: true, reference: "r"),
      "the processor's amount replaces that of the start")
    let begun = PaymentFacts(amount: "3.00")
    known.absorb(PurchaseReport(key: subscription, observations: .started, payment: begun, happenedAt: start))
    #expect(known.payment?.amount == "2.00", "in either order")
    known.absorb(PurchaseReport(key: subscription, happenedAt: start))
    #expect(known.payment?.amount == "2.00")
  }

  @Test func `The data of a receipt does not change, and missing data is filled in`() {
    let fixed = Purchase(
      key: subscription, userID: "u", userSource: .customer, prices: ["price_P"], happenedAt: start,
      createdAt: start)
    var known = fixed
    known.absorb(
      report(
        .paid, session: "cs_1", reference: "other", prices: ["price_Q"],
        context: ContextBlob(text: "blob", priceID: nil)))
    known.keepContent(of: fixed)
    #expect(known.userID == "u")
    #expect(known.userSource == .customer)
    #expect(known.prices == ["price_P"])
    #expect(known.context == nil)
    #expect(known.contextID == nil)
    #expect(known.observations == .paid)
    #expect(known.sessionID == "cs_1")
    var empty = Purchase(key: subscription, happenedAt: start, createdAt: start)
    let lacking = empty
    empty.absorb(report(reference: "other", prices: ["price_Q"]))
    empty.keepContent(of: lacking)
    #expect(empty.userID == "other")
    #expect(empty.prices == ["price_Q"])
  }
}
