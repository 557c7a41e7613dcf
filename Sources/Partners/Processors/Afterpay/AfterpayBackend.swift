// The merchant backend that Afterpay's SDKs require, with Cash App Pay. Pure; any thread.

internal import Domain
internal import Formats

/// One app's merchant backend for Afterpay's SDKs.
public struct AfterpayBackend: MerchantBackend {
  static let configuration = BackendEndpoint(
    "GET", "configuration", label: "afterpay_configuration", requiresUser: false)
  static let checkout = BackendEndpoint("POST", "checkout", label: "afterpay_checkout")
  static let capture = BackendEndpoint("POST", "capture", label: "afterpay_capture")
  static let state = BackendEndpoint("GET", "checkouts/{token}", label: "afterpay_checkouts")
  static let endpoints = [configuration, checkout, capture, state]

  static let configurationTarget = "/v2/configuration"

  public let base: String
  public let headers: [(name: String, value: String)]
  let settings: AfterpaySettings

  init(_ settings: AfterpaySettings, secret: String) {
    self.settings = settings
    base = settings.apiBase
    headers = settings.headers(secret: secret)
  }

  public func respond(to request: BackendRequest) -> BackendStep {
    do throws(AfterpayRefusal) {
      switch request.endpoint {
      case Self.configuration: return readConfiguration()
      case Self.checkout: return try startCheckout(request)
      case Self.capture: return try orderCapture(request)
      case Self.state: return try readState(request)
      default:
        throw AfterpayRefusal(
          AfterpayAnswers.problem("not-found", "Not found", 404, "There is nothing at this path."))
      }
    } catch {
      return .answer(error.answer)
    }
  }

  // MARK: The configuration

  private func readConfiguration() -> BackendStep {
    let locale = settings.region
    return .cached(BackendCall("GET", Self.configurationTarget, timeout: settings.timeout)) { reply in
      .answer(Self.answer(reply, locale))
    }
  }

  /// The SDKs cannot work without a maximum.
  private static func answer(_ reply: BackendReply, _ region: AfterpayRegion) -> BackendAnswer {
    let reply = AfterpayReply(reply)
    guard case .object(let status, let object) = reply, status < 300 else {
      // A refusal here is about the relay's own request.
      if case .object = reply { return AfterpayAnswers.failed(.trouble(.unreadable)) }
      return AfterpayAnswers.failed(reply)
    }
    guard let maximum = limit("maximumAmount", of: object) else {
      return AfterpayAnswers.failed(.trouble(.unreadable))
    }
    let locale: JSONValue = [
      "identifier": .string(region.identifier), "language": .string(region.language),
      "country": .string(region.country),
    ]
    return AfterpayAnswers.json(
      .object(
        [limit("minimumAmount", of: object), maximum].compactMap(\.self)
          + [.init(name: "locale", value: locale)]))
  }

  /// A limit as Afterpay wrote it; nil if it is absent or malformed.
  private static func limit(_ name: String, of object: JSONValue) -> JSONValue.Member? {
    guard let amount = object[name]?["amount"]?.stringValue,
      let currency = object[name]?["currency"]?.stringValue
    else { return nil }
    return .init(name: name, value: ["amount": .string(amount), "currency": .string(currency)])
  }

  /// The limits in a cached answer. Without one, Afterpay itself refuses an amount outside of them.
  static func limits(_ reply: BackendReply?) -> MoneyLimits {
    guard let reply, case .object(let status, let object) = AfterpayReply(reply), status < 300 else {
      return MoneyLimits()
    }
    return MoneyLimits(minimum: Money(object["minimumAmount"]), maximum: Money(object["maximumAmount"]))
  }
}

// MARK: - Capture

// Orders captures and reports the states of payments, from what is stored: neither calls Afterpay. Pure; any
// thread.

extension AfterpayBackend {
  func orderCapture(_ request: BackendRequest) throws(AfterpayRefusal) -> BackendStep {
    guard let user = request.user else { throw AfterpayRefusal(AfterpayAnswers.missingUser) }
    let wanted = try AfterpayCaptureRequest(request)
    return .findPayment(wanted.token.key, user) { [self] payment in
      guard let payment else { return .answer(.unknownPayment) }
      if AfterpayDetails(payment.facts).isCashAppPay, wanted.grantID == nil {
        return .answer(AfterpayCaptureRequest.missingGrant.answer)
      }
      let order = CaptureOrder(key: payment.key, user: user, grantID: wanted.grantID)
      return answer(order, to: payment, at: request.receivedAt)
    }
  }

  /// Orders for a capture that ended get the answer of the first.
  private func answer(_ order: CaptureOrder, to payment: StartedPayment, at now: Timestamp) -> BackendStep {
    let outcome = payment.capture?.outcome
    switch state(of: payment, at: now) {
    case .started, .capturePending: return .capture(order)
    case .closed: return .answer(AfterpayAnswers.closed)
    case .captured, .reversed:
      if let outcome, outcome.kind == .captured { return .answer(BackendAnswer(outcome)) }
      return .answer(AfterpayAnswers.json(document(payment, at: now)))
    case .declined, .refused, .abandoned, .expired:
      if let outcome, !outcome.kind.allowsAnother { return .answer(BackendAnswer(outcome)) }
      return .answer(RelayProblem.answer(AfterpayAnswers.expiredFault))
    }
  }

  func readState(_ request: BackendRequest) throws(AfterpayRefusal) -> BackendStep {
    guard let user = request.user else { throw AfterpayRefusal(AfterpayAnswers.missingUser) }
    guard let token = request.parameters["token"].flatMap(AfterpayToken.init) else {
      throw AfterpayCaptureRequest.malformedToken
    }
    return .findPayment(token.key, user) { [self] payment in
      guard let payment else { return .answer(.unknownPayment) }
      return .answer(AfterpayAnswers.json(document(payment, at: request.receivedAt)))
    }
  }

