// What a customer bought, from Stripe's events. Pure; any thread.

internal import Domain
internal import JSON

/// Reads the amount of a checkout session (https://docs.stripe.com/api/checkout/sessions/object) and the name
/// of what its first invoice is for. A session in a webhook has no line items. Later invoices of a
/// subscription are not of the checkout.
enum StripeSummary {
  /// - Returns: nil for events that say nothing about a checkout.
  static func read(_ body: [UInt8]) -> PurchaseSummary? {
    var summary: PurchaseSummary?
    JSONDocument.read(body) { root in
      guard let envelope = StripeEnvelope(root), let object = envelope.object else { return }
      switch object.kind {
      case "checkout.session" where object.status != "expired":
        summary = PurchaseSummary(
          item: object.lineItems.flatMap(item), money: money(object.node.member("amount_total"), object),
          at: envelope.created.map { Timestamp(unixSeconds: $0) })
      case "invoice" where object.billingReason == "subscription_create":
        summary = PurchaseSummary(item: object.lines.flatMap(item))
      default: break
      }
    }
    return summary
  }

  /// The first description; what else was bought is not named.
  private static func item(_ items: [Item]) -> String? {
    items.count == 1 ? UntrustedText.nonEmpty(items[0].description) : nil
  }

  private static func money(_ amount: JSONNode?, _ object: StripeObject) -> PurchaseSummary.Money? {
    guard let amount = amount?.int64, amount > 0,
      let currency = object.node.member("currency")?.string?.uppercased(),
      let decimals = decimals(of: currency)
    else { return nil }
    return CurrencyAmount.majorUnits(amount, currency, decimals: decimals)
      .map { PurchaseSummary.Money(amount: $0, currency: currency) }
  }

  /// The decimals of Stripe's amounts, which are not those of ISO 4217
  /// (https://docs.stripe.com/currencies#minor-units); nil for currencies whose amounts differ between parts
  /// of Stripe's API: no amount is better than a wrong one.
  private static func decimals(of currency: String) -> Int? {
    if none.contains(currency) { return 0 }
    if ["BHD", "JOD", "KWD", "OMR", "TND"].contains(currency) { return 3 }
    return ["ISK", "UGX"].contains(currency) ? nil : 2
  }

  private static let none: Set = [
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF",
  ]
}
