// Fetches the state of a payment order: callbacks have none, and only this answer counts
// (https://developer.swedbankpay.com/checkout-v3/get-started/validate-status). Pure; any thread.

internal import Domain
internal import Formats

/// One app's queries to Swedbank Pay.
struct SwedbankQueries: ProcessorQueries {
  private let api: SwedbankBase
  private let merchantToken: String

  /// The paid resource says whether the money is captured.
  static let expansion = "?$expand=paid"

  init(_ settings: SwedbankSettings, merchantToken: String) {
    api = SwedbankBase(settings.apiBase)
    self.merchantToken = merchantToken
  }

  /// Swedbank Pay lists no events.
  var eventsKept: Duration { .zero }

  /// No limit is documented.
  var ratePerSecond: Double { 10 }

  var base: String { api.text }

  var headers: [(name: String, value: String)] {
    SwedbankBackend.headers(merchantToken: merchantToken)
  }

  /// The payment order only: never a payment or a transaction that a callback names.
  func lookups(of key: PurchaseKey, sessionID: SessionID?, lacking: Reason?) -> [ProcessorQuery] {
    guard let order = SwedbankOrderPath(key) else { return [] }
    return [ProcessorQuery(target: order.text + Self.expansion, headers: SwedbankBackend.currentVersion)]
  }

  func report(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport? {
    let report = JSONDocument.read(body) { root -> PurchaseReport? in
      guard let resource = SwedbankResource(root), let order = resource.id(at: api), order.key == key,
        let seen = Self.observations(resource)
      else { return nil }
      return PurchaseReport(
        key: key, observations: seen, payment: Self.facts(resource, isPaid: seen.contains(.paid)),
        happenedAt: now)
    }
    return report ?? nil
  }

  /// Nil for an order of version 2, which has a `state` that never says more than `Ready`, and for a status
  /// that is not documented
  /// (https://developer.swedbankpay.com/checkout-v3/technical-reference/status-models).
  private static func observations(_ resource: SwedbankResource) -> Observations? {
    switch resource.order?.member("status")?.string {
    // After a failed attempt the customer may try again.
    case "Initialized", "Failed": []
    // A check of a card charges nothing.
    case "Paid" where resource.isVerification: .closed
    // Authorised or captured.
    case "Paid": .paid
    case "Aborted": .closed
    // An authorised amount was cancelled: the order was paid before, and nothing is charged.
    case "Cancelled": [.closed, .reversed]
    case "Reversed": .reversed
    default: nil
    }
  }

  private static func facts(_ resource: SwedbankResource, isPaid: Bool) -> PaymentFacts {
    let currency = resource.order?.member("currency")?.string ?? ""
    let amount = resource.order?.member("amount")?.int64
    let money = SwedbankMoney.amount(amount, currency)
    return PaymentFacts(
      amount: money?.text, currency: money?.currency.code,
      isCaptured: isPaid ? resource.isCaptured : nil)
  }

  func eventLists(_ selection: EventSelection) -> [EventList] { [] }

  func page(from body: [UInt8]) -> EventPage? { nil }

  /// https://developer.swedbankpay.com/checkout-v3/technical-reference/problems
  func judge(status: Int?) -> QueryVerdict {
    switch status {
    case 200: .answered
    case 404: .notFound
    case 429: .limited
    case nil, 408, 409, 425: .transient
    case .some(500...599): .transient
    default: .refused
    }
  }
}
