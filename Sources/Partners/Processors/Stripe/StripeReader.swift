// Interprets Stripe's events as purchases (https://docs.stripe.com/checkout/fulfillment,
// https://docs.stripe.com/billing/subscriptions/webhooks). If an event's type and its object's state
// contradict each other, the object wins. Only the result of a delayed payment is taken from the type alone.
// Pure; any thread.

internal import Domain
internal import Formats

/// Interprets one envelope.
struct StripeReader {
  let settings: StripeSettings
  let envelope: StripeEnvelope
  /// Empty when there is none.
  let type: String
  let now: Timestamp

  init(settings: StripeSettings, envelope: StripeEnvelope, now: Timestamp) {
    self.settings = settings
    self.envelope = envelope
    type = envelope.type ?? ""
    self.now = now
  }

  /// The time of the event by Stripe's clock: the end of the second in `created`, and never later than now.
  private var happenedAt: Timestamp {
    guard let created = envelope.created else { return now }
    return min(now, Timestamp(unixSeconds: created).advanced(by: .milliseconds(999)))
  }

  /// What the event means; `unparsed` if a field that decides cannot be read.
  var content: EventReading.Content { (try? reading()) ?? .nothing(.unparsed) }

  /// - Throws: the field that cannot be read.
  func reading() throws(ReadingFault) -> EventReading.Content {
    guard !type.isEmpty else { throw unreadable("type") }
    guard settings.livemode.accepts(envelope.livemode) else { return .nothing(.otherMode) }
    let accounts = [envelope.account, envelope.contextAccount].compactMap(\.self)
    guard settings.accepts(accounts: accounts) else { return .nothing(.otherAccount) }
    if envelope.isThin { return try thin() }
    if type.hasPrefix("checkout.session.") { return try session() }
    if type.hasPrefix("customer.subscription.") { return try subscription() }
    if type.hasPrefix("invoice.") { return try invoice() }
    if Self.customerTypes.contains(type) {
      return envelope.object.map { facts(of: $0).customer() } ?? .nothing(.ignored)
    }
    // Pings, charges and all others are not about a purchase.
    return .nothing(.ignored)
  }

  /// A thin event names its object without having it (https://docs.stripe.com/event-destinations): the object
  /// is fetched. That a delayed payment failed, only the type says.
  private func thin() throws(ReadingFault) -> EventReading.Content {
    guard type.hasPrefix(Self.thinPrefix), let object = Self.thinObject(snapshotType) else {
      return .nothing(.ignored)
    }
    let id = UntrustedText.identifier(envelope.relatedObjectID)
    if let id, snapshotType == "checkout.session.async_payment_failed" {
      let session = SessionID(id)
      let report = PurchaseReport(
        key: .checkoutSession(session), sessionID: session, observations: [.promised, .failed],
        happenedAt: now)
      return .purchase(report, isWorthKeeping: settings.fetches)
    }
    guard settings.fetches else { throw unreadable(ReadingFault.thin) }
    guard let id else { throw unreadable("related_object.id") }
    let isSession = object == StripeObjectType.checkoutSession
    // A change of an unknown subscription is not a purchase to track.
    let isWorthKeeping =
      switch object {
      case StripeObjectType.checkoutSession: Self.sales.contains(snapshotType)
      case StripeObjectType.subscription: snapshotType == "customer.subscription.created"
      default: true
      }
    return .fetchFirst(
      PurchaseKey(processor: StripeProcessor.name, type: object, id: ObjectID(id)),
      sessionID: isSession ? SessionID(id) : nil, isWorthKeeping: isWorthKeeping)
  }

  /// The type of the object to fetch for an event; nil if it says nothing about a purchase or its customer.
  private static func thinObject(_ kind: String) -> PurchaseKey.ObjectType? {
    if kind.hasPrefix("checkout.session.") { return StripeObjectType.checkoutSession }
    if kind.hasPrefix("customer.subscription.") { return StripeObjectType.subscription }
    if customerTypes.contains(kind) { return StripeObjectType.customer }
    // Of a subscription's invoices, only payments prove something.
    return sales.contains(kind) ? StripeObjectType.invoice : nil
  }

