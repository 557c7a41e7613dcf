// What sessions, subscriptions and invoices have in common, in events and in lookups. Pure; any thread.

internal import Formats
internal import Domain

struct StripeFacts {
  static let pricesMax = 100

  let object: StripeObject
  let userKeys: [String]
  let happenedAt: Timestamp

  /// The prices that a session sells, if it names them.
  var sessionPrices: [String?] { (object.lineItems ?? object.displayItems ?? []).map(\.priceID) }

  /// The prices of a subscription's items; the plan in old versions without items.
  var subscriptionPrices: [String?] {
    let prices = (object.items ?? []).map(\.priceID)
    return prices.allSatisfy { $0 == nil } ? [object.plan?.id] : prices
  }

  func report(
    _ key: PurchaseKey, metadata: [Metadata?], prices: [String?], observations: Observations = []
  ) -> PurchaseReport {
    let maps = metadata.compactMap(\.self)
    func value(_ name: String) -> String? { maps.lazy.compactMap { UntrustedText.nonEmpty($0[name]) }.first }
    let user = maps.lazy.compactMap { map in
      userKeys.lazy.compactMap { UntrustedText.identifier(map[$0]) }.first
    }.first
    var distinct: [PriceID] = []
    for price in prices.prefix(Self.pricesMax).compactMap(UntrustedText.identifier).map(PriceID.init)
    where !distinct.contains(price) { distinct.append(price) }
    return PurchaseReport(
      key: key, observations: observations,
      customerID: UntrustedText.identifier(object.customer?.id).map(CustomerID.init),
      contextID: value("ply_context_id").map(ContextID.init),
      context: value("ply_context").map { ContextBlob(text: $0, priceID: nil) },
      metadataUser: user, prices: distinct, happenedAt: happenedAt)
  }
}
