// The relay must read sample events like Stripe's.

import Domain
import Partners
import Platform
import Sandbox
import TestSupport
import Testing

@Suite struct StripeSampleEventsTests {
  private static let now: Int64 = 1_795_000_000_500
  private static let secret = "whsec_sandbox_test"

  private static func processor(_ secrets: [String] = [secret]) throws -> StripeProcessor {
    try StripeProcessor(StripeSettings(), webhookSecrets: secrets)
  }

  private static func purchase(isSubscription: Bool) -> SandboxPurchase {
    var random = SeededGenerator(seed: 7)
    return SandboxPurchase(
      userID: "jdo-1", priceID: "price_1", isSubscription: isSubscription, random: &random)
  }

  private static func event(_ kind: SandboxEventKind, _ purchase: SandboxPurchase) -> SandboxEvent {
    var random = SeededGenerator(seed: 8)
    return StripeSampleEvents.event(kind, purchase, now: now, random: &random)
  }

  private static func report(_ kind: SandboxEventKind, _ purchase: SandboxPurchase) throws -> PurchaseReport?
  {
    let event = event(kind, purchase)
    let reading = try processor().read(event.body, now: Timestamp(unixMilliseconds: now))
    #expect(reading.id?.text == event.id)
    #expect(reading.type == kind.type)
    guard case .purchase(let report, _) = reading.content else { return nil }
    return report
  }

  @Test func aSignatureIsGenuineForItsSecretAlone() throws {
    let event = Self.event(.subscription, Self.purchase(isSubscription: true))
    let signature = try event.signature(secret: Self.secret, now: Self.now)
    let now = Timestamp(unixMilliseconds: Self.now)
    let verify = { (secret: String, body: [UInt8], now: Timestamp) throws in
      try Self.processor([secret]).authenticate(
        WebhookRequest(body: body, address: "") { $0 == "Stripe-Signature" ? [signature] : [] }, now: now)
    }
    #expect(try verify(Self.secret, event.body, now) == .genuine)
    #expect(try verify("whsec_other", event.body, now) == .refused(.mismatch))
    #expect(try verify(Self.secret, event.body + [0x20], now) == .refused(.mismatch))
    #expect(try verify(Self.secret, event.body, now.advanced(by: .seconds(301))) == .refused(.stale))
  }

  @Test(
    arguments: [
      (.subscription, true, .paid), (.payment, false, .paid),
      (.unpaid, true, .promised),
      (.unpaid, false, .promised), (.asyncSucceeded, true, .paid),
      (.asyncFailed, false, [.promised, .failed]), (.expired, false, .expired),
      (.subscriptionCreated, true, .began), (.invoicePaid, true, [.firstPaymentMade, .invoicePaid]),
    ] as [(SandboxEventKind, Bool, Observations)])
  func eachKindSaysWhatItsNameSays(
    kind: SandboxEventKind, isSubscription: Bool, observations: Observations
  ) throws {
    let purchase = Self.purchase(isSubscription: isSubscription)
    let report = try #require(try Self.report(kind, purchase))
    #expect(report.observations == observations)
    #expect(
      report.key
        == PurchaseKey(
          type: isSubscription ? .subscription : .checkoutSession, id: ObjectID(purchase.objectID)))
    #expect(report.prices == ["price_1"])
    #expect(report.customerID?.text == purchase.customerID)
    #expect(report.clientReference == "jdo-1" || report.metadataUser == "jdo-1")
    #expect(report.happenedAt == Timestamp(unixMilliseconds: Self.now))
  }

  @Test func aContextIsNamedInTheMetadata() throws {
    var purchase = Self.purchase(isSubscription: true)
    purchase.contextID = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
    purchase.context = "e30="
    let report = try #require(try Self.report(.subscription, purchase))
    #expect(report.contextID == "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD")
    #expect(report.context?.text == "e30=")
    #expect(report.clientReference == "jdo-1")
  }

  @Test func withoutAUserTheContextIsTheReferenceAsAPaymentLinkHandsItOn() throws {
    var purchase = Self.purchase(isSubscription: true)
    purchase.userID = nil
    purchase.contextID = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
    let report = try #require(try Self.report(.subscription, purchase))
    #expect(report.clientReference == "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD")
    #expect(report.contextID == nil)
  }

  @Test func idsLookLikeStripes() {
    let purchase = Self.purchase(isSubscription: true)
    #expect(purchase.sessionID.hasPrefix("cs_test_a1"))
    #expect(purchase.sessionID.count == 66)
    #expect(purchase.subscriptionID?.hasPrefix("sub_1") ?? false)
    #expect(purchase.customerID.hasPrefix("cus_"))
    #expect(purchase.customerID.count == 18)
    #expect(Self.event(.payment, purchase).id.count == 28)
  }

  @Test func typesAreKnownByBothNames() {
    for kind in SandboxEventKind.allCases { #expect(SandboxEventKind(name: kind.rawValue) == kind) }
    #expect(SandboxEventKind(name: "invoice.paid") == .invoicePaid)
    #expect(SandboxEventKind(name: "checkout.session.completed") == .subscription)
    #expect(SandboxEventKind(name: "charge.refunded") == nil)
  }
}
