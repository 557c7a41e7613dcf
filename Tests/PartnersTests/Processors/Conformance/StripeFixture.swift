// Stripe in the conformance suite.

import Cryptography
import Domain
import Formats
import Partners
import TestSupport

extension ProcessorFixture {
  static let stripe: ProcessorFixture? = try? makeStripe()

  private static func makeStripe() throws -> ProcessorFixture {
    let (secret, key) = ("whsec_conformance", "rk_conformance")
    let settings = StripeSettings(apiBase: "https://stripe.example")
    let seconds = readAt.unixMilliseconds / 1000
    let events = [
      event("checkout.session.completed", paidSession),
      event("customer.subscription.created", activeSubscription), event("invoice.paid", firstInvoice),
    ]
    return ProcessorFixture(
      processor: try StripeProcessor(settings, webhookSecrets: [secret], apiKey: key),
      withoutKey: try StripeProcessor(settings, webhookSecrets: [secret]),
      genuine: try events.map { event in
        let body = event.serialized()
        let code = try HMACSHA256(key: Array(secret.utf8))
          .authenticationCode(for: Array("\(seconds).".utf8), body)
        let header = "t=\(seconds),v1=\(Hex.encode(code))"
        return WebhookRequest(body: body, address: "192.0.2.1") { $0 == "Stripe-Signature" ? [header] : [] }
      },
      key: PurchaseKey(type: .subscription, id: "sub_1"), answers: [activeSubscription.serialized()],
      secrets: [secret, key])
  }
}
