// Tests of claims: a paid purchase without a user becomes the user's who brings a token, once.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Claims", .everyEngine)
struct ClaimTests {
  private let store: TestStore

  init() throws {
    store = try TestStore()
    try store.ingest(Said.completed("1", user: nil, prices: ["price_1"]))
  }

  private func offer(
    _ origin: ClaimOrigin = .operator, lifetime: Duration = ClaimPolicy().lifetime
  ) throws -> OfferClaim.Outcome {
    let id = try store.only().receiptID
    return try store.apply(OfferClaim(id, app: "ios", origin: origin, actor: "ann", lifetime: lifetime))
  }

  private func token(lifetime: Duration = ClaimPolicy().lifetime) throws -> ClaimToken {
    guard case .offered(_, let token) = try offer(lifetime: lifetime) else { throw NoToken() }
    return token
  }

  private struct NoToken: Error {}

  private enum Word { case claimed, repeated, otherUser, gone, unknown }

  private func use(_ token: ClaimToken, by user: UserID = "u1", app: AppSlug = "ios") throws -> Word {
    switch try store.apply(UseClaim(token, app: app, userID: user)) {
    case .claimed: .claimed
    case .repeated: .repeated
    case .otherUser: .otherUser
    case .gone: .gone
    case .unknown: .unknown
    }
  }

  private func states() throws -> [ClaimState] {
    try store.reader.claims(ClaimFilter(), now: store.now, limit: 100).entries.map(\.state).reversed()
  }

  @Test func `A token gives the purchase to the user who brings it, and is stored as a hash only`() throws {
    #expect(try store.status() == "waiting/user")
    let token = try token()
    #expect(try use(token) == .claimed)
    #expect(try store.status() == "waiting/context", "the user may have posted one")
    store.advance(hour)
    try store.endWaits()
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 -")
    #expect(try store.only().purchase.userSource == .claim)
    let dump = try TestEngine.current.dump(store.folder)
    #expect(dump.contains("claims: "))
    #expect(!dump.contains(token.text))
  }

  @Test("The context of the user who brings the token is sent, as if an event had named the user")
  func context() throws {
    try store.post("blob", user: "u1", price: "price_1")
    #expect(try use(try token()) == .claimed)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
  }

  @Test("The same user again is a repeat, and another user is refused, also after a restart (R9)")
  func repeats() throws {
    let token = try token()
    #expect(try use(token) == .claimed)
    let claimed = try store.only()
    try store.reopen()
    #expect(try use(token) == .repeated)
    #expect(try use(token, by: "u2") == .otherUser)
    #expect(try store.only() == claimed)
  }

  @Test func `The first claim ends all tokens of the receipt`() throws {
    let one = try token()
    store.advance(1)
    let two = try token()
    #expect(try use(two) == .claimed)
    #expect(try states() == [.revoked, .claimed])
    #expect(try use(one, by: "u2") == .gone)
    #expect(try use(one) == .repeated)
    #expect(try store.only().purchase.userID == "u1")
  }

  @Test func `A receipt that failed without a user can be claimed`() throws {
    store.advance(2 * day)
    try store.endWaits()
    #expect(try store.status() == "failed/user")
    #expect(try use(try token()) == .claimed)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 -")
  }

  @Test func `What the receipt lacks besides its user, it waits for after the claim`() throws {
    let other = try TestStore()
    try other.ingest(Said.completed("1", user: nil))
    guard
      case .offered(_, let token) = try other.apply(
        OfferClaim(try other.only().receiptID, app: "ios", origin: .page, lifetime: .days(1)))
    else { throw NoToken() }
    _ = try other.apply(UseClaim(token, app: "ios", userID: "u1"))
    #expect(try other.status() == "waiting/price")
  }

  @Test func `A receipt has at most five open tokens; one that is revoked or expired makes room`() throws {
    for _ in 0..<Claim.openMax { _ = try token(lifetime: .hours(1)) }
    #expect(try offer() == .tooMany)
    store.advance(hour)
    #expect(try use(try token()) == .claimed)
  }

  @Test func `A token expires, is revoked by the operator, and another app does not know it`() throws {
    let token = try token(lifetime: .hours(1))
    #expect(try use(token, app: "web") == .unknown)
    store.advance(hour)
    #expect(try use(token) == .gone)
    let id = try store.only().receiptID
    _ = try self.token()
    let revoked = try self.token()
    let newest = try #require(try store.reader.claims(ClaimFilter(), now: store.now, limit: 1).entries.first)
    #expect(try store.apply(RevokeClaims(.claim(newest.claim.id))) == 1)
    #expect(try store.apply(RevokeClaims(.claim(newest.claim.id))) == 0)
    #expect(try use(revoked) == .gone)
    #expect(try store.apply(RevokeClaims(.receipt(id))) == 2)
    #expect(try states() == [.revoked, .revoked, .revoked])
    #expect(try store.apply(RevokeClaims(.receipt("rcp_none"))) == nil)
    #expect(try store.status() == "waiting/user")
  }

  @Test func `A user that a later event names beats an unused token`() throws {
    let token = try token()
    try store.ingest(Said.created("1", user: "u2"))
    #expect(try states() == [.revoked])
    #expect(try use(token) == .gone)
    #expect(try store.only().purchase.userID == "u2")
  }

