// What a replay sends, and why it is refused.

import TestSupport
import Testing

@testable import Domain

@Suite("What a replay sends") struct ReplayContentTests {
  private static let now = Timestamp(unixMilliseconds: 1_800_000_000_000)
  private static let present = PurchaseDestinations(all: ["purchasely", "webhook"], present: "purchasely")

  private static func purchase(
    _ id: ObjectID = "sub_1", user: UserID? = "u1", price: PriceID? = "price_1"
  ) -> Purchase {
    var purchase = Purchase(key: PurchaseKey(type: .subscription, id: id), happenedAt: now, createdAt: now)
    purchase.become(user)
    purchase.prices = price.map { [$0] } ?? []
    return purchase
  }

  private static func receipt(
    _ state: ReceiptState, for destination: DestinationName?, isReversal: Bool = false
  ) -> Receipt {
    Receipt(
      id: "rcp_1", createdAt: now, state: state, reason: nil, destination: destination,
      isReversal: isReversal,
      body: destination.map { _ in [1] })
  }

  /// `made`, `new`, or what is missing.
  private func answer(
    _ receipt: Receipt, of purchase: Purchase = purchase(), to destinations: PurchaseDestinations = present
  ) -> String {
    do throws(SendingObstacle) {
      switch try purchase.contentToReplay(receipt, to: destinations, ProcessorRules()) {
      case .made: return "made"
      case .new: return "new"
      }
    } catch {
      return if case .lacks(let reason) = error { reason.text } else { "erased" }
    }
  }

  @Test func `The bytes that were made for the present destination are sent again, whatever is known now`() {
    #expect(answer(Self.receipt(.failed, for: "purchasely")) == "made")
    #expect(answer(Self.receipt(.delivered, for: "purchasely"), of: Self.purchase(user: nil)) == "made")
  }

  @Test func `Without bytes for the present destination, new ones are made if nothing is missing`() {
    for receipt in [Self.receipt(.waiting, for: nil), Self.receipt(.failed, for: "webhook")] {
      #expect(answer(receipt) == "new")
      #expect(answer(receipt, of: Self.purchase(user: nil)) == "user")
      #expect(answer(receipt, of: Self.purchase(price: nil)) == "price")
      #expect(answer(receipt, to: PurchaseDestinations(all: ["webhook"], present: nil)) == "destination")
      #expect(answer(receipt, to: .none) == "destination")
    }
  }

  @Test func `Nothing is left to send of an erased purchase, whether it was reversed or not`() {
    let purchase = Self.purchase(ObjectID(Purchase.erasedPrefix + "0"))
    for isReversal in [false, true] {
      #expect(answer(Self.receipt(.failed, for: nil, isReversal: isReversal), of: purchase) == "erased")
    }
  }

  @Test func `A reversal goes only to the destination that accepted the purchase`() {
    let reversal = Self.receipt(.failed, for: "webhook", isReversal: true)
    #expect(answer(reversal) == "made")
    #expect(
      answer(reversal, to: PurchaseDestinations(all: ["purchasely"], present: "purchasely")) == "destination")
    #expect(answer(Self.receipt(.delivered, for: "webhook", isReversal: true)) == "new")
  }
}
