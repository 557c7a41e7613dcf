// Tests whose purchase it is, as values: the names of users, spoilt ids of contexts, and sales outside of the
// app.

import Domain
import TestSupport
import Testing

private let start = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let id = "ctx_01MC8E1R00ABCDEFGHJKMNPQRS"

private func purchase(_ names: [NamedUser] = [], _ observations: Observations = .paid) -> Purchase {
  var purchase = Purchase(
    key: PurchaseKey(type: .subscription, id: "sub_1"), observations: observations, happenedAt: start,
    createdAt: start)
  for name in names { purchase.learn(name) }
  return purchase
}

private func named(
  _ id: UserID, _ source: Purchase.UserSource, _ standing: NamedUser.Standing = .counts
) -> NamedUser { NamedUser(id: id, source: source, standing: standing) }

@Suite("Whose purchase it is")
struct PurchaseUserTests {
  @Test("Every distinct user is kept with the strongest source, and the strongest counts, in any order")
  func names() {
    let all = [
      named("anna", .metadata), named("ben", .ownKey), named("anna", .customerMetadata),
      named("4711", .reference, .unknown), named("null", .metadata, .refused),
    ]
    for order in permutations(all) {
      let purchase = purchase(order)
      #expect(purchase.userID == "ben")
      #expect(
        purchase.otherNames == [
          named("anna", .metadata), named("4711", .reference, .unknown), named("null", .metadata, .refused),
        ])
      #expect(purchase.userConflict)
    }
  }

  @Test func `What may not be a user, and an inferred user, are no conflict; an operator ends one`() {
    #expect(!purchase([named("ben", .ownKey), named("4711", .reference, .unknown)]).userConflict)
    #expect(!purchase([named("ben", .ownKey), named("null", .metadata, .refused)]).userConflict)
    let replaced = purchase([named("anna", .customer), named("ben", .metadata)])
    #expect(replaced.userID == "ben")
    #expect(replaced.otherNames.isEmpty)
    let decided = purchase([named("ben", .ownKey), named("anna", .metadata), named("eve", .byOperator)])
    #expect(decided.otherNames.map(\.id) == ["ben", "anna"])
    #expect(!decided.userConflict)
  }

  @Test func `A name that comes after the content was fixed is kept beside it`() {
    let fixed = purchase([named("anon", .metadata)])
    var later = fixed
    later.learn(named("jdo-1", .ownKey))
    later.keepContent(of: fixed)
    #expect(later.userID == "anon")
    #expect(later.otherNames == [named("jdo-1", .ownKey)])
    #expect(later.userConflict)
  }

  @Test func `Whitespace at the ends is no part of a user's id, and a text like a context's id is refused`() {
    #expect(NamedUser(" \tjdo 1\r\n", from: .metadata)?.id == "jdo 1")
    #expect(NamedUser(" \n", from: .metadata) == nil)
    for text in [id, "ctx_123", " CTX_1", "Ctx_"] {
      #expect(NamedUser(text, from: .ownKey)?.standing == .refused, "\(text)")
    }
    #expect(NamedUser("ctx-123", from: .ownKey)?.standing == .counts)
  }

  @Test func `A spoilt id of a context is repaired as Crockford's base32 allows, and nothing else is`() {
    for text in [
      id, id.lowercased(), " \(id)\n", "CTX_" + id.dropFirst(4), "ctx_OIMC8E1R00ABCDEFGHJKMNPQRS",
      "ctx_olmc8e1roOABCDEFGHJKMNPQRS",
    ] { #expect(ContextID(repairing: text)?.text == id, "\(text)") }
    for text in [String(id.dropLast()), id + "-1", id + id, "ctx_123", "jdo-1", "", "ctx_", "cxt" + id] {
      #expect(ContextID(repairing: text) == nil, "\(text)")
    }
  }

  @Test func `A reference counts as the configuration says, and a user is looked for only if that matters`() {
    for isKnown in [false, true] {
      #expect(ReferencePolicy.knownUser.standing { isKnown } == (isKnown ? .counts : .unknown))
      #expect(ReferencePolicy.user.standing { isKnown } == .counts)
      #expect(ReferencePolicy.context.standing { isKnown } == .unknown)
    }
  }

  @Test func `The only user of a customer is inferred where that is allowed, and two are nobody's`() {
    let one = IdentityFacts(customerUsers: ["anna"])
    let two = IdentityFacts(customerUsers: ["anna", "ben"])
    var fresh = purchase()
    fresh.completeUser(one, mayInfer: false)
    #expect(fresh.userID == nil)
    fresh.completeUser(two, mayInfer: true)
    #expect(fresh.userID == nil)
    fresh.completeUser(one, mayInfer: true)
    #expect(fresh.userID == "anna")
    #expect(fresh.userSource == .customer)
    fresh.completeUser(one, mayInfer: false)
    #expect(fresh.userID == "anna", "it was inferred before")
    fresh.completeUser(two, mayInfer: true)
    #expect(fresh.userID == nil, "a second user came")
    let awaiting = IdentityFacts(customerUsers: ["anna"], awaitsName: true)
    fresh.completeUser(awaiting, mayInfer: true)
    #expect(fresh.userID == nil, "somebody else may be named")
    fresh.completeUser(one, mayInfer: true)
    fresh.completeUser(awaiting, mayInfer: true)
    #expect(fresh.userID == nil, "the checkout named somebody since")
    var known = purchase([named("eve", .customerMetadata)])
    known.completeUser(one, mayInfer: true)
    #expect(known.userID == "eve")
    #expect(known.otherNames.isEmpty)
  }

  @Test func `A reference that becomes a user counts, and the customer's metadata are a source`() {
    var waiting = purchase([named("jdo-1", .reference, .unknown)])
    waiting.completeUser(IdentityFacts(customerNames: [named("u20", .customerMetadata)]), mayInfer: false)
    #expect(waiting.userID == "u20")
    #expect(!waiting.userConflict)
    waiting.completeUser(IdentityFacts(knownUsers: ["jdo-1"]), mayInfer: false)
    #expect(waiting.userID == "jdo-1")
    #expect(waiting.otherNames == [named("u20", .customerMetadata)])
  }

  @Test func `A sale is foreign if it is excepted, or if nothing matches, in any order of the facts`() {
    let user = [named("u1", .ownKey)]
    #expect(!purchase(user, .paid).isForeign)
    #expect(purchase(user, [.paid, .notOurs]).isForeign)
    #expect(!purchase(user, [.paid, .notOurs, .ours]).isForeign)
    #expect(purchase(user, [.paid, .excepted, .ours]).isForeign)
    #expect(!purchase(user, [.paid, .excepted]).deservesReceipt)
    #expect(!purchase(user, [.promised, .notOurs]).deservesReceipt)
  }

  @Test func `A subscription that the configuration names is bought without a user`() {
    #expect(!purchase([], .began).isBought)
    #expect(purchase([], .began).isUnmatched)
    #expect(purchase([], [.began, .ours]).isBought)
    #expect(!purchase([], [.began, .notOurs]).isUnmatched)
    #expect(!purchase([], [.began, .ended]).isUnmatched)
    #expect(!purchase(user, .began).isUnmatched)
  }

  private let user = [named("u1", .ownKey)]

  @Test("An invoice that is sent, and a subscription that began incomplete, are bought once any is paid")
  func invoices() {
    #expect(!purchase(user, .firstPaymentDue).isBought)
    #expect(purchase(user, [.firstPaymentDue, .invoicePaid]).isBought)
    #expect(!purchase(user, .invoicePaid).isBought)
  }

  @Test func `What was sold names the user before an invoice of it does, in any order`() {
    let names = [
      named("u9", .customerMetadata), named("u7", .metadataOfInvoice), named("u6", .metadata),
      named("u5", .reference), named("u4", .ownKeyOfInvoice), named("u3", .ownKey),
    ]
    for count in 1...names.count {
      let known = names.prefix(count)
      #expect(purchase(Array(known), .began).userID == known.last?.id)
      #expect(purchase(known.reversed(), .began).userID == known.last?.id)
    }
  }

  @Test("A trial that waited for its payment method is bought once an event shows that it does not any more")
  func securedTrial() {
    #expect(purchase(user, [.firstPaymentDue, .trialSecured]).isBought)
    #expect(!purchase(user, .trialSecured).isBought)
  }

  @Test func `A sale of which nothing says whether it is the app's waits like for a price, and then fails`() {
    let (policy, rules) = (JoinPolicy(), ProcessorRules.stripe(selects: true))
    let sale = purchase(user)
    let until = start + policy.waitForPrice
    func decide(_ purchase: Purchase, _ now: Timestamp) -> Join.Resolution {
      var purchase = purchase
      purchase.boughtAt = start
      return Join.resolve(purchase, policy: policy, processor: rules, now: now)
    }
    #expect(decide(sale, start) == .waiting(.price, until: until))
    #expect(decide(sale, until) == .failed(.price))
    #expect(decide(purchase(user, [.paid, .notOurs]), until) == .none)
  }

  @Test func `A user who is only inferred waits for the checkout session`() {
    var sale = purchase([named("anna", .customer)], .began)
    sale.boughtAt = start
    let policy = JoinPolicy(settle: .zero)
    func decide(_ purchase: Purchase) -> Join.Resolution {
      Join.resolve(purchase, policy: policy, processor: .stripe(), now: start)
    }
    #expect(decide(sale) == .waiting(.checkout, until: start + policy.settleCustomer))
    sale.sessionID = "cs_1"
    #expect(decide(sale) == .waiting(.price, until: start + policy.waitForPrice))
  }
}
