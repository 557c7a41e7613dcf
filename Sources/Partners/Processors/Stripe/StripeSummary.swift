// What a customer bought, from Stripe's events. Pure; any thread.

internal import Domain
internal import Formats

/// Reads the amount of a checkout session (https://docs.stripe.com/api/checkout/sessions/object), the name of
/// what its first invoice is for, and whether the subscription began with a trial. A session in a webhook has
/// no line items. Later invoices of a subscription are not of the checkout.
enum StripeSummary {
  /// The events that can say it.
  static let types: Set = [
    "checkout.session.completed", "checkout.session.async_payment_succeeded", "invoice.paid",
    "invoice.payment_succeeded", "customer.subscription.created",
  ]

  /// - Returns: nil for events that say nothing about a checkout.
  static func read(_ body: [UInt8]) -> PurchaseSummary? {
    var summary: PurchaseSummary?
    JSONDocument.read(body) { root in
      guard let envelope = StripeEnvelope(root), let object = envelope.object else { return }
      switch object.kind {
      case "checkout.session" where object.status != "expired":
        summary = PurchaseSummary(
          item: object.lineItems.flatMap(item), money: isDueLater(object) ? nil : money(object.node),
          at: envelope.created.map { Timestamp(unixSeconds: $0) },
          isFree: isDueLater(object) || object.node.member("amount_total")?.int64 == 0,
          isLive: envelope.livemode)
      case "invoice" where object.billingReason == "subscription_create":
        summary = PurchaseSummary(
          item: object.lines.flatMap(item), isFree: object.node.member("total")?.int64 == 0)
      case "subscription" where object.status == "trialing":
        summary = PurchaseSummary(isTrial: true)
      default: break
      }
    }
    return summary
  }

  /// Whether nothing is paid in the session, because it is free or because its trial comes first.
  private static func isDueLater(_ session: StripeObject) -> Bool {
    session.paymentStatus == "no_payment_required"
  }

  /// The description of the only item; of several, one name would be misleading.
  private static func item(_ items: [Item]) -> String? {
    items.count == 1 ? UntrustedText.nonEmpty(items[0].description) : nil
  }

  /// With Adaptive Pricing, `amount_total` is in the merchant's currency, and the customer's is beside it
  /// (https://docs.stripe.com/changelog/basil/2025-03-31/add_presentment_details).
  private static func money(_ session: JSONNode) -> Money? {
    if let shown = session.member("presentment_details"), shown.isObject {
      return money(shown.member("presentment_amount"), shown.member("presentment_currency"))
    }
    return money(session.member("amount_total"), session.member("currency"))
  }

  private static func money(_ amount: JSONNode?, _ currency: JSONNode?) -> Money? {
    guard let amount = amount?.int64, amount > 0,
      let currency = currency?.string.flatMap({ Currency($0.uppercased()) }),
      let units = minorUnits(amount, currency)
    else { return nil }
    return Money(minorUnits: units, currency)
  }

  /// Stripe's amounts have the decimals of ISO 4217, with these exceptions
  /// (https://docs.stripe.com/currencies#minor-units). Nil where an amount is not certain: none is better
  /// than a wrong one.
  private static func minorUnits(_ amount: Int64, _ currency: Currency) -> Int64? {
    switch currency.code {
    // In hundredths of a króna, always whole ones.
    case "ISK": amount % 100 == 0 ? amount / 100 : nil
    case "MGA": amount <= Int64.max / 100 ? amount * 100 : nil
    // Listed both as a currency without decimals and as one in hundredths.
    case "UGX": nil
    default: amount
    }
  }
}
