// Tests a subscription whose first payment is still due: with a known user it is a promise to pay.

import Domain
import TestSupport
import Testing

@Suite("Subscriptions that begin incomplete")
struct IncompleteSubscriptionTests {
  private let start = Timestamp(unixSeconds: 1_700_000_000)
  private let policy = JoinPolicy(settle: .zero, waitForContext: .zero, waitForPayment: .seconds(1))

  private func purchase(_ observations: Observations, user: String? = "u1") -> Purchase {
    let report = PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_1"), observations: observations, metadataUser: user,
      prices: ["price_1"], happenedAt: start)
    return Purchase(report, now: start)
  }

  private func resolve(_ purchase: Purchase, after milliseconds: Int64 = 0) -> Join.Resolution {
    Join.resolve(
      purchase, policy: policy, processor: .stripe(), now: start.advanced(by: .milliseconds(milliseconds)))
  }

  @Test func `It waits for its payment, and fails without one`() {
    let purchase = purchase(.firstPaymentDue)
    #expect(resolve(purchase) == .waiting(.payment, until: start.advanced(by: .seconds(1))))
    #expect(resolve(purchase, after: 1000) == .failed(.payment))
  }

  @Test func `It is bought once it is active, and cancelled once its time to be paid is over`() {
    let content = ReceiptContent(
      userID: "u1", key: PurchaseKey(type: .subscription, id: "sub_1"), priceID: "price_1", context: nil,
      boughtAt: start)
    let running = purchase([.firstPaymentDue, .began])
    #expect(resolve(running) == .ready(content, priceMismatch: false))
    #expect(resolve(purchase([.firstPaymentDue, .failed])) == .cancelled(.paymentFailed))
    #expect(
      resolve(purchase([.firstPaymentDue, .failed, .began]))
        == .ready(content, priceMismatch: false), "the money came after all")
  }

  @Test func `Without a user it makes no receipt: subscriptions are also made outside of any app`() {
    #expect(resolve(purchase(.firstPaymentDue, user: nil)) == .none)
    #expect(resolve(purchase(.failed)) == .none)
  }
}
