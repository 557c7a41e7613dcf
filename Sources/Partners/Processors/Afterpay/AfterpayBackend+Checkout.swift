// Starts a payment: creates a checkout at Afterpay, and stores whose it is before the app gets its token.
// Pure; any thread.

internal import Domain
internal import Formats

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