  private static let thinPrefix = "v1."

  /// The type as in a snapshot event.
  private var snapshotType: String {
    envelope.isThin && type.hasPrefix(Self.thinPrefix)
      ? String(type.dropFirst(Self.thinPrefix.count)) : type
  }

  private func session() throws(ReadingFault) -> EventReading.Content {
    guard let object = envelope.object, let id = UntrustedText.identifier(object.id).map(SessionID.init)
    else {
      throw unreadable("data.object.id")
    }
    let subscriptionID = UntrustedText.identifier(object.subscription?.id).map { ObjectID($0) }
    let isSubscription: Bool
    // Sessions from 2019 have no mode.
    switch object.mode ?? (subscriptionID == nil ? "" : "subscription") {
    case "subscription": isSubscription = true
    case "payment": isSubscription = false
    case "setup":
      return type == "checkout.session.completed" ? facts(of: object).setup(id) : .nothing(.ignored)
    default: throw unreadable("data.object.mode")
    }
    var seen: Observations
    switch try sessionObservations(object, hasSubscription: subscriptionID != nil) {
    case .seen(let observations): seen = observations
    case .end(let outcome): return .nothing(outcome)
    }
    var key = PurchaseKey.checkoutSession(id)
    if isSubscription {
      if let subscriptionID {
        key = .subscription(subscriptionID)
      } else {
        seen.insert(.objectExpected)
      }
    }
    var report = facts(of: object).session(key, seen)
    report.sessionID = id
    return .purchase(report, isWorthKeeping: !seen.subtracting(.objectExpected).isEmpty)
  }

  private func unreadable(_ field: String) -> ReadingFault {
    ReadingFault(field: field, maySell: type.isEmpty || Self.sales.contains(snapshotType))
  }

  /// The types of events that may report a payment.
  private static let sales: Set = [
    "checkout.session.completed", "checkout.session.async_payment_succeeded", "customer.subscription.created",
    "customer.subscription.updated", "invoice.paid", "invoice.payment_succeeded",
  ]

  private static let customerTypes: Set = ["customer.created", "customer.updated"]

  private enum SessionState {
    case seen(Observations)
    case end(EventOutcome)
  }

  private func sessionObservations(_ object: StripeObject, hasSubscription: Bool) throws(ReadingFault)
    -> SessionState
  {
    switch type {
    case "checkout.session.async_payment_succeeded": return .seen(.paid)
    // Only a pending payment can fail, so the checkout was complete and unpaid, even if no earlier event said
    // so.
    case "checkout.session.async_payment_failed": return .seen([.promised, .failed])
    case "checkout.session.expired": return .seen(.expired)
    case "checkout.session.completed":
      // An open session contradicts the event type: nothing was bought yet.
      guard object.status == nil || object.status == "complete" else { return .end(.ignored) }
      switch object.paymentStatus {
      case "paid", "no_payment_required": return .seen(.paid)
      case "unpaid": return .seen(.promised)
      // The field did not exist before 2020-08-27. A session with a subscription was complete once it was
      // paid.
      case nil where hasSubscription: return .seen(.paid)
      default: throw unreadable("data.object.payment_status")
      }
    default: return .seen([])
    }
  }

  private func subscription() throws(ReadingFault) -> EventReading.Content {
    guard let object = envelope.object, let id = UntrustedText.identifier(object.id).map({ ObjectID($0) })
    else {
      throw unreadable("data.object.id")
    }
    let isBeginning =
      type == "customer.subscription.created"
      || (type == "customer.subscription.updated"
        && (envelope.previousStatus == "incomplete" || envelope.clearsSetupIntent))
    let hasEnded = type == "customer.subscription.deleted"
    let seen = hasEnded ? .ended : object.subscriptionState(isBeginning: isBeginning)
    let report = facts(of: object).subscription(.subscription(id), seen)
    // A renewal or a change of an unknown subscription is not a purchase to track. Its end is stored, because
    // the events of its start may arrive later.
    return .purchase(report, isWorthKeeping: isBeginning || seen.contains(.ended))
  }