  private func document(_ payment: StartedPayment, at now: Timestamp) -> JSONValue {
    let outcome = payment.capture?.outcome.flatMap { try? JSONValue(parsing: $0.body) }
    return AfterpayAnswers.document(
      payment.key, state(of: payment, at: now), payment.facts, paymentID: outcome?["id"]?.stringValue,
      status: outcome?["status"]?.stringValue)
  }

  /// Only the money decides first: a payment that was captured by any means is captured. One that is only
  /// authorised, which the relay never does, may still be captured.
  private func state(of payment: StartedPayment, at now: Timestamp) -> AfterpayAnswers.State {
    if payment.observations.contains(.reversed) { return .reversed }
    if payment.observations.contains(.paid), payment.facts.isCaptured != false { return .captured }
    if let capture = payment.capture {
      switch capture.outcome?.kind {
      case nil: return .capturePending
      case .captured: return .captured
      case .declined: return .declined
      case .refused:
        return capture.outcome?.status == AfterpayAnswers.expiredFault.status ? .expired : .refused
      case .abandoned: return .abandoned
      case .unconfirmed: break
      }
    }
    if payment.observations.contains(.closed) { return .closed }
    return now.duration(since: payment.startedAt) > settings.captureWithin ? .expired : .started
  }
}

// MARK: - Checkout

// Starts a payment: creates a checkout at Afterpay, and stores whose it is before the app gets its token.
// Pure; any thread.

extension AfterpayBackend {
  func startCheckout(_ request: BackendRequest) throws(AfterpayRefusal) -> BackendStep {
    guard let user = request.user else { throw AfterpayRefusal(AfterpayAnswers.missingUser) }
    let checkout = try AfterpayCheckout(request, settings)
    guard let context = request.contextID else { return create(checkout, request, user) }
    return .findContext(context, user) { [self] exists in
      exists ? create(checkout, request, user) : .answer(AfterpayAnswers.unknownContext)
    }
  }

  private func create(
    _ checkout: AfterpayCheckout, _ request: BackendRequest, _ user: UserID
  ) -> BackendStep {
    .findCached(Self.configurationTarget) { [self] reply in
      guard Self.limits(reply).contains(checkout.amount) else { return .answer(Self.outsideLimits) }
      return .call(call(checkout)) { reply in
        switch AfterpayReply(reply) {
        case .object(let status, let object) where status < 300:
          guard let created = CreatedCheckout(object) else {
            return .answer(AfterpayAnswers.failed(.trouble(.unreadable)))
          }
          let answer = AfterpayAnswers.json(
            ["token": .string(created.token.text), "url": .string(created.url)])
          return .store(report(checkout, created.token, request, user)) { .answer(answer) }
        case let failed: return .answer(AfterpayAnswers.failed(failed))
        }
      }
    }
  }

  /// https://developers.cash.app/afterpay/api-reference/reference/checkouts/create-checkout-1
  private func call(_ checkout: AfterpayCheckout) -> BackendCall {
    var body: [JSONValue.Member] = [
      .init(name: "amount", value: checkout.amount.object),
      .init(name: "consumer", value: ["email": .string(checkout.email)]),
      .init(
        name: "merchant",
        value: [
          "redirectConfirmUrl": .string(settings.confirmURL),
          "redirectCancelUrl": .string(settings.cancelURL),
          "popupOriginUrl": .string(settings.popupOriginURL),
        ]),
      .init(name: "isCashAppPay", value: .bool(checkout.isCashAppPay)),
    ]
    if let mode = checkout.mode { body.append(.init(name: "mode", value: .string(mode.rawValue))) }
    return BackendCall(
      "POST", "/v2/checkouts", headers: ["Content-Type": "application/json"],
      body: JSONValue.object(body).serialized(), timeout: settings.timeout)
  }

  private func report(
    _ checkout: AfterpayCheckout, _ token: AfterpayToken, _ request: BackendRequest, _ user: UserID
  ) -> PurchaseReport {
    let details = AfterpayDetails(
      isCashAppPay: checkout.isCashAppPay, isExpress: checkout.mode == .express, account: settings.account)
    return PurchaseReport(
      key: token.key, observations: .started, prices: checkout.price.map { [$0] } ?? [], startedBy: user,
      startedIn: request.contextID,
      payment: PaymentFacts(
        amount: checkout.amount.text, currency: checkout.amount.currency.code, reference: request.reference,
        details: details.stored),
      happenedAt: request.receivedAt)
  }

  /// As Afterpay says it.
  private static let outsideLimits = RelayProblem.answer(
    BackendFault(
      slug: "payment-refused", title: "Payment refused", status: 422,
      detail: "The amount is outside of the limits in this merchant's configuration at Afterpay."),
    members: [
      .init(name: "errorCode", value: "unsupported_payment_type"),
      .init(name: "message", value: "The amount is outside of the merchant's limits."),
    ])
}

/// The answer to Create Checkout.
private struct CreatedCheckout {
  var token: AfterpayToken
  /// The page on which the customer confirms the payment.
  var url: String

  /// - Returns: nil if the answer is not usable.
  init?(_ object: JSONValue) {
    guard let token = object["token"]?.stringValue.flatMap(AfterpayToken.init),
      let url = object["redirectCheckoutUrl"]?.stringValue,
      url.hasPrefix("https://") || url.hasPrefix("http://")
    else { return nil }
    self.token = token
    self.url = url
  }
}
