// The users that Stripe's objects name, with their sources, and the facts about customers.

import Domain
import Formats
import Partners
import Testing

private let completed: JSONValue = "checkout.session.completed"

private func names(_ session: JSONValue, _ settings: StripeSettings = StripeSettings()) throws -> [NamedUser]
{
  try report(event(completed, session), settings).names
}

private func refused(_ id: UserID, _ source: Purchase.UserSource) -> NamedUser {
  NamedUser(id: id, source: source, standing: .refused)
}

@Suite("The users that Stripe's objects name") struct StripeNamesTests {
  @Test("The relay's own key is another source than the merchant's keys, and counts also if it is not listed")
  func ownKey() throws {
    let session = object(paidSession, ("metadata", ["ply_user_id": "a", "user_id": "b"]))
    #expect(try names(session) == [named("a", .ownKey), named("b", .metadata)])
    #expect(
      try names(session, StripeSettings(userKeys: ["user_id"])) == [
        named("a", .ownKey), named("b", .metadata),
      ])
  }

  @Test("The session's metadata precede the subscription's, and those the payment's; a user is named once")
  func objects() throws {
    let session = object(
      paidSession, ("metadata", ["ply_user_id": "a"]),
      ("subscription", ["id": "sub_1", "metadata": ["ply_user_id": "b"]]),
      ("payment_intent", ["id": "pi_1", "metadata": ["ply_user_id": "c", "user_id": "a"]]))
    #expect(try names(session) == [named("a", .ownKey), named("b", .ownKey), named("c", .ownKey)])
  }

  @Test("The session's name of a source counts before the subscription's, whichever event comes first (R2)")
  func eventOrder() throws {
    let session = try report(
      event(completed, object(paidSession, ("metadata", ["ply_user_id": "a", "user_id": "x"]))))
    let subscription = try report(
      event(
        "customer.subscription.created",
        object(activeSubscription, ("metadata", ["ply_user_id": "b", "user_id": "y"]))))
    var one = Purchase(session, reference: .unknown, now: readAt)
    one.absorb(subscription, reference: .unknown)
    var other = Purchase(subscription, reference: .unknown, now: readAt)
    other.absorb(session, reference: .unknown)
    #expect(one.userID == "a")
    #expect(other.userID == "a")
    #expect(one.otherNames == other.otherNames)
    #expect(one.userConflict)
  }

  @Test func `Keys count in their order, each in all objects`() throws {
    let session = object(
      paidSession, ("metadata", ["second": "x"]),
      ("subscription", ["id": "sub_1", "metadata": ["first": "y"]]))
    let settings = StripeSettings(userKeys: ["first", "second"])
    #expect(try names(session, settings) == [named("y", .metadata), named("x", .metadata)])
  }

  @Test func `The metadata of an expanded customer are a weaker source`() throws {
    let session = object(
      paidSession, ("customer", ["id": "cus_1", "metadata": ["user_id": "u20", "ply_user_id": "u21"]]))
    let said = try report(event(completed, session))
    #expect(said.names == [named("u21", .customerMetadata), named("u20", .customerMetadataOfLaterKey)])
    #expect(said.customerID == "cus_1")
  }

  @Test func `Placeholders and ids of contexts are kept as refused`() throws {
    let session = object(
      paidSession, ("metadata", ["ply_user_id": "undefined", "user_id": "ctx_123"]),
      ("customer", ["id": "cus_1", "metadata": ["user_id": "Anonymous"]]))
    #expect(
      try names(session) == [
        refused("undefined", .ownKey), refused("ctx_123", .metadata), refused("Anonymous", .customerMetadata),
      ])
  }

  @Test(arguments: ["null", " NULL\n"])
  func `A placeholder as the reference is a refused name, and no reference`(text: String) throws {
    let said = try report(event(completed, object(paidSession, ("client_reference_id", .string(text)))))
    #expect(said.clientReference == nil)
    #expect(said.names.map(\.standing) == [.refused])
    #expect(said.names.map(\.source) == [.reference])
    var settings = StripeSettings()
    settings.userIDs = UserIDRules(allow: ["null"])
    let allowed = try report(
      event(completed, object(paidSession, ("client_reference_id", .string(text)))), settings)
    #expect(allowed.clientReference?.lowercased() == "null")
    #expect(allowed.names.isEmpty)
  }

  @Test func `Whitespace around users and references is no part of them`() throws {
    let session = object(
      paidSession, ("metadata", ["user_id": "\t jdo-1 "]), ("client_reference_id", " jdo-2\n"))
    let said = try report(event(completed, session))
    #expect(said.names == [named("jdo-1", .metadata)])
    #expect(said.clientReference == "jdo-2")
  }

  @Test func `A reference that looks like a context's id stays one, for its repair`() throws {
    let said = try report(event(completed, object(paidSession, ("client_reference_id", " ctx_01kagfn8 "))))
    #expect(said.clientReference == "ctx_01kagfn8")
    #expect(said.names.isEmpty)
  }

  @Test(arguments: ["customer.created", "customer.updated"])
  func `A customer's own events name its users`(type: String) throws {
    let customer: JSONValue = ["id": "cus_20", "object": "customer", "metadata": ["user_id": "u20"]]
    guard case .customer(let facts) = try read(event(.string(type), customer)).content else {
      Issue.record("no facts")
      return
    }
    #expect(facts.customerID == "cus_20")
    #expect(facts.names == [named("u20", .customerMetadata)])
    #expect(facts.areOfCustomer)
    #expect(facts.happenedAt == happenedAt)
  }

  @Test func `A customer without metadata replaces the users that it had`() throws {
    let customer: JSONValue = ["id": "cus_20", "object": "customer", "metadata": [:]]
    guard case .customer(let facts) = try read(event("customer.updated", customer)).content else {
      Issue.record("no facts")
      return
    }
    #expect(facts.names.isEmpty)
    #expect(try outcome(event("customer.updated", object(customer, ("id", nil)))) == .ignored)
    #expect(try outcome(event("customer.deleted", customer)) == .ignored)
  }

  @Test func `A completed setup session makes no purchase, and names its customer's user`() throws {
    let setup = object(
      paidSession, ("mode", "setup"), ("subscription", .null), ("payment_status", "no_payment_required"),
      ("metadata", ["ply_user_id": "u7", "ply_context_id": "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"]))
    guard case .customer(let facts) = try read(event(completed, setup)).content else {
      Issue.record("no facts")
      return
    }
    #expect(facts.customerID == "cus_1")
    #expect(facts.clientReference == "u1")
    #expect(facts.contextID == "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD")
    #expect(facts.names == [named("u7", .ownKey)])
    #expect(!facts.areOfCustomer)
    #expect(try outcome(event(completed, object(setup, ("customer", .null)))) == .ignored)
    #expect(try outcome(event("checkout.session.expired", setup)) == .ignored)
  }

  @Test func `A setup session of another app, or of Purchasely, teaches nothing`() throws {
    let setup = object(
      paidSession, ("mode", "setup"), ("subscription", .null), ("metadata", ["ply_provider": "purchasely"]))
    #expect(try outcome(event(completed, setup)) == .ignored)
  }
}
