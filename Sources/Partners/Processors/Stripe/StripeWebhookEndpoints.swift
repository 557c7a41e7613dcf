// Where Stripe sends an account's events (https://docs.stripe.com/api/webhook_endpoints/list). Pure; any
// thread.

internal import Domain
internal import Formats

/// The registered endpoints of an account.
struct StripeWebhookEndpoints: WebhookRegistry {
  let neededTypes = StripeQueries.types.filter { !StripeQueries.doubledTypes.contains($0) }

  func page(after cursor: String?) -> ProcessorQuery {
    let target = "/v1/webhook_endpoints?limit=\(StripeQueries.pageSize)"
    return ProcessorQuery(
      target: target + (cursor.map { "&starting_after=" + PercentEncoding.encode($0) } ?? ""))
  }

  func read(_ body: [UInt8]) -> RegistrationPage? {
    guard let list = try? JSONValue(parsing: body), case .array(let data)? = list["data"],
      case .bool(let hasMore)? = list["has_more"]
    else { return nil }
    let registrations = data.compactMap { endpoint -> WebhookRegistration? in
      guard let url = endpoint["url"]?.stringValue else { return nil }
      var types: [String] = []
      if case .array(let names)? = endpoint["enabled_events"] { types = names.compactMap(\.stringValue) }
      return WebhookRegistration(
        url: url, isEnabled: endpoint["status"]?.stringValue == "enabled", types: Set(types))
    }
    let last = UntrustedText.identifier(data.last?["id"]?.stringValue)
    // Without a cursor, the next page cannot be requested.
    if hasMore, last == nil { return nil }
    return RegistrationPage(registrations: registrations, next: hasMore ? last : nil)
  }
}
