// The user from the metadata, and the context that an event names.

import Domain
import Formats
import Partners
import TestSupport
import Testing

private let completed: JSONValue = "checkout.session.completed"

private func metadata(_ values: JSONValue, userKeys: [String] = ["ply_user_id", "user_id"]) throws
  -> PurchaseReport
{
  let settings = StripeSettings(userKeys: userKeys)
  return try report(event(completed, object(paidSession, ("metadata", values))), settings)
}

@Suite("Stripe's metadata")
struct StripeMetadataTests {
  @Test func `The configured keys name the user, in their order`() throws {
    #expect(try metadata(["user_id": "second", "ply_user_id": "first"]).metadataUser == "first")
    #expect(try metadata(["user_id": "second"]).metadataUser == "second")
    #expect(try metadata(["user_id": "second"], userKeys: ["uid"]).metadataUser == nil)
    #expect(try metadata(["uid": "u", "user_id": "second"], userKeys: ["uid"]).metadataUser == "u")
    #expect(try metadata(["user_id": "second"], userKeys: []).metadataUser == nil)
    #expect(try metadata(["USER_ID": "second"]).metadataUser == nil, "keys are taken exactly")
  }

  @Test(
    arguments: [
      "", 7, true, .null, ["nested": "u"], ["u"], "new\nline", .string(String(repeating: "x", count: 256)),
    ]
      as [JSONValue])
  func `If a value cannot be a user, the next key counts`(value: JSONValue) throws {
    #expect(try metadata(["ply_user_id": value, "user_id": "next"]).metadataUser == "next")
    #expect(try metadata(["ply_user_id": value]).metadataUser == nil)
  }

  @Test(arguments: [7, true, .null, [:], []] as [JSONValue])
  func `Values that are not strings do not affect the others`(value: JSONValue) throws {
    let said = try metadata(["odd": value, "user_id": "u", "ply_context": "e30"])
    #expect(said.metadataUser == "u")
    #expect(said.context == ContextBlob(text: "e30", priceID: nil))
  }

  @Test(arguments: [.null, [], "text", 7, true] as [JSONValue])
  func `Metadata of another type count as missing`(values: JSONValue) throws {
    let said = try metadata(values)
    #expect(said.metadataUser == nil)
    #expect(said.context == nil)
    #expect(said.contextID == nil)
    #expect(said.clientReference == "u1", "and cost nothing else")
  }

  @Test func `A context is named by its blob or its id; empty values name none`() throws {
    let said = try metadata(["ply_context": "e30=", "ply_context_id": "ctx_01MCC5RM00ABCDEFGHJKMNPQRS"])
    #expect(said.context == ContextBlob(text: "e30=", priceID: nil))
    #expect(said.namedContexts.first?.id == "ctx_01MCC5RM00ABCDEFGHJKMNPQRS")
    let empty = try metadata(["ply_context": "", "ply_context_id": ""])
    #expect(empty.context == nil)
    #expect(empty.namedContexts.first?.id == nil)
    let foreign = try metadata(["ply_context_id": "42"])
    #expect(foreign.contextID == "42")
    #expect(foreign.namedContexts.first?.id == nil)
  }

  @Test func `A reference that is a context's id names the context and never the user`() throws {
    let id: JSONValue = "ctx_01MCC5RM00ABCDEFGHJKMNPQRS"
    let said = try report(event(completed, object(paidSession, ("client_reference_id", id))))
    #expect(said.namedContexts.first?.id == "ctx_01MCC5RM00ABCDEFGHJKMNPQRS")
    #expect(said.reference(.counts) == nil)
  }

  @Test(arguments: ["", .null, 7, ["u"], "a\u{7}b"] as [JSONValue])
  func `A reference that is not a usable text counts as missing`(reference: JSONValue) throws {
    let said = try report(event(completed, object(paidSession, ("client_reference_id", reference))))
    #expect(said.reference(.counts) == nil)
    #expect(said.namedContexts.first?.id == nil)
    #expect(said.key == subscription("sub_1"))
  }

  @Test("An id that is none hides no other: the session's comes before that of its subscription")
  func contextBehindAnother() throws {
    let id: JSONValue = "ctx_01MCC5RM00ABCDEFGHJKMNPQRS"
    func named(_ first: JSONValue, _ second: JSONValue) throws -> ContextID? {
      let sold: JSONValue = ["id": "sub_1", "metadata": ["ply_context_id": second]]
      let session = object(paidSession, ("metadata", ["ply_context_id": first]), ("subscription", sold))
      return try report(event(completed, session)).namedContexts.first?.id
    }
    #expect(try named("undefined", id) == "ctx_01MCC5RM00ABCDEFGHJKMNPQRS")
    #expect(try named(id, "ctx_01MCC5RM00ABCDEFGHJKMNPQRT") == "ctx_01MCC5RM00ABCDEFGHJKMNPQRS")
  }

  @Test("Of an invoice, the metadata of its subscription come before the merchant's own of the invoice")
  func invoiceOfSubscription() throws {
    let details: JSONValue = [
      "subscription_details": ["metadata": ["user_id": "u-sub"], "subscription": "sub_1"]
    ]
    let said = try report(
      event("invoice.paid", object(firstInvoice, ("metadata", ["user_id": "booking-7"]), ("parent", details)))
    )
    #expect(said.names == [named("u-sub", .metadataOfInvoice), named("booking-7", .metadataOfInvoice)])
  }

  @Test func `A subscription's and an invoice's metadata name the user as well`() throws {
    let created = object(activeSubscription, ("metadata", ["ply_user_id": "u-sub"]))
    #expect(try report(event("customer.subscription.created", created)).metadataUser == "u-sub")
    let places: [(String, JSONValue)] = [
      ("metadata", ["user_id": "u-in"]),
      ("parent", ["subscription_details": ["metadata": ["user_id": "u-in"], "subscription": "sub_1"]]),
      ("subscription_details", ["metadata": ["user_id": "u-in"]]),
      ("subscription", ["id": "sub_1", "metadata": ["user_id": "u-in"]]),
    ]
    for (name, value) in places {
      let said = try report(event("invoice.paid", object(firstInvoice, (name, value))))
      #expect(said.metadataUser == "u-in", "\(name)")
      #expect(said.key == subscription("sub_1"), "\(name)")
    }
  }
}
