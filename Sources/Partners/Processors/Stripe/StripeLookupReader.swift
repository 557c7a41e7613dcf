// Interprets an object from Stripe's API. A lookup adds what events left out: user, customer, prices, the
// subscription that a checkout sold, the checkout that sold a subscription. It may report that payment is
// due, never that it was received: only events are accepted for that. If an event without its object asked
// for it, the object counts as if it had been in the event. Pure; any thread.

internal import Formats
internal import Domain

/// Reads one checkout session or subscription, or the list of sessions that sold a subscription.
struct StripeLookupReader {
  let settings: StripeSettings
  let object: StripeObject
  /// The purchase of the lookup.
  let key: PurchaseKey
  let now: Timestamp
  /// Whether the object is read for an event that does not have it.
  var isOfEvent = false

  /// - Returns: nil when the object has another type or no id.
  func report() -> PurchaseReport? {
    if object.kind == "list" { return listReport() }
    guard let id = UntrustedText.identifier(object.id) else { return nil }
    switch object.kind {
    case "subscription":
      return answer(facts.subscription(.subscription(ObjectID(id)), isOfEvent ? subscriptionState : []))
    case "checkout.session":
      let session = SessionID(id)
      let subscriptionID = UntrustedText.identifier(object.subscription?.id).map { ObjectID($0) }
      let key = subscriptionID.map(PurchaseKey.subscription) ?? .checkoutSession(session)
      var report = answer(facts.session(key, sessionState))
      report.sessionID = session
      return report
    case "customer":
      let names = facts.customerNames(object.metadata)
      return PurchaseReport(key: key, customerID: CustomerID(id), names: names, happenedAt: now)
    default: return nil
    }
  }

  /// What an object that is no purchase says, as if an event had it; nil if it is a purchase, or another
  /// object than the one that was asked for.
  func event() -> EventReading.Content? {
    guard let id = UntrustedText.identifier(object.id), id == key.id.text else { return nil }
    return switch (key.type, object.kind) {
    case (StripeObjectType.invoice, "invoice"): facts.invoice(isPaid: true)
    case (StripeObjectType.customer, "customer"): facts.customer()
    case (StripeObjectType.checkoutSession, "checkout.session") where object.mode == "setup":
      object.status == "complete" ? facts.setup(SessionID(id)) : .nothing(.ignored)
    default: nil
    }
  }

  /// What a session shows of its payment.
  private var sessionState: Observations {
    // It only sets a payment method up.
    if object.mode == "setup" { return [] }
    return switch (object.status, object.paymentStatus) {
    case ("complete", "unpaid"): .promised
    case ("complete", "paid"), ("complete", "no_payment_required"): isOfEvent ? paid : []
    case ("expired", _): isOfEvent ? .expired : []
    default: []
    }
  }

  /// What a subscription shows of its first payment. When its trial ends without a payment method, it is
  /// active until its invoice is not paid.
  private var subscriptionState: Observations {
    if object.status == "active", object.pendingSetupIntent != nil { return .firstPaymentDue }
    return object.subscriptionState(isBeginning: true)
  }

  /// The payment of a session, whose subscription is awaited if the session does not name it yet.
  private var paid: Observations {
    object.mode == "subscription" && object.subscription == nil ? [.paid, .objectExpected] : .paid
  }

  /// A lookup fills in the prices that no event named.
  private func answer(_ report: PurchaseReport) -> PurchaseReport {
    var report = report
    report.pricesFillIn = !isOfEvent
    return report
  }

  /// A list of one subscription's sessions: it has one session, or none when no checkout sold the
  /// subscription.
  private func listReport() -> PurchaseReport? {
    guard let sessions = object.listed, key.type == StripeObjectType.subscription else { return nil }
    if sessions.isEmpty {
      // So it was sold by no Payment Link either.
      let proven = settings.sales.observations(StripeSale(isSession: true))
      return PurchaseReport(key: key, observations: proven.union(.soldWithoutCheckout), happenedAt: now)
    }
    return sessions.lazy.compactMap { session in
      StripeLookupReader(settings: settings, object: session, key: key, now: now).report()
    }.first { $0.key == key }
  }

  /// Dated now: an object's creation time is not the time of the purchase.
  private var facts: StripeFacts { StripeFacts(object: object, settings: settings, happenedAt: now) }
}
