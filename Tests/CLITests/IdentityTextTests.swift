// Tests the paragraph that explains a receipt's user, context and price: every source, every name that lost,
// and what would have changed it.

import Domain
import Reports
import Store
import TestSupport
import Testing

@Suite("Why a receipt has its user, its context and its price")
struct IdentityTextTests {
  private static let now = Timestamp(unixMilliseconds: 1_800_000_000_000)

  private func record(_ change: (inout Purchase) -> Void) -> PurchaseRecord {
    var purchase = Purchase(
      key: PurchaseKey(type: .subscription, id: "sub_1"), observations: .paid, customerID: "cus_1",
      prices: ["price_1"], happenedAt: Self.now, createdAt: Self.now)
    change(&purchase)
    let receipt = Receipt(id: "rcp_1", createdAt: Self.now, state: .waiting, reason: .user)
    return PurchaseRecord(rowID: 1, app: "ios", purchase: purchase, receipt: receipt, updatedAt: Self.now)
  }

  private func words(
    customer users: [UserID] = [], awaited: [ContextID] = [], isFailed: Bool = false,
    _ processor: ProcessorRules? = ProcessorRules(), _ change: (inout Purchase) -> Void
  ) -> String {
    var record = record(change)
    if isFailed {
      record.receipt = Receipt(id: "rcp_1", createdAt: Self.now, state: .failed, reason: .user)
    }
    return IdentityText.paragraph(record, customerUsers: users, awaited: awaited, processor: processor)
  }

  private func named(_ id: UserID, _ source: Purchase.UserSource, _ standing: NamedUser.Standing = .counts)
    -> NamedUser
  { NamedUser(id: id, source: source, standing: standing) }

  @Test(arguments: [
    (Purchase.UserSource.byOperator, "because an operator said so"), (.claim, "who claimed the purchase"),
    (.context, "whose context the checkout names"), (.ownKey, "named in the metadata as ply_user_id"),
    (.reference, "named in the checkout's client_reference_id"), (.metadata, "named in the metadata"),
    (.customerMetadata, "named in the customer's metadata"),
    (.customerMetadataOfLaterKey, "named in the customer's metadata"),
  ])
  func `The source of the user is named`(source: Purchase.UserSource, text: String) {
    let said = words { $0.learn(named("jdo-1", source)) }
    #expect(said.hasPrefix("The user is 'jdo-1', \(text)."))
  }

  @Test func `What was inferred is not called named`() {
    let said = words { $0.learn(named("jdo-1", .customer)) }
    #expect(said.hasPrefix("No event names a user: 'jdo-1' was inferred"))
    #expect(!said.contains("names 'jdo-1'"))
  }

  @Test func `A purchase without any name says so, and what would have named the user`() {
    let said = words { _ in }
    #expect(said.hasPrefix("No event names a user."))
    #expect(said.contains("metadata `ply_user_id`, would have named the user"))
  }

