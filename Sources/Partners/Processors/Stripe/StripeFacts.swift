// What sessions, subscriptions and invoices have in common, in events and in lookups: users, contexts,
// prices, and the facts that say whose sale it is. Pure; any thread.

internal import Domain
internal import Formats

/// The facts of one object.
struct StripeFacts {
  let object: StripeObject
  let settings: StripeSettings
  let happenedAt: Timestamp

  /// The report of a checkout session.
  /// - Parameter seen: what the session shows of the payment.
  func session(_ key: PurchaseKey, _ seen: Observations) -> PurchaseReport {
    var report = report(
      key, metadata: ownMetadata + payment, items: object.sessionItems, saleOfSession, seen)
    report.clientReference = object.clientReferenceID.map(UntrustedText.trimmed)
    // What looks like a context's id may be a spoilt one, which the join repairs.
    if let name = name(report.clientReference, .reference), name.standing == .refused,
      !ContextID.isMeant(by: name.id.text)
    {
      report.clientReference = nil
      report.names.add(name)
    }
    return report
  }

  /// The report of a subscription.
  func subscription(_ key: PurchaseKey, _ seen: Observations) -> PurchaseReport {
    report(key, metadata: ownMetadata, items: object.subscriptionItems, saleOfSubscription, seen)
  }

  /// The report of an invoice about the subscription that it is for.
  func invoice(_ key: PurchaseKey, _ seen: Observations) -> PurchaseReport {
    let maps = metadataOfSubscription + payment + [object.metadata].compactMap(\.self)
    // One-off lines (a set-up fee) precede the subscription's lines, and are not the subscription's price.
    let lines = linesOfSubscription
    var report = report(
      key, metadata: maps, items: lines, others: (object.lines ?? []).filter { !$0.isOfSubscription },
      saleOfInvoice, seen)
    report.names = report.names.map(\.ofInvoice)
    report.pricesAreUnranked = lines.count > 1 && !lines.allSatisfy(\.saysKind)
    return report
  }

  /// The metadata of a session and of the subscription in it, or of a subscription.
  private var ownMetadata: [Metadata] {
    [object.metadata, object.subscription?.metadata].compactMap(\.self)
  }
  /// The metadata of an expanded payment.
  private var payment: [Metadata] { [object.paymentIntent?.metadata].compactMap(\.self) }
  /// The metadata of an invoice's subscription.
  private var metadataOfSubscription: [Metadata] {
    [
      object.subscription?.metadata, object.parentSubscriptionDetails?.metadata,
      object.subscriptionDetails?.metadata,
    ].compactMap(\.self)
  }
  private var linesOfSubscription: [Item] { (object.lines ?? []).filter(\.isOfSubscription) }

  var saleOfSession: StripeSale {
    let own = ownMetadata
    return StripeSale(
      items: saleItems(object.sessionItems), paymentLink: object.paymentLink?.id, metadata: own,
      isSession: true, hasOwnMetadata: !own.isEmpty)
  }

  var saleOfSubscription: StripeSale {
    let own = ownMetadata
    return StripeSale(
      items: saleItems(object.subscriptionItems), metadata: own, hasOwnMetadata: !own.isEmpty)
  }

  var saleOfInvoice: StripeSale {
    StripeSale(items: saleItems(linesOfSubscription), metadata: metadataOfSubscription)
  }

  /// - Parameters:
  ///   - metadata: the most certain first.
  ///   - items: what is sold.
  ///   - others: what is paid beside it.
  private func report(
    _ key: PurchaseKey, metadata: [Metadata], items: [Item], others: [Item] = [], _ sale: StripeSale,
    _ seen: Observations
  ) -> PurchaseReport {
    func value(_ name: String) -> String? {
      metadata.lazy.compactMap { UntrustedText.nonEmpty($0[name]) }.first
    }
    let context = value("ply_context_id")
    let named = metadata.lazy.compactMap { $0["ply_context_id"].flatMap(ContextID.init(repairing:)) }.first
    return PurchaseReport(
      key: key, observations: seen.union(settings.sales.observations(sale)),
      customerID: UntrustedText.identifier(object.customer?.id).map(CustomerID.init),
      contextID: named ?? context.map(ContextID.init),
      context: value("ply_context").map { ContextBlob(text: $0, priceID: nil) },
      names: names(metadata) + customerNames(object.customer?.metadata), prices: prices(items, others),
      happenedAt: happenedAt)
  }
}

