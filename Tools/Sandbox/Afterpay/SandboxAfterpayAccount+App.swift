// What apps and customers do at the simulated Afterpay: the signing of a Cash App payment
// (afterpay/sdk-ios, CashApp/), the page of a checkout, and the ledger. Pure.

internal import Formats
internal import HTTPServer

extension SandboxAfterpayAccount {
  // MARK: Cash App

  /// - Returns: a JWT (RFC 7519) whose signature is made up: apps do not verify it.
  mutating func sign(_ body: JSONValue, now: Int64) throws(SandboxAfterpayFailure) -> SandboxOutcome {
    guard let token = body["token"]?.stringValue, let checkout = checkout(token) else { throw .notFound }
    guard checkout.isCashAppPay else { throw .invalid("The checkout is not one of Cash App Pay") }
    let expires = checkout.expires(after: settings.captureWindow)
    guard now <= expires, checkout.state == .open else {
      throw SandboxAfterpayFailure(412, "invalid_order_transaction_status", "The checkout is not open")
    }
    let header: JSONValue = ["kid": "key1", "alg": "ES256", "ttl": .string(String(expires / 1000))]
    let payload: JSONValue = [
      "externalMerchantId": "MMI_sandbox", "token": .string(token),
      "amount": checkout.amount.json.adding("symbol", "$"),
      "redirectUrl": .string("\(base)/checkout/\(token)"),
    ]
    let parts = [header.serialized(), payload.serialized(), SandboxIDs.bytes(64, &random)]
    let ticket = parts.map(Base64.encodeURL).joined(separator: ".")
    update(token) { $0.tickets.append(ticket) }
    tokenOfTicket[ticket] = token
    return SandboxOutcome(
      200, ["jwtToken": .string(ticket), "redirectUrl": .string(base), "externalBrandId": "BRAND_ID"])
  }

  /// The customer has approved in Cash App: this confirms the checkout.
  mutating func validate(_ body: JSONValue, now: Int64) throws(SandboxAfterpayFailure) -> SandboxOutcome {
    guard let ticket = body["jwt"]?.stringValue, let token = tokenOfTicket[ticket] else {
      throw .invalid("jwt is not a signed payment")
    }
    guard let customer = body["externalCustomerId"]?.stringValue, !customer.isEmpty,
      let grant = body["externalGrantId"]?.stringValue, !grant.isEmpty
    else { throw .invalid("externalCustomerId and externalGrantId are required") }
    let isFirst = perform(.confirm, on: token, now: now)
    // The same grant may be validated again.
    guard isFirst || checkout(token)?.state == .confirmed && checkout(token)?.grantID == grant else {
      throw SandboxAfterpayFailure(412, "invalid_order_transaction_status", "The checkout is not open")
    }
    update(token) { $0.grantID = grant }
    return SandboxOutcome(
      200, ["cashAppTag": "$jane", "status": "SUCCESS", "callbackBaseUrl": .string(base)], note: "confirmed")
  }

  // MARK: The customer

  /// Answers a request of a customer's browser, or one for the ledger; nil if the request is for the API.
  mutating func answerCustomer(_ request: SandboxRequest, now: Int64) -> SandboxOutcome? {
    let segments = request.segments
    switch (request.method, segments.first, segments.count) {
    case ("GET", "ledger", 1): return SandboxOutcome(200, ledger)
    case ("GET", "checkout", 2): return checkout(segments[1]).map { SandboxOutcome(Self.page($0)) }
    case ("POST", "checkout", 3):
      guard let checkout = checkout(segments[1]), let action = SandboxAfterpayAction(rawValue: segments[2])
      else {
        return nil
      }
      return act(action, checkout, request, now: now)
    default: return nil
    }
  }

  private mutating func act(
    _ action: SandboxAfterpayAction, _ checkout: SandboxAfterpayCheckout, _ request: SandboxRequest,
    now: Int64
  ) -> SandboxOutcome {
    guard perform(action, on: checkout.token, now: now) else {
      return SandboxOutcome(
        409, ["error": .string("the checkout is \(checkout.state.rawValue)")],
        note: "refused: \(checkout.state.rawValue)")
    }
    let note = "\(action.rawValue) of \(checkout.amount.text) \(checkout.amount.currency)"
    // A browser goes on; a script reads the outcome.
    guard request.isForm, let place = Self.place(after: action, checkout) else {
      return SandboxOutcome(200, self.checkout(checkout.token)?.ledgerEntry ?? [:], note: note)
    }
    return SandboxOutcome(Response(status: 303, headers: [("Location", place)]), note: note)
  }

  /// Where a browser goes: to the shop, as the documentation says, or back to the page.
  private static func place(
    after action: SandboxAfterpayAction, _ checkout: SandboxAfterpayCheckout
  ) -> String? {
    let url: String?
    switch action {
    case .confirm: url = checkout.confirmURL
    case .cancel: url = checkout.cancelURL
    case .refund: return "/checkout/\(checkout.token)"
    }
    let status = action == .confirm ? "SUCCESS" : "CANCELLED"
    let query = "status=\(status)&orderToken=\(PercentEncoding.encode(checkout.token))"
    return url.map { "\($0)\($0.contains("?") ? "&" : "?")\(query)" }
  }

  private static func page(_ checkout: SandboxAfterpayCheckout) -> Response {
    let actions: [(SandboxAfterpayAction, String)] = [
      (.confirm, "Confirm"), (.cancel, "Cancel"), (.refund, "Refund as the merchant"),
    ]
    let buttons = actions.filter { checkout.allows($0.0) }
    return SandboxPage.response(
      "Afterpay sandbox",
      facts: [
        ("Token", checkout.token), ("Customer", checkout.email),
        ("Amount", "\(checkout.amount.text) \(checkout.amount.currency)"),
        ("State", checkout.state.rawValue), ("Charges", String(checkout.charges)),
      ],
      buttons: buttons.map { (label: $0.1, link: Link("checkout", checkout.token, $0.0.rawValue)) }, links: []
    )
  }
}
