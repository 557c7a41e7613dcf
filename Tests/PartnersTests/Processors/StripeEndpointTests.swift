// The list of webhook endpoints at Stripe (https://docs.stripe.com/api/webhook_endpoints/list).

import Formats
import Testing

@testable import Partners

@Suite("Stripe's webhook endpoints") struct StripeEndpointTests {
  private let endpoints = StripeWebhookEndpoints()

  private func page(_ data: [JSONValue], hasMore: Bool = false) -> [UInt8] {
    let list: JSONValue = [
      "object": "list", "url": "/v1/webhook_endpoints", "has_more": .bool(hasMore), "data": .array(data),
    ]
    return list.serialized()
  }

  private func endpoint(_ id: JSONValue = "we_1", status: String = "enabled") -> JSONValue {
    [
      "id": id, "object": "webhook_endpoint", "api_version": .null, "application": .null,
      "created": 1_680_122_196, "description": .null, "enabled_events": ["charge.succeeded", "invoice.paid"],
      "livemode": false, "metadata": [:], "status": .string(status), "url": "https://example.com/my/endpoint",
    ]
  }

  @Test func `A page has its endpoints, and the cursor of the next page`() {
    let one = WebhookRegistration(
      url: "https://example.com/my/endpoint", isEnabled: true, types: ["charge.succeeded", "invoice.paid"])
    #expect(endpoints.read(page([endpoint()])) == RegistrationPage(registrations: [one], next: nil))
    let more = endpoints.read(page([endpoint(), endpoint("we_2", status: "disabled")], hasMore: true))
    #expect(more?.registrations.map(\.isEnabled) == [true, false])
    #expect(more?.next == "we_2")
    #expect(endpoints.page(after: nil).target == "/v1/webhook_endpoints?limit=100")
    #expect(
      endpoints.page(after: "we_2&x").target == "/v1/webhook_endpoints?limit=100&starting_after=we_2%26x")
  }

  @Test func `Another body is no page, and an endpoint without a URL is left out`() {
    for body in [
      "", "{", "[]", "{}", #"{"data":[]}"#, #"{"data":7,"has_more":false}"#, #"{"has_more":true}"#,
    ] {
      #expect(endpoints.read(Array(body.utf8)) == nil, "\(body)")
    }
    #expect(endpoints.read(page([endpoint(.null)], hasMore: true)) == nil, "the next page has no cursor")
    #expect(endpoints.read(page([7, [:], ["url": 7]])) == RegistrationPage(registrations: [], next: nil))
  }

  @Test func `An endpoint for all events has each of them; the needed ones are those of the README`() {
    #expect(WebhookRegistration(url: "", isEnabled: true, types: ["*"]).has("invoice.paid"))
    #expect(!WebhookRegistration(url: "", isEnabled: true, types: ["invoice.paid"]).has("charge.failed"))
    #expect(endpoints.neededTypes.count == 8)
    #expect(!endpoints.neededTypes.contains("invoice.payment_succeeded"), "it comes beside invoice.paid")
  }
}
