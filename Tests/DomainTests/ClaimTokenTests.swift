// Tests of claims: who gets a paid purchase that names no user.

import Domain
import Formats
import Platform
import TestSupport
import Testing

@Suite("A claim") struct ClaimTokenTests {
  private static let now = Timestamp(unixMilliseconds: 1_790_000_000_000)
  private static let id: ClaimID = "claim_01KAGFN8X2M5R7QZ3C6V9WJ4TD"

  private static func claim(endedAt: Timestamp? = nil, by user: UserID? = nil) -> Claim {
    Claim(
      id: id, origin: .page, offeredAt: now - .days(1), expiresAt: now + .days(6), endedAt: endedAt,
      userID: user)
  }

  private static func purchase(
    _ observations: Observations = .paid, user: UserID? = nil, _ source: Purchase.UserSource? = nil
  ) -> Purchase {
    Purchase(
      key: PurchaseKey(type: .subscription, id: "sub_1"), observations: observations, userID: user,
      userSource: source, happenedAt: now, createdAt: now)
  }

  private static func receipt(_ state: ReceiptState = .waiting, _ reason: Reason? = .user) -> Receipt {
    Receipt(id: "rcp_1", createdAt: now, state: state, reason: reason, waitUntil: now)
  }

  @Test func `A token has 130 random bits and is not derived from a time; its description hides it`() throws {
    var random = SeededGenerator(seed: 1)
    let tokens = (0..<200).map { _ in ClaimToken(random: &random) }
    #expect(Set(tokens.map(\.text)).count == 200)
    for token in tokens {
      #expect(ClaimToken(token.text) == token)
      #expect(token.text.utf8.count == 30)
      #expect("\(token)" == "clm_…")
    }
    // Every character takes every value.
    for position in 4..<30 {
      #expect(Set(tokens.map { Array($0.text)[position] }).count > 25, "\(position)")
    }
  }

  @Test(arguments: [
    "", "clm_", "clm_0123456789ABCDEFGHJKMNPQR", "clm_0123456789ABCDEFGHJKMNPQRST",
    "clm_0123456789ABCDEFGHJKMNPQRU", "clm_0123456789abcdefghjkmnpqrs", "ctx_0123456789ABCDEFGHJKMNPQRS",
    " clm_0123456789ABCDEFGHJKMNPQRS",
  ])
  func `What does not have the form of a token is none`(text: String) { #expect(ClaimToken(text) == nil) }

  @Test func `It is offered until it expires, and then claimed or revoked for good`() {
    #expect(Self.claim().state(at: Self.now) == .offered)
    #expect(Self.claim().state(at: Self.now + .days(6)) == .expired)
    #expect(Self.claim(endedAt: Self.now).state(at: Self.now) == .revoked)
    #expect(Self.claim(endedAt: Self.now, by: "u1").state(at: Self.now + .days(60)) == .claimed)
  }

  @Test func `Only a paid purchase whose receipt lacks nothing but a user can be claimed`() {
    #expect(Self.purchase().canBeClaimed(Self.receipt()))
    #expect(Self.purchase().canBeClaimed(Self.receipt(.failed)))
    #expect(!Self.purchase().canBeClaimed(nil))
    for (state, reason) in [
      (.pending, nil), (.delivered, nil), (.cancelled, .user), (.waiting, .price), (.failed, .gaveUp),
    ] as [(ReceiptState, Reason?)] {
      #expect(!Self.purchase().canBeClaimed(Self.receipt(state, reason)), "\(state)")
    }
    #expect(!Self.purchase(user: "u1", .reference).canBeClaimed(Self.receipt()))
    #expect(!Self.purchase(.promised).canBeClaimed(Self.receipt()))
    for end in [Observations.ended, .reversed] {
      #expect(!Self.purchase([.paid, end]).canBeClaimed(Self.receipt()), "\(end)")
    }
  }

  private static func decide(
    _ claim: Claim, by user: UserID = "u1", _ purchase: Purchase = purchase(), at moment: Timestamp = now
  ) -> ClaimDecision {
    ClaimDecision.decide(claim, by: user, of: purchase, receipt(), now: moment)
  }

  @Test func `The first user who brings a token gets the purchase; the same user again changes nothing`() {
    #expect(Self.decide(Self.claim()) == .claim)
    let claimed = Self.purchase(user: "u1", .claim)
    #expect(Self.decide(Self.claim(endedAt: Self.now, by: "u1"), claimed) == .repeat)
    #expect(Self.decide(Self.claim(endedAt: Self.now, by: "u1"), by: "u2", claimed) == .otherUser)
    // The receipt's other tokens were revoked by the first claim.
    #expect(Self.decide(Self.claim(endedAt: Self.now), claimed) == .repeat)
    #expect(Self.decide(Self.claim(endedAt: Self.now), by: "u2", claimed) == .gone)
  }

  @Test func `A token that expired, or whose purchase got a user from an event, gives nothing`() {
    #expect(Self.decide(Self.claim(), at: Self.now + .days(6)) == .gone)
    #expect(Self.decide(Self.claim(), Self.purchase(user: "u2", .reference)) == .gone)
    #expect(Self.decide(Self.claim(), Self.purchase([.paid, .ended])) == .gone)
  }
}