  private func invoice() throws(ReadingFault) -> EventReading.Content {
    guard let object = envelope.object else { throw unreadable("data.object") }
    let isPaid = type == "invoice.paid" || type == "invoice.payment_succeeded"
    return facts(of: object).invoice(isPaid: isPaid)
  }

  /// The rule by which the event's sale is not the app's; nil if the event does not decide it.
  var foreignRule: String? {
    guard let object = envelope.object else { return nil }
    let facts = facts(of: object)
    let sale: StripeSale
    if type.hasPrefix("checkout.session.") {
      sale = facts.saleOfSession
    } else if type.hasPrefix("customer.subscription.") {
      sale = facts.saleOfSubscription
    } else if type.hasPrefix("invoice.") {
      sale = facts.saleOfInvoice
    } else {
      return nil
    }
    return settings.sales.foreignRule(sale)
  }

  private func facts(of object: StripeObject) -> StripeFacts {
    StripeFacts(object: object, settings: settings, happenedAt: happenedAt)
  }
}

extension StripeObject {
  /// What a subscription's state shows of its first payment.
  /// - Parameter isBeginning: whether it began with the event. A later state says nothing about that.
  func subscriptionState(isBeginning: Bool) -> Observations {
    switch status {
    case "canceled": .ended
    // An invoice that is sent may never be paid, and a trial without a payment method may end like that.
    case "active" where isBeginning && collectionMethod == "send_invoice": .firstPaymentDue
    case "trialing" where isBeginning && (collectionMethod == "send_invoice" || pendingSetupIntent != nil):
      .firstPaymentDue
    case "trialing" where !isBeginning && collectionMethod != "send_invoice" && pendingSetupIntent == nil:
      .trialSecured
    case "active", "trialing": isBeginning ? .began : []
    case "incomplete": isBeginning ? .firstPaymentDue : []
    // The first payment of an incomplete subscription did not arrive within a day.
    case "incomplete_expired": [.failed, .ended]
    default: []
    }
  }
}

// MARK: - StripeMentions

// The ids and addresses in Stripe's events, of any type. Pure; any thread.

/// Reads what a stored event names. The fields are those of all objects, old and new: a charge names its
/// payment and its invoice until the 2025-03-31 API, an invoice its subscription under `parent` since then,
/// and `invoice_payment.*` which payment paid which invoice.
enum StripeMentions {
  static func read(_ body: [UInt8]) -> Mentions {
    var mentions = Mentions()
    JSONDocument.read(body) { root in
      mentions.add(id: root.member("related_object")?.member("id")?.string)
      guard let object = root.member("data")?.member("object"), object.isObject else { return }
      object.forEachMember { name, value in add(name, value, &mentions) }
    }
    return mentions
  }

  private static func add(_ name: JSONNode, _ value: JSONNode, _ mentions: inout Mentions) {
    switch name.string {
    case "id": mentions.add(id: value.string)
    case "client_reference_id": mentions.add(reference: value.string)
    case "payment_intent", "charge", "latest_charge", "invoice", "latest_invoice", "customer", "subscription",
      "setup_intent", "checkout_session", "pending_setup_intent":
      mentions.add(id: Reference(value)?.id)
    case "email", "customer_email", "receipt_email": mentions.add(address: value.string)
    case "customer_details", "billing_details": mentions.add(address: value.member("email")?.string)
    case "parent":
      mentions.add(id: Reference(value.member("subscription_details")?.member("subscription"))?.id)
    case "payment":
      mentions.add(id: Reference(value.member("payment_intent"))?.id)
      mentions.add(id: Reference(value.member("charge"))?.id)
    default: break
    }
  }
}
