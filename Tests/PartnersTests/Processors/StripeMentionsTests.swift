import Domain
import Formats
import Testing

@testable import Partners

@Suite("What Stripe's events name")
struct StripeMentionsTests {
  private func mentions(_ object: JSONValue) -> Mentions {
    let event: JSONValue = ["id": "evt_1", "type": "any", "data": ["object": object]]
    return StripeProcessor.mentions(in: event.serialized())
  }

  @Test func `A session names its customer, its payment and the customer's address`() {
    let found = mentions([
      "id": "cs_test_1", "object": "checkout.session", "customer": "cus_1", "payment_intent": "pi_1",
      "subscription": "sub_1", "invoice": ["id": "in_1"], "client_reference_id": "jdo-1",
      "customer_details": ["email": " Ann@Example.COM", "name": "Ann"], "customer_email": "ann@example.com",
    ])
    #expect(found.ids == ["cs_test_1", "cus_1", "pi_1", "sub_1", "in_1", "jdo-1"])
    #expect(found.addresses == ["ann@example.com"])
  }

  @Test func `A charge, an invoice since Basil and an invoice payment lead to each other`() {
    let charge = mentions([
      "id": "ch_1", "payment_intent": ["id": "pi_1"], "invoice": .null, "receipt_email": "a@example.com",
      "billing_details": ["email": "b@example.com"],
    ])
    #expect(charge.ids == ["ch_1", "pi_1"])
    #expect(charge.addresses == ["a@example.com", "b@example.com"])
    let invoice = mentions([
      "id": "in_1", "parent": ["subscription_details": ["subscription": "sub_1"]], "customer": "cus_1",
    ])
    #expect(invoice.ids == ["in_1", "sub_1", "cus_1"])
    let payment = mentions([
      "id": "inpay_1", "invoice": "in_1", "payment": ["type": "payment_intent", "payment_intent": "pi_1"],
    ])
    #expect(payment.ids == ["inpay_1", "in_1", "pi_1"])
    #expect(mentions(["id": "cus_1", "object": "customer", "email": "c@example.com"]).addresses.count == 1)
  }

  @Test func `Any bytes give a value, and what has another type is left out`() {
    for body in ["", "{", "[]", "null", #"{"data":null}"#, #"{"data":{"object":[]}}"#] {
      #expect(StripeProcessor.mentions(in: Array(body.utf8)).isEmpty)
    }
    let found = mentions([
      "id": 7, "customer": ["id": ["x"]], "customer_details": "ann@example.com", "invoice": "a\u{0}b",
      "payment_intent": .string(String(repeating: "p", count: 300)), "receipt_email": "no address",
      "email": .string(String(repeating: "e", count: 250) + "@example.com"), "parent": [], "payment": true,
    ])
    #expect(found.isEmpty, "\(found)")
  }
}