  @Test func `An unknown reference says how to make references count`() {
    let name = named("jdo-1", .reference, .unknown)
    let said = words { $0.learn(name) }
    #expect(
      said.contains(
        "the checkout's reference 'jdo-1' is no user who posted a context; if your pages put user ids there, "
          + "set `stripe.reference: \"user\"`"))
    let strict = words(ProcessorRules(reference: .context)) { $0.learn(name) }
    #expect(strict.contains("is no context's id, and `stripe.reference: \"context\"` lets it be nothing"))
  }

  @Test func `A placeholder and a spoilt context's id are refused for different reasons`() {
    let placeholder = words { $0.learn(named("undefined", .metadata, .refused)) }
    #expect(placeholder.contains("is a placeholder and no user"))
    let spoilt = words { $0.learn(named("CTX_123", .reference, .refused)) }
    #expect(spoilt.contains("looks like a context's id"))
  }

  @Test func `The users of an ambiguous customer are named`() {
    let said = words(customer: ["ben", "anna"]) { _ in }
    #expect(said.hasPrefix("The customer cus_1 was seen with several users ('anna', 'ben')"))
    #expect(!words(customer: ["anna"]) { _ in }.contains("several users"))
  }

  @Test func `The only user of the customer is a suggestion for a receipt that failed without one`() {
    let text =
      "The customer cus_1 was seen with 'anna'. If the purchase is theirs: receiptctl receipts complete "
      + "rcp_1 --user USER."
    #expect(words(customer: ["anna"], isFailed: true) { _ in }.contains(text))
    #expect(!words(customer: ["anna"]) { _ in }.contains(text))
    #expect(!words(customer: ["anna", "ben"], isFailed: true) { _ in }.contains("If the purchase is theirs"))
    let other = words(customer: ["anna"], awaited: ["ctx_9"], isFailed: true) { _ in }
    #expect(!other.contains("anna"))
  }

  @Test func `A context that is named and not posted yet is what the receipt waits for`() {
    let nobody = words(awaited: ["ctx_9"]) { _ in }
    #expect(nobody.hasPrefix("The checkout names the context ctx_9, which was not posted to this app"))
    let known = words(awaited: ["ctx_9"]) { $0.learn(named("jdo-1", .metadata)) }
    #expect(known.contains("It has no context: ctx_9 is named, and was not posted to this app."))
  }

  @Test func `A weaker name is kept, and is a conflict`() {
    let said = words {
      $0.learn(named("anon-1", .context))
      $0.learn(named("jdo-1", .metadata))
    }
    #expect(said.contains("'jdo-1' is named in the metadata, which counts less."))
    #expect(said.contains("marked user_conflict"))
  }

  @Test func `A stronger name that came too late says how to correct the receipt`() {
    let said = words {
      $0.learn(named("anon-1", .reference))
      $0.keep(named("jdo-1", .ownKey))
    }
    #expect(said.contains("which counts more, but came after the receipt was made"))
    #expect(said.contains("receiptctl receipts correct rcp_1 --user USER --why TEXT"))
  }

  @Test func `A guessed context is called the newest that fits, and a missing one is explained`() {
    let guessed = words {
      $0.learn(named("jdo-1", .metadata))
      ($0.contextID, $0.context) = ("ctx_1", ContextBlob(text: "x", priceID: nil))
      ($0.contextSource, $0.contextCandidates) = (.guess, 3)
    }
    #expect(guessed.contains("No event names a context: ctx_1 is the user's newest that fits of 3."))
    #expect(words { $0.learn(named("jdo-1", .metadata)) }.contains("It has no context: none is named"))
    #expect(words { _ in }.contains("Without a user it has no context."))
  }

  @Test func `The price is explained: the only one, the context's, or the first`() {
    #expect(words { _ in }.hasSuffix("The price is price_1, the only one that is named."))
    #expect(words { $0.prices = [] }.hasSuffix("No event names a price."))
    #expect(words { $0.prices = ["price_1", "fee"] }.contains("price_1, the first of price_1, fee"))
    let chosen = words {
      $0.prices = ["fee", "price_1"]
      $0.context = ContextBlob(text: "x", priceID: "fee")
    }
    #expect(chosen.contains("The price is fee, as the context says, one of the 2 of this purchase."))
    let other = words { $0.context = ContextBlob(text: "x", priceID: "price_9") }
    #expect(other.hasSuffix("The context names price_9, which this purchase does not have."))
    let free = words(ProcessorRules(namesPrices: false)) { $0.prices = [] }
    #expect(!free.contains("price"))
  }

  @Test func `A foreign sale and an erased user have one sentence each`() {
    let foreign = words { $0.observations.insert(.excepted) }
    #expect(foreign == "It is a sale of something else, by `sells` or `except`: it gets no receipt.")
    #expect(words { $0.key.id = "erased:1" } == "Its user's data was erased.")
  }
}
