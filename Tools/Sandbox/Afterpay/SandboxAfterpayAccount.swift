// A merchant's account at the simulated Afterpay. A value; pure.

public import Formats
internal import HTTPServer
internal import Platform

/// The operations of the API, as faults name them.
public enum SandboxAfterpayOperation: String, Sendable, CaseIterable {
  /// GET /v2/configuration
  case configuration
  /// POST /v2/checkouts
  case create
  /// POST /v2/payments/capture
  case capture
  /// GET /v2/payments/token:… and by id
  case get
  /// POST /v2/payments/sign-payment and validate-payment, which apps call
  case sign, validate

  init?(_ method: String, _ segments: [String]) {
    switch (method, segments) {
    case ("GET", ["v2", "configuration"]): self = .configuration
    case ("POST", ["v2", "checkouts"]): self = .create
    case ("POST", ["v2", "payments", "capture"]): self = .capture
    case ("POST", ["v2", "payments", "sign-payment"]): self = .sign
    case ("POST", ["v2", "payments", "validate-payment"]): self = .validate
    case ("GET", _) where segments.count == 3 && segments[..<2] == ["v2", "payments"]: self = .get
    default: return nil
    }
  }
}

/// How the simulated Afterpay decides.
public struct SandboxAfterpaySettings: Sendable, Equatable {
  public enum Decision: String, Sendable, CaseIterable {
    /// Declines customers whose e-mail address contains `decline`, and amounts that end in `.51`.
    case rules
    case approve
    case decline
  }

  /// The accepted credentials; nil accepts any.
  public var merchantID: String?
  public var secret: String?
  public var currency: String
  /// The limits of an amount, in the smallest unit.
  public var centsMin: Int64
  public var centsMax: Int64
  public var decision: Decision
  /// The status of a declined capture: 402, or 201 as on another page of the documentation.
  public var declineStatus: Int
  /// How long after its checkout a capture is possible.
  public var captureWindow: Duration
  /// How long the configuration may be cached, in seconds.
  public var cacheSeconds: Int

  public init(
    merchantID: String? = nil, secret: String? = nil, currency: String = "USD", centsMin: Int64 = 100,
    centsMax: Int64 = 200_000, decision: Decision = .rules, declineStatus: Int = 402,
    captureWindow: Duration = .seconds(10_800), cacheSeconds: Int = 60
  ) {
    self.merchantID = merchantID
    self.secret = secret
    self.currency = currency
    self.centsMin = centsMin
    self.centsMax = centsMax
    self.decision = decision
    self.declineStatus = declineStatus
    self.captureWindow = captureWindow
    self.cacheSeconds = cacheSeconds
  }

  func approves(_ checkout: SandboxAfterpayCheckout) -> Bool {
    switch decision {
    case .approve: true
    case .decline: false
    case .rules:
      !checkout.email.lowercased().contains("decline") && checkout.amount.cents % 100 != 51
    }
  }
}

/// What a customer does on the page of a checkout, or the merchant afterwards. The raw value is its name in
/// paths.
public enum SandboxAfterpayAction: String, Sendable, CaseIterable {
  case confirm
  case cancel
  /// The merchant pays a captured amount back.
  case refund
}

/// A merchant's checkouts.
public struct SandboxAfterpayAccount: Sendable {
  /// Checkouts beyond this number are refused.
  static let checkoutsMax = 100_000

  public var settings: SandboxAfterpaySettings
  /// Scheme, host and port, for links.
  public var base: String
  var random: SeededGenerator
  private(set) var checkouts: [String: SandboxAfterpayCheckout] = [:]
  /// By creation.
  private(set) var tokens: [String] = []
  var tokenOfPayment: [String: String] = [:]
  var tokenOfTicket: [String: String] = [:]
  private var paymentCount: Int64 = 12_345_677

  /// - Parameter seed: the same seed makes the same tokens.
  public init(base: String, settings: SandboxAfterpaySettings = SandboxAfterpaySettings(), seed: UInt64 = 1) {
    self.base = base
    self.settings = settings
    random = SeededGenerator(seed: seed)
  }

  /// All checkouts, the oldest first.
  public var list: [SandboxAfterpayCheckout] { tokens.compactMap { checkouts[$0] } }

  public func checkout(_ token: String) -> SandboxAfterpayCheckout? { checkouts[token] }

  /// Acts as the customer, or as a user of the merchant's portal.
  /// - Parameter now: Unix milliseconds.
  /// - Returns: false if there is no such checkout, or if its state forbids it.
  public mutating func perform(_ action: SandboxAfterpayAction, on token: String, now: Int64) -> Bool {
    guard let checkout = checkouts[token], checkout.allows(action) else { return false }
    switch action {
    case .confirm: update(token) { $0.state = .confirmed }
    case .cancel: update(token) { $0.state = .cancelled }
    case .refund:
      let refund = SandboxAfterpayCheckout.Refund(id: SandboxIDs.word(12, &random), created: now)
      update(token) { $0.refund = refund }
    }
    return true
  }

  /// What a test compares with a relay's ledger.
  public var ledger: JSONValue {
    let list = list
    return [
      "captureRequests": .integer(Int64(list.reduce(0) { $0 + $1.captureRequests })),
      "charges": .integer(Int64(list.reduce(0) { $0 + $1.charges })),
      "checkouts": .array(list.map(\.ledgerEntry)),
    ]
  }

  mutating func add(_ checkout: SandboxAfterpayCheckout) {
    checkouts[checkout.token] = checkout
    tokens.append(checkout.token)
  }

  mutating func update(_ token: String, _ change: (inout SandboxAfterpayCheckout) -> Void) {
    guard var checkout = checkouts[token] else { return }
    change(&checkout)
    checkouts[token] = checkout
  }

  /// Decides on a capture that has no outcome yet, and charges the customer if it is approved.
  mutating func charge(
    _ checkout: SandboxAfterpayCheckout, reference: String?, now: Int64
  ) -> SandboxAfterpayCheckout.Payment {
    paymentCount += 1
    let payment = SandboxAfterpayCheckout.Payment(
      id: String(paymentCount), eventID: SandboxIDs.word(27, &random),
      isApproved: settings.approves(checkout),
      merchantReference: reference ?? checkout.merchantReference, created: now)
    tokenOfPayment[payment.id] = checkout.token
    update(checkout.token) { checkout in
      checkout.payment = payment
      if payment.isApproved { checkout.charges += 1 }
    }
    return payment
  }
}

extension SandboxAfterpayAccount: SandboxAccount {
  static func operation(of request: SandboxRequest) -> String? {
    SandboxAfterpayOperation(request.method, request.segments)?.rawValue
  }

  static func failure(_ status: Int, _ message: String) -> Response {
    SandboxAfterpayFailure(status, "error", message).response()
  }

  mutating func popEffects() -> [Never] { [] }

  /// Puts another token in the place of each token: an existing one, if there is another checkout.
  mutating func lie(_ response: Response) -> Response {
    var response = response
    var text = String(decoding: response.body, as: UTF8.self)
    guard let truth = tokens.last(where: { text.contains($0) }) else { return response }
    let lie = tokens.last { $0 != truth } ?? Self.newToken(&random)
    text = text.replacing(truth, with: lie)
    response.body = Array(text.utf8)
    return response
  }

  /// In the form of real ones.
  static func newToken(_ random: inout SeededGenerator) -> String { "005.\(SandboxIDs.word(49, &random))" }
}

// MARK: - App

// What apps and customers do at the simulated Afterpay: the signing of a Cash App payment
// (afterpay/sdk-ios, CashApp/), the page of a checkout, and the ledger. Pure.

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