// MARK: - Contents

// What an object says, whether an event has it or names it only.

extension StripeFacts {
  /// An invoice of a subscription.
  /// - Parameter isPaid: whether an event says so.
  func invoice(isPaid: Bool) -> EventReading.Content {
    guard let id = object.invoicedSubscription else { return .nothing(.ignored) }
    let isPaid = isPaid && (object.status == nil || object.status == "paid")
    let isFirst = object.billingReason == "subscription_create"
    // The invoice of a trial is paid at once, and proves nothing.
    var seen: Observations = isPaid && !object.isFree ? .invoicePaid : []
    if isFirst, !seen.isEmpty { seen.insert(.firstPaymentMade) }
    return .purchase(invoice(.subscription(id), seen), isWorthKeeping: isPaid && isFirst)
  }

  /// A completed session that sells nothing and sets a payment method up. It may name its customer's user.
  /// Unless `sells` names the session, it may be for another product of the account, whose user ids mean
  /// other people: then only the relay's own names count, a context's id and `ply_user_id`.
  func setup(_ id: SessionID) -> EventReading.Content {
    let said = session(.checkoutSession(id), [])
    guard let customer = said.customerID, !said.observations.isForeign else { return .nothing(.ignored) }
    let isOurs = settings.sales.sells == nil || said.observations.contains(.ours)
    return .customer(
      CustomerFacts(
        customerID: customer,
        clientReference: said.clientReference.flatMap { isOurs || ContextID.isMeant(by: $0) ? $0 : nil },
        contextID: said.contextID, names: said.names.filter { isOurs || $0.source == .ownKey },
        areOfCustomer: false, happenedAt: happenedAt))
  }

  func customer() -> EventReading.Content {
    guard let id = UntrustedText.identifier(object.id).map(CustomerID.init) else { return .nothing(.ignored) }
    let names = customerNames(object.metadata)
    return .customer(
      CustomerFacts(customerID: id, names: names, areOfCustomer: true, happenedAt: happenedAt))
  }
}

// MARK: - Names

extension StripeFacts {
  /// The relay's own key in metadata.
  static let ownKey = "ply_user_id"

  /// The merchant's keys besides.
  private var merchantKeys: [String] { settings.userKeys.filter { $0 != Self.ownKey } }

  /// The users that metadata of a purchase's objects name, each once, as the strongest source names them.
  private func names(_ metadata: [Metadata]) -> [NamedUser] {
    var names: [NamedUser] = []
    for (key, source) in [(Self.ownKey, Purchase.UserSource.ownKey)] + merchantKeys.map({ ($0, .metadata) }) {
      for map in metadata { names.add(name(map[key], source)) }
    }
    return names
  }

  /// The users that a customer's metadata name. What is stored of them has no order, so their sources say
  /// which key comes first.
  func customerNames(_ metadata: Metadata?) -> [NamedUser] {
    guard let metadata else { return [] }
    var names: [NamedUser] = []
    for key in [Self.ownKey] + merchantKeys {
      let isLater = names.contains { $0.standing == .counts }
      names.add(name(metadata[key], isLater ? .customerMetadataOfLaterKey : .customerMetadata))
    }
    return names
  }

  private func name(_ text: String?, _ source: Purchase.UserSource) -> NamedUser? {
    guard let text else { return nil }
    switch settings.userIDs.read(text) {
    case .user(let id): return NamedUser(id: id, source: source, standing: .counts)
    case .refused(let id, _): return NamedUser(id: id, source: source, standing: .refused)
    case .invalid: return nil
    }
  }
}

extension NamedUser {
  /// The same name in the metadata of an invoice.
  fileprivate var ofInvoice: NamedUser {
    switch source {
    case .ownKey: NamedUser(id: id, source: .ownKeyOfInvoice, standing: standing)
    case .metadata: NamedUser(id: id, source: .metadataOfInvoice, standing: standing)
    default: self
    }
  }
}

extension [NamedUser] {
  fileprivate mutating func add(_ name: NamedUser?) {
    if let name, !contains(where: { $0.id == name.id }) { append(name) }
  }
}
