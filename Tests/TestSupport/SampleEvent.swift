// Events as a processor sends them, with personal data of customers who do not exist. Values; any thread.

public import Domain
internal import Platform

/// A paid checkout of one customer.
public struct SampleEvent: Sendable {
  public let id: EventID
  /// About 2 KB of indented JSON.
  public let body: [UInt8]
  /// What identifies the customer: no other event has these texts.
  public let personal: [String]

  /// - Parameters:
  ///   - number: of the event; each has its own ids.
  ///   - customer: the number of the customer.
  ///   - metadata: more members of the metadata, as JSON.
  public init(_ number: Int, customer: Int? = nil, metadata: String = "") {
    let customer = customer ?? number
    let session = Self.id("cs_live_a1", number, length: 58)
    let event = Self.id("evt_1", number, length: 23)
    let subscription = Self.id("sub_1", number, length: 23)
    let user = Self.id("", customer, length: 28)
    let payer = Self.id("cus_", customer, length: 14)
    let name = "Given\(Self.letters(customer)) Family\(Self.letters(customer &* 7 &+ 3))"
    let mail = "given.\(Self.letters(customer).lowercased())@mail.example"
    let phone = "+4670\(1_000_000 + customer &* 7919 % 9_000_000)"
    self.id = EventID(event)
    personal = [
      session, event, subscription, user, payer, name, mail, phone, "Given\(Self.letters(customer))",
      "given.\(Self.letters(customer).lowercased())",
    ]
    body = Array(
      """
      {
        "id": "\(event)",
        "object": "event",
        "api_version": "2025-08-27.basil",
        "created": \(1_763_632_800 + number),
        "data": {
          "object": {
            "id": "\(session)",
            "object": "checkout.session",
            "amount_subtotal": 4999,
            "amount_total": 4999,
            "automatic_tax": { "enabled": false, "liability": null, "provider": null, "status": null },
            "cancel_url": "https://shop.example/plans?from=checkout",
            "client_reference_id": "\(user)",
            "collected_information": null,
            "currency": "eur",
            "customer": "\(payer)",
            "customer_creation": "always",
            "customer_details": {
              "address": { "city": null, "country": "SE", "line1": null, "postal_code": null },
              "email": "\(mail)",
              "name": "\(name)",
              "phone": "\(phone)",
              "tax_exempt": "none",
              "tax_ids": []
            },
            "expires_at": \(1_763_719_200 + number),
            "invoice": "\(Self.id("in_1", number, length: 23))",
            "livemode": true,
            "metadata": { "campaign": "winter"\(metadata) },
            "mode": "subscription",
            "payment_intent": null,
            "payment_method_collection": "always",
            "payment_method_options": { "card": { "request_three_d_secure": "automatic" } },
            "payment_method_types": ["card"],
            "payment_status": "paid",
            "shipping_options": [],
            "status": "complete",
            "subscription": "\(subscription)",
            "success_url": "https://shop.example/thanks?session={CHECKOUT_SESSION_ID}",
            "total_details": { "amount_discount": 0, "amount_shipping": 0, "amount_tax": 0 },
            "ui_mode": "hosted"
          }
        },
        "livemode": true,
        "pending_webhooks": 1,
        "request": { "id": null, "idempotency_key": null },
        "type": "checkout.session.completed"
      }
      """.utf8)
  }

  /// An id without a digit or a letter that another one has in the same place for long.
  private static func id(_ prefix: String, _ number: Int, length: Int) -> String {
    var random = SeededGenerator(seed: UInt64(number) &* 31 &+ UInt64(length))
    let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    return prefix
      + String((0..<length).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] })
  }

  private static func letters(_ number: Int) -> String {
    var random = SeededGenerator(seed: UInt64(number) &+ 77)
    return String(
      (0..<8).map { _ in Character(UnicodeScalar(UInt8(ascii: "a") + UInt8(random.next() % 26))) })
  }
}
