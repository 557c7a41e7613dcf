// Interprets an object from Stripe's API. A lookup adds what events left out: user, customer, prices, the
// subscription that a checkout sold, the checkout that sold a subscription. It may report that payment is
// due, never that it was received: only events are accepted for that. Pure; any thread.

internal import Formats
internal import Domain

/// Reads one checkout session or subscription, or the list of sessions that sold a subscription.
struct StripeLookupReader {
  let settings: StripeSettings
  let object: StripeObject
  /// The purchase of the lookup.
  let key: PurchaseKey
  let now: Timestamp

  /// - Returns: nil when the object has another type or no id.
  func report() -> PurchaseReport? {
    if object.kind == "list" { return listReport() }
    guard let id = UntrustedText.identifier(object.id) else { return nil }
    switch object.kind {
    case "subscription":
      return facts.report(
        .subscription(ObjectID(id)), metadata: [object.metadata],
        prices: facts.subscriptionPrices)
    case "checkout.session":
      let session = SessionID(id)
      let subscriptionID = UntrustedText.identifier(object.subscription?.id).map { ObjectID($0) }
      let key =
        subscriptionID.map(PurchaseKey.subscription) ?? .checkoutSession(session)
      let isUnpaid = object.paymentStatus == "unpaid" && object.status == "complete"
      var report = facts.report(
        key, metadata: [object.metadata, object.subscription?.metadata], prices: facts.sessionPrices,
        observations: isUnpaid ? .promised : [])
      report.sessionID = session
      report.clientReference = object.clientReferenceID
      return report
    default: return nil
    }
  }

  /// A list of one subscription's sessions: it has one session, or none when no checkout sold the
  /// subscription.
  private func listReport() -> PurchaseReport? {
    guard let sessions = object.listed, key.type == StripeObjectType.subscription else { return nil }
    if sessions.isEmpty {
      return PurchaseReport(key: key, observations: .soldWithoutCheckout, happenedAt: now)
    }
    return sessions.lazy.compactMap { session in
      StripeLookupReader(settings: settings, object: session, key: key, now: now).report()
    }.first { $0.key == key }
  }

  /// Dated now: an object's creation time is not the time of the purchase.
  private var facts: StripeFacts { StripeFacts(object: object, userKeys: settings.userKeys, happenedAt: now) }
}
