// Tests of the rules by which operators see whether contexts join: outcomes, health and near misses.

import Domain
import Formats
import TestSupport
import Testing

@Suite("Join health")
struct JoinHealthTests {
  private static let start = Timestamp(unixMilliseconds: 1_800_000_000_000)

  private static func purchase(
    _ source: Purchase.ContextSource?, candidates: Int64? = nil, id: ObjectID = "sub_1"
  ) -> Purchase {
    Purchase(
      key: PurchaseKey(type: .subscription, id: id), userID: "u1", prices: ["price_1"],
      context: source == nil ? nil : ContextBlob(text: "blob", priceID: nil), contextSource: source,
      contextCandidates: candidates, happenedAt: start, createdAt: start)
  }

  private static func receipt(
    _ state: ReceiptState = .delivered, _ reason: Reason? = nil, isReady: Bool = true,
    mismatch: Bool = false, disputed: Bool = false
  ) -> Receipt {
    Receipt(
      id: "rcp_1", createdAt: start, state: state, reason: reason, priceMismatch: mismatch,
      contextDisputed: disputed, readyAt: isReady ? start : nil)
  }

  static let outcomes: [(Purchase, Receipt, JoinOutcome?)] = [
    (purchase(.blob), receipt(), .exact), (purchase(.metadata), receipt(), .exact),
    (purchase(.reference), receipt(), .exact), (purchase(.byOperator), receipt(), .exact),
    (purchase(.guess, candidates: 1), receipt(), .user),
    (purchase(.guess, candidates: 1), receipt(mismatch: true), .guessed),
    (purchase(.guess, candidates: 2), receipt(), .guessed), (purchase(.guess), receipt(), .guessed),
    (purchase(nil), receipt(), JoinOutcome.none),
    (purchase(.guess, candidates: 1), receipt(disputed: true), .disputed),
    (purchase(nil), receipt(.waiting, .context, isReady: false), JoinOutcome.none),
    (purchase(nil), receipt(.waiting, .price, isReady: false), nil),
    (purchase(nil), receipt(.failed, .user, isReady: false), nil),
    (purchase(.blob, id: "erased:00"), receipt(), nil),
  ]

  @Test("Each receipt has one outcome, or none yet", arguments: outcomes)
  func outcome(purchase: Purchase, receipt: Receipt, expected: JoinOutcome?) {
    #expect(JoinOutcome(purchase, receipt) == expected)
  }

  private static func tally(_ exact: Int64, _ none: Int64, unclaimed: Int64 = 0) -> JoinTally {
    JoinTally(receipts: [.exact: exact, .none: none], contexts: unclaimed, unclaimed: unclaimed)
  }

  static let health: [(recent: JoinTally, earlier: JoinTally, isBroken: Bool)] = [
    (tally(0, 20, unclaimed: 20), tally(500, 10), true),
    (tally(40, 60, unclaimed: 60), tally(900, 100), true),
    // Half as many as usual, or more.
    (tally(45, 55, unclaimed: 60), tally(900, 100), false),
    // It was always so.
    (tally(5, 95, unclaimed: 60), tally(10, 190, unclaimed: 100), false),
    // Too few, or an app that posts no contexts.
    (tally(0, 9, unclaimed: 20), tally(500, 10), false), (tally(0, 90, unclaimed: 9), tally(500, 10), false),
    (JoinTally(), JoinTally(), false), (tally(0, 100), tally(100, 0), false),
    // Nothing to compare with: less than a fifth of twenty.
    (tally(0, 20, unclaimed: 20), JoinTally(), true), (tally(4, 16, unclaimed: 20), tally(19, 0), false),
    (tally(3, 16, unclaimed: 20), tally(19, 0), false), (tally(3, 17, unclaimed: 20), tally(19, 0), true),
  ]

  @Test("Contexts count as not joining only against what is usual for the app", arguments: health)
  func broken(recent: JoinTally, earlier: JoinTally, isBroken: Bool) {
    #expect(JoinHealth.isBroken(recent: recent, earlier: earlier) == isBroken)
  }

  static let causes: [(hours: Int64, price: PriceID?, isClaimed: Bool, cause: NearMiss.Cause?)] = [
    (-27, nil, false, .early(by: .hours(3))), (-24, "price_1", false, .possible),
    (-1, "price_2", false, .otherPrice("price_2")), (-1, "monthly", false, .possible),
    (2, nil, false, .late(by: .hours(2))), (-1, nil, true, .claimed(by: "rcp_2")),
    (-27, nil, true, nil), (2, nil, true, nil), (-24 * 9, nil, false, nil), (24 * 8, nil, false, nil),
  ]

  @Test("A context of the user is explained if it is near the window of the purchase", arguments: causes)
  func cause(hours: Int64, price: PriceID?, isClaimed: Bool, cause: NearMiss.Cause?) {
    let found = NearMiss.cause(
      postedAt: Self.start + .hours(hours), price: price, isClaimed: isClaimed, by: "rcp_2",
      of: Self.purchase(nil), fixedAt: Self.start, policy: JoinPolicy(), processor: .stripe(),
      now: Self.start + .days(30))
    #expect(found == cause)
  }

  @Test func `Ids are similar if they differ only in case and separators`() {
    for other: UserID in ["jdo-1", "JDO_1", " jdo1 ", "Jdo.1"] {
      #expect(NearMiss.areSimilar("JDO-1", other))
    }
    for other: UserID in ["jdo-2", "", "--", "jdo-11"] { #expect(!NearMiss.areSimilar("JDO-1", other)) }
    #expect(!NearMiss.areSimilar("--", "-"))
  }
}
