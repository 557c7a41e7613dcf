// How the simulated Afterpay answers its API's requests
// (https://developers.afterpay.com/afterpay-online/reference). Pure.

internal import Formats
internal import HTTPServer
internal import Platform

extension SandboxAfterpayAccount {
  /// The documented members of a capture; others are refused, as an undocumented one may be misspelt.
  private static let captureMembers: Set<String> = [
    "token", "merchantReference", "requestId", "amount", "isCheckoutAdjusted", "paymentScheduleChecksum",
    "items", "shipping",
  ]

  /// Answers a request of a merchant's server, of an app, or of a customer's browser.
  /// - Parameter now: Unix milliseconds.
  public mutating func answer(to request: SandboxRequest, now: Int64) -> SandboxOutcome {
    if let outcome = answerCustomer(request, now: now) { return outcome }
    do throws(SandboxAfterpayFailure) {
      return try call(request, now: now)
    } catch {
      return SandboxOutcome(
        error.response(id: SandboxIDs.word(16, &random)), note: "\(error.code): \(error.message)")
    }
  }

  private mutating func call(
    _ request: SandboxRequest, now: Int64
  ) throws(SandboxAfterpayFailure) -> SandboxOutcome {
    guard let operation = SandboxAfterpayOperation(request.method, request.segments) else {
      let isKnown = ["GET", "POST"].contains { SandboxAfterpayOperation($0, request.segments) != nil }
      throw isKnown ? SandboxAfterpayFailure(405, "method_not_allowed", "Use another method") : .notFound
    }
    try checkHead(request, operation)
    switch operation {
    case .configuration: return configuration()
    case .create: return try create(try body(request), now: now)
    case .capture: return try capture(try body(request), now: now)
    case .get: return try payment(request.segments[2])
    case .sign: return try sign(try body(request), now: now)
    case .validate: return try validate(try body(request), now: now)
    }
  }

  private func checkHead(
    _ request: SandboxRequest, _ operation: SandboxAfterpayOperation
  ) throws(SandboxAfterpayFailure) {
    // Apps have no credentials.
    let isMerchants = operation != .sign && operation != .validate
    if isMerchants {
      guard isAuthorized(request) else {
        throw SandboxAfterpayFailure(401, "unauthorized", "Credentials are required to access this resource.")
      }
      guard let agent = request.header("User-Agent"), !agent.isEmpty else {
        throw SandboxAfterpayFailure(403, "forbidden", "A User-Agent is mandatory")
      }
    }
    if let accept = request.header("Accept") {
      let types = accept.split(separator: ",").map { $0.split(separator: ";").first ?? "" }
      let isJSON = types.contains { ["*/*", "application/*", "application/json"].contains($0.trimmed) }
      guard isJSON else { throw SandboxAfterpayFailure(406, "error", "Accept application/json") }
    }
    if request.method == "POST", request.mediaType != "application/json" {
      throw SandboxAfterpayFailure(415, "error", "Content-Type must be application/json")
    }
  }

