// What an object that Stripe was asked for says about its purchase. A look-up fills in what events left out:
// user, customer, prices, the subscription that a checkout sold. It says nothing about the payment, of which
// events alone are the witnesses. Pure; any thread.

internal import Domain

/// Reads one checkout session or subscription.
struct StripeLookUpReader {
  let settings: StripeSettings
  let object: StripeObject
  let now: Timestamp

  /// - Returns: nil when the object is neither, or has no id.
  func report() -> PurchaseReport? {
    guard let id = OutsideText.identifier(object.id) else { return nil }
    switch object.kind {
    case "subscription":
      return facts.report(
        PurchaseKey(type: .subscription, id: id), metadata: [object.metadata],
        prices: facts.subscriptionPrices)
    case "checkout.session":
      let subscriptionID = OutsideText.identifier(object.subscription?.id)
      let key =
        subscriptionID.map { PurchaseKey(type: .subscription, id: $0) }
        ?? PurchaseKey(type: .checkoutSession, id: id)
      var report = facts.report(
        key, metadata: [object.metadata, object.subscription?.metadata], prices: facts.sessionPrices)
      report.sessionID = id
      report.clientReference = object.clientReferenceID
      return report
    default: return nil
    }
  }

  /// Dated now: when the object was made says nothing of when the purchase happened.
  private var facts: StripeFacts { StripeFacts(object: object, userKeys: settings.userKeys, happenedAt: now) }
}
