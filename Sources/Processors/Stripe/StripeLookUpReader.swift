// What an object that Stripe was asked for says about its purchase. A look-up fills in what events left out:
// user, customer, prices, the subscription that a checkout sold, the checkout that sold a subscription. It
// may say that money is still to come, never that it came: of that only events are accepted. Pure; any
// thread.

internal import Domain

/// Reads one checkout session or subscription, or the list of the sessions that sold a subscription.
struct StripeLookUpReader {
  let settings: StripeSettings
  let object: StripeObject
  /// What was asked about.
  let key: PurchaseKey
  let now: Timestamp

  /// - Returns: nil when the object is none of these, or has no id.
  func report() -> PurchaseReport? {
    if object.kind == "list" { return listReport() }
    guard let id = OutsideText.identifier(object.id) else { return nil }
    switch object.kind {
    case "subscription":
      return facts.report(
        .subscription(id), metadata: [object.metadata],
        prices: facts.subscriptionPrices)
    case "checkout.session":
      let subscriptionID = OutsideText.identifier(object.subscription?.id)
      let key =
        subscriptionID.map(PurchaseKey.subscription) ?? .checkoutSession(id)
      let isUnpaid = object.paymentStatus == "unpaid" && object.status == "complete"
      var report = facts.report(
        key, metadata: [object.metadata, object.subscription?.metadata], prices: facts.sessionPrices,
        observations: isUnpaid ? .promised : [])
      report.sessionID = id
      report.clientReference = object.clientReferenceID
      return report
    default: return nil
    }
  }

  /// A list of sessions of one subscription: it has one, or none when no checkout sold it.
  private func listReport() -> PurchaseReport? {
    guard let sessions = object.listed, key.type == StripeObjectType.subscription else { return nil }
    if sessions.isEmpty {
      return PurchaseReport(key: key, observations: .soldWithoutCheckout, happenedAt: now)
    }
    return sessions.lazy.compactMap { session in
      StripeLookUpReader(settings: settings, object: session, key: key, now: now).report()
    }.first { $0.key == key }
  }

  /// Dated now: when the object was made says nothing of when the purchase happened.
  private var facts: StripeFacts { StripeFacts(object: object, userKeys: settings.userKeys, happenedAt: now) }
}