  /// Basic credentials (RFC 7617): merchant id and secret.
  private func isAuthorized(_ request: SandboxRequest) -> Bool {
    guard let value = request.header("Authorization"), value.lowercased().hasPrefix("basic "),
      let bytes = Base64.decode(value.dropFirst(6).utf8.span, .standard),
      let text = String(validating: bytes, as: UTF8.self)
    else { return false }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return false }
    return settings.merchantID.map { $0 == parts[0] } ?? true
      && settings.secret.map { $0 == parts[1] } ?? true
  }

  private func body(_ request: SandboxRequest) throws(SandboxAfterpayFailure) -> JSONValue {
    guard let object = request.object else {
      throw SandboxAfterpayFailure(400, "invalid_json", "The body is not a JSON object")
    }
    return object
  }

  // MARK: Checkouts

  private func configuration() -> SandboxOutcome {
    func amount(_ cents: Int64) -> JSONValue {
      SandboxAfterpayAmount(cents: cents, currency: settings.currency).json
    }
    var outcome = SandboxOutcome(
      200, ["minimumAmount": amount(settings.centsMin), "maximumAmount": amount(settings.centsMax)])
    outcome.response.headers.append(("Cache-Control", "private, max-age=\(settings.cacheSeconds)"))
    return outcome
  }

  private mutating func create(_ body: JSONValue, now: Int64) throws(SandboxAfterpayFailure) -> SandboxOutcome
  {
    let amount = try Self.amount(body["amount"])
    let isCashAppPay = body["isCashAppPay"]?.boolValue ?? false
    guard let email = body["consumer"]?["email"]?.stringValue, email.contains("@") else {
      throw .invalid("consumer.email is required")
    }
    let mode = body["mode"]?.stringValue
    if isCashAppPay, mode == "express" { throw .invalid("Cash App Pay does not support express") }
    let merchant = body["merchant"]
    let urls = ["redirectConfirmUrl", "redirectCancelUrl"].map { merchant?[$0]?.stringValue }
    // An express checkout in a pop-up window returns to its opener.
    let isPopup = mode == "express" && merchant?["popupOriginUrl"]?.stringValue != nil
    for url in urls where !isPopup {
      guard let url, Self.isURL(url) else {
        throw .invalid("merchant.redirectConfirmUrl and merchant.redirectCancelUrl are required")
      }
    }
    guard amount.currency == settings.currency, !isCashAppPay || amount.currency == "USD" else {
      throw SandboxAfterpayFailure(
        422, "unsupported_currency", "\(amount.currency) is not this account's currency")
    }
    guard settings.centsMin <= amount.cents, amount.cents <= settings.centsMax else {
      throw SandboxAfterpayFailure(
        422, "unsupported_payment_type", "The amount is outside of this account's limits")
    }
    guard tokens.count < Self.checkoutsMax else {
      throw SandboxAfterpayFailure(500, "error", "the sandbox is full")
    }
    let checkout = SandboxAfterpayCheckout(
      token: Self.newToken(&random), amount: amount, email: email, isCashAppPay: isCashAppPay,
      confirmURL: urls[0], cancelURL: urls[1], merchantReference: body["merchantReference"]?.stringValue,
      created: now)
    add(checkout)
    let expires = RFC3339.string(unixMilliseconds: checkout.expires(after: settings.captureWindow))
    return SandboxOutcome(
      201,
      [
        "token": .string(checkout.token), "expires": .string(expires),
        "redirectCheckoutUrl": .string("\(base)/checkout/\(checkout.token)"),
      ], note: "\(amount.text) \(amount.currency) of \(email) at \(base)/checkout/\(checkout.token)")
  }

  /// A URL or an app's custom scheme.
  private static func isURL(_ text: String) -> Bool {
    text.contains("://") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// Digits, and up to two after a point. Never a float.
  private static func amount(_ value: JSONValue?) throws(SandboxAfterpayFailure) -> SandboxAfterpayAmount {
    guard let text = value?["amount"]?.stringValue, let currency = value?["currency"]?.stringValue else {
      throw .invalid("amount.amount and amount.currency are required texts")
    }
    if text.contains(",") {
      throw SandboxAfterpayFailure(422, "invalid_amount", "The amount has a thousands separator")
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isNumber = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    let decimals = parts.count == 2 ? String(parts[1]) : ""
    guard isNumber, parts.count <= 2, parts[0].utf8.count <= 10, decimals.utf8.count <= 2,
      let cents = Int64(parts[0] + decimals + String(repeating: "0", count: 2 - decimals.utf8.count))
    else { throw .invalid("The amount is not a decimal with at most two decimals") }
    let isCode = currency.utf8.count == 3 && currency.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    guard isCode else { throw .invalid("amount.currency is not a code of ISO 4217") }
    return SandboxAfterpayAmount(cents: cents, currency: currency)
  }

  // MARK: Payments

  private mutating func capture(_ body: JSONValue, now: Int64) throws(SandboxAfterpayFailure)
    -> SandboxOutcome
  {
    if let other = body.members?.first(where: { !Self.captureMembers.contains($0.name) }) {
      throw .invalid("\(other.name) is not a documented member")
    }
    guard let token = body["token"]?.stringValue, !token.isEmpty else { throw .invalid("token is required") }
    guard let checkout = checkout(token) else { throw .unknownToken }
    update(token) { $0.captureRequests += 1 }
    if let payment = checkout.payment { return outcome(checkout, payment, note: "not charged again") }
    guard now <= checkout.expires(after: settings.captureWindow) else { throw .unknownToken }
    guard checkout.state == .confirmed else {
      throw SandboxAfterpayFailure(
        412, "invalid_order_transaction_status", "The consumer has not confirmed the payment")
    }
    let payment = charge(checkout, reference: body["merchantReference"]?.stringValue, now: now)
    let amount = "\(checkout.amount.text) \(checkout.amount.currency)"
    return outcome(checkout, payment, note: payment.isApproved ? "charged \(amount)" : "declined \(amount)")
  }

  private func outcome(
    _ checkout: SandboxAfterpayCheckout, _ payment: SandboxAfterpayCheckout.Payment, note: String
  ) -> SandboxOutcome {
    SandboxOutcome(payment.isApproved ? 201 : settings.declineStatus, checkout.resource(payment), note: note)
  }

  /// - Parameter name: `token:…` or a payment's id.
  private func payment(_ name: String) throws(SandboxAfterpayFailure) -> SandboxOutcome {
    let prefix = "token:"
    let token = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : tokenOfPayment[name] ?? ""
    guard let checkout = checkout(token), let payment = checkout.payment else { throw .notFound }
    return SandboxOutcome(200, checkout.resource(payment))
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return text
  }
}
