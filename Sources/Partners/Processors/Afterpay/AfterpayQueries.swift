// Looks up payments by their tokens, for operators and for payments whose end the relay did not see
// (https://developers.cash.app/afterpay/api-reference/reference/payments/get-payment-by-token). Pure; any
// thread.

public import Domain
internal import Formats

/// One app's queries to Afterpay.
public struct AfterpayQueries: ProcessorQueries {
  /// Afterpay publishes no limit. A lookup is rare, and must not delay the customers' calls.
  public let ratePerSecond = 5.0
  /// Afterpay lists no events.
  public let eventsKept: Duration = .zero
  public let base: String
  public let headers: [(name: String, value: String)]
  private let settings: AfterpaySettings

  init(_ settings: AfterpaySettings, secret: String) {
    self.settings = settings
    base = settings.apiBase
    headers = settings.headers(secret: secret)
  }

  /// The limits of the merchant's payments
  /// (https://developers.cash.app/afterpay/api-reference/reference/configuration/get-configuration).
  public var probe: ProcessorQuery? { ProcessorQuery(target: AfterpayBackend.configurationTarget) }

  /// The path of the payment of a token.
  static func target(_ key: PurchaseKey) -> String {
    "/v2/payments/token:" + PercentEncoding.encode(key.id.text)
  }

  public func lookups(of key: PurchaseKey, sessionID: SessionID?, lacking: Reason?) -> [ProcessorQuery] {
    key.type == AfterpayProcessor.payment ? [ProcessorQuery(target: Self.target(key))] : []
  }

  public func report(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport? {
    guard let object = try? JSONValue(parsing: body), let payment = AfterpayPayment(object),
      payment.isAbout(key)
    else { return nil }
    return payment.report(about: key, now: now)
  }

  /// Only Afterpay's own `not_found` counts, and only when no call to capture can still take effect: an app
  /// may order a capture for `captureWithinMax`, and the calls for it end after `repeatableFor`. Another
  /// account than that of the payment does not find it, either.
  public func report(
    fromNotFound body: [UInt8], about key: PurchaseKey, facts: PaymentFacts?, startedAt: Timestamp,
    now: Timestamp
  ) -> PurchaseReport? {
    guard let object = try? JSONValue(parsing: body), AfterpayError(404, object)?.code == "not_found",
      now.duration(since: startedAt) > Self.capturableFor, facts.map(settings.isAccount) ?? false
    else { return nil }
    return PurchaseReport(key: key, observations: .closed, happenedAt: now)
  }

  /// The last call may be on its way for an hour.
  static let capturableFor: Duration =
    AfterpaySettings.captureWithinMax + AfterpayCaptures.repeatableFor + .hours(1)

  public func eventLists(_ selection: EventSelection) -> [EventList] { [] }

  public func page(from body: [UInt8]) -> EventPage? { nil }

  public func judge(status: Int?) -> QueryVerdict {
    switch status {
    case 200: .answered
    case 404: .notFound
    case 429: .limited
    case nil, 408, 425: .transient
    case .some(500...599): .transient
    default: .refused
    }
  }
}

extension AfterpayPayment {
  /// What it says about the purchase. Afterpay's `created` is not read: the relay needs only the order of its
  /// own steps.
  func report(about key: PurchaseKey, now: Timestamp) -> PurchaseReport {
    var observations: Observations =
      switch (status, state) {
      case (.declined, _), (.approved, "VOIDED"), (.approved, "EXPIRED"): .closed
      case (.approved, _): .paid
      }
    if isRefunded { observations.insert(.reversed) }
    return PurchaseReport(
      key: key, observations: observations,
      payment: PaymentFacts(
        amount: amount?.text, currency: amount?.currency.code, isCaptured: isCaptured), happenedAt: now)
  }
}