  @Test("An operator who completes the receipt ends its tokens, and a receipt with a user gets none")
  func completed() throws {
    let token = try token()
    let id = try store.only().receiptID
    _ = try store.apply(CompleteReceipt(id: id, userID: "u2", priceID: nil, contextID: nil))
    #expect(try use(token) == .gone)
    #expect(try offer() == .notClaimable)
    for (id, app) in [("rcp_none", "ios"), (id, "web")] as [(ReceiptID, AppSlug)] {
      #expect(try store.apply(OfferClaim(id, app: app, origin: .page, lifetime: .days(1))) == .notFound)
    }
  }

  @Test func `A purchase that ended cannot be claimed any more`() throws {
    let token = try token()
    var said = Said.created("1")
    said.observations = .ended
    try store.ingest(said)
    #expect(try use(token) == .gone)
  }

  @Test func `Tokens follow their purchase when its subscription becomes known`() throws {
    let other = try TestStore()
    try other.ingest(Said.payment("1", user: nil))
    let id = try other.only().receiptID
    let offered = try other.apply(OfferClaim(id, app: "ios", origin: .page, lifetime: .days(1)))
    guard case .offered(_, let token) = offered else { throw NoToken() }
    try other.ingest(Said.created("1"))
    try other.ingest(Said.completed("1", user: nil, prices: ["price_1"]))
    _ = try other.apply(UseClaim(token, app: "ios", userID: "u1"))
    #expect(try other.only().purchase.userID == "u1")
  }

  @Test func `The list is newest first, by app, receipt and state, and its pages continue`() throws {
    _ = try token(lifetime: .hours(1))
    store.advance(hour)
    _ = try token()
    let id = try store.only().receiptID
    var filter = ClaimFilter()
    func found(_ change: (inout ClaimFilter) -> Void) throws -> [ClaimState] {
      var filter = filter
      change(&filter)
      return try store.reader.claims(filter, now: store.now, limit: 10).entries.map(\.state)
    }
    #expect(try found { _ in } == [.offered, .expired])
    #expect(try found { $0.app = "web" } == [])
    #expect(try found { $0.app = "ios" } == [.offered, .expired])
    #expect(try found { $0.receiptID = id } == [.offered, .expired])
    #expect(try found { $0.receiptID = "rcp_none" } == [])
    for state in ClaimState.allCases {
      #expect(
        try found { $0.states = [state] } == ([.offered, .expired].contains(state) ? [state] : []), "\(state)"
      )
    }
    #expect(try found { $0.since = store.now } == [.offered])
    #expect(try found { $0.until = store.now } == [.expired])
    filter.after = try store.reader.claims(filter, now: store.now, limit: 1).entries.first?.claim.id
    #expect(try found { _ in } == [.expired])
  }

  @Test func `Claims of a state are compared a part at a time, and none is left out`() throws {
    _ = try token(lifetime: .hours(1))
    for _ in 0..<2 {
      store.advance(1)
      _ = try token(lifetime: .hours(9))
    }
    store.advance(hour)
    var filter = ClaimFilter()
    filter.states = [.expired, .claimed]
    let first = try store.reader.claims(filter, now: store.now, limit: 10, comparing: 2)
    #expect(first.entries.isEmpty)
    #expect(first.compared == 2)
    filter.after = first.next
    let rest = try store.reader.claims(filter, now: store.now, limit: 10, comparing: 2)
    #expect(rest.entries.map(\.state) == [.expired])
    #expect(rest.next == nil)
    filter = ClaimFilter()
    #expect(try store.reader.claims(filter, now: store.now, limit: 2, comparing: 1).entries.count == 2)
  }

  @Test func `Retention deletes a receipt's claims with it`() throws {
    #expect(try use(try token()) == .claimed)
    let id = try store.only().receiptID
    _ = try store.apply(CancelReceipt(id: id, note: "test"))
    store.advance(day)
    _ = try store.apply(Retain(table: .receipts, cutoff: store.now, afterRow: 0))
    #expect(try store.integer("SELECT count(*) FROM claims") == 0)
  }

  @Test func `An erasure removes the claims of the user's purchases, and the user from others`() throws {
    let token = try token()
    #expect(try use(token, by: "user-jane") == .claimed)
    let record = try store.only()
    _ = try store.apply(CancelReceipt(id: record.receiptID, note: "test"))
    _ = try store.apply(
      CompleteReceipt(id: record.receiptID, userID: "u2", priceID: nil, contextID: nil, force: true))
    #expect(try store.reader.appsWithClaims(ofUser: "user-jane") == ["ios"])
    #expect(try store.apply(ForgetUserRows(.claims, app: "ios", userID: "user-jane")) == 1)
    #expect(try store.apply(ForgetUserRows(.claims, app: "ios", userID: "user-jane")) == 0)
    #expect(try store.apply(ForgetUserRows(.names, app: "ios", userID: "user-jane")) == 1)
    #expect(try !TestEngine.current.dump(store.folder).contains("user-jane"))
    #expect(try use(token, by: "u3") == .otherUser)
    _ = try store.apply(ForgetPurchases(rows: [record.rowID], cancelsOpen: true))
    #expect(try use(token, by: "u3") == .unknown)
  }
}
