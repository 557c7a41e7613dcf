// Makes Checkout Sessions (https://docs.stripe.com/api/checkout/sessions/create): one for each context, which
// the session names to the webhook. Pure; any thread.

internal import Cryptography
public import Domain
internal import Formats

/// What an app sells in Checkout Sessions.
public struct StripeCheckoutSettings: Sendable, Equatable {
  /// How a price is paid.
  public enum Mode: String, Sendable, CaseIterable {
    /// A recurring price.
    case subscription
    /// A one-time price.
    case payment
  }

  /// What is sold for one name of a price.
  public struct Item: Sendable, Equatable {
    /// Stripe's id of the price.
    public var price: String
    public var mode: Mode

    public init(price: String, mode: Mode) {
      self.price = price
      self.mode = mode
    }
  }

  /// Where customers come from, for which Stripe optimizes the page.
  public enum Origin: String, Sendable, CaseIterable {
    case web
    case mobileApp = "mobile_app"
  }

  /// By the price that a context names.
  public var items: [PriceID: Item]
  /// Days without payment at the start of a subscription; nil for none.
  public var trialDays: Int?
  /// Whether customers may enter promotion codes.
  public var allowsPromotionCodes = false
  /// Nil for Stripe's default.
  public var origin: Origin?
  /// Further parameters of each session.
  public var parameters = StripeCheckoutParameters()
  /// The relay's return page of the app, without a query.
  public var returnURL: String
  /// How long an answer of Stripe may take.
  public var timeout: Duration

  /// The default time is what a customer who tapped a button waits.
  public static let timeoutDefault: Duration = .seconds(8)

  public init(items: [PriceID: Item] = [:], returnURL: String = "", timeout: Duration = timeoutDefault) {
    self.items = items
    self.returnURL = returnURL
    self.timeout = timeout
  }
}

extension StripeCheckoutSettings {
  /// The fields that the configuration adds.
  fileprivate func fields(for mode: Mode, hasCustomer: Bool) -> [(String, String)] {
    var fields: [(String, String)] = []
    if let trialDays, mode == .subscription {
      fields.append(("subscription_data[trial_period_days]", String(trialDays)))
    }
    if allowsPromotionCodes { fields.append(("allow_promotion_codes", "true")) }
    if let origin { fields.append(("origin_context", origin.rawValue)) }
    return fields + parameters.fields(for: mode, hasCustomer: hasCustomer)
  }
}

/// One app's Checkout Sessions.
struct StripeCheckouts: HostedCheckouts {
  private let settings: StripeCheckoutSettings
  private let apiKey: String
  /// The metadata by which a sale of the app is recognized.
  private let metadata: [String: String]
  let base: String

  init(
    _ settings: StripeCheckoutSettings, apiKey: String, base: String, metadata: [String: String] = [:]
  ) {
    self.settings = settings
    self.metadata = metadata
    self.apiKey = apiKey
    self.base = base
  }

  var headers: [(name: String, value: String)] {
    [("Authorization", "Bearer \(apiKey)"), ("Accept", "application/json")]
  }

  func offers(_ price: PriceID) -> Bool { settings.items[price] != nil }

  func open(_ order: CheckoutOrder) -> BackendStep {
    guard let item = settings.items[order.price] else { return .answer(StripeCheckoutAnswers.refused(nil)) }
    return open(item, order, Payer.all(of: order))
  }

  /// Who pays, as the session names them, so that nobody types it again.
  private enum Payer {
    case customer(CustomerID)
    case email(String)
    case unknown

    /// In the order in which they are tried.
    static func all(of order: CheckoutOrder) -> [Payer] {
      let customer = order.customerID.flatMap { $0.text.hasPrefix("cus_") ? Payer.customer($0) : nil }
      return [customer, order.email.map(Payer.email), .unknown].compactMap(\.self)
    }

    var fields: [(String, String)] {
      switch self {
      case .customer(let id): [("customer", id.text)]
      case .email(let address): [("customer_email", address)]
      case .unknown: []
      }
    }

    var isCustomer: Bool { if case .customer = self { true } else { false } }
  }

  /// Tries one payer after the other: a customer may be deleted at Stripe, or have another currency, and an
  /// address may be one that Stripe does not accept. That must not cost a sale.
  private func open(
    _ item: StripeCheckoutSettings.Item, _ order: CheckoutOrder, _ payers: [Payer]
  ) -> BackendStep {
    let isLocal = base.hasPrefix("http://")
    return .call(call(item, order, payers.first ?? .unknown)) { reply in
      if payers.count > 1, StripeCheckoutAnswers.mayRefusePayer(reply) {
        return open(item, order, Array(payers.dropFirst()))
      }
      return .answer(StripeCheckoutAnswers.answer(to: reply, allowsHTTP: isLocal))
    }
  }

  private func call(
    _ item: StripeCheckoutSettings.Item, _ order: CheckoutOrder, _ payer: Payer
  ) -> BackendCall {
    let id = order.contextID.text
    // Metadata of a session does not reach what it sells (https://docs.stripe.com/metadata).
    let sold = item.mode == .subscription ? "subscription_data" : "payment_intent_data"
    var fields = [
      ("mode", item.mode.rawValue), ("line_items[0][price]", item.price), ("line_items[0][quantity]", "1"),
      ("client_reference_id", id), ("metadata[ply_context_id]", id),
      ("\(sold)[metadata][ply_context_id]", id),
      ("success_url", "\(settings.returnURL)?context_id=\(id)&result=success"),
      ("cancel_url", "\(settings.returnURL)?context_id=\(id)&result=cancel"),
    ]
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      fields += [("metadata[\(key)]", value), ("\(sold)[metadata][\(key)]", value)]
    }
    fields += payer.fields + settings.fields(for: item.mode, hasCustomer: payer.isCustomer)
    let body = Array(
      fields.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }
        .joined(separator: "&").utf8)
    return BackendCall(
      "POST", "/v1/checkout/sessions",
      headers: [
        "Content-Type": "application/x-www-form-urlencoded",
        "Idempotency-Key": Self.idempotencyKey(order, body),
      ], body: body, timeout: settings.timeout)
  }

  /// A session is open for 24 hours, and Stripe keeps a key's answer for at least as long
  /// (https://docs.stripe.com/api/idempotent_requests). A key is used for a shorter time, so that no repeat
  /// of it gets a session that has ended.
  static let keyPeriod: Duration = .hours(23)

  /// The same for each repeat of an order. Stripe refuses a key with other parameters, so those are in it,
  /// too: they change with the configuration.
  private static func idempotencyKey(_ order: CheckoutOrder, _ body: [UInt8]) -> String {
    let age = max(0, order.now.unixMilliseconds - order.postedAt.unixMilliseconds)
    let period = age / keyPeriod.milliseconds
    let digest = Hex.encode(SHA256.digest(body).prefix(8).map(\.self))
    return "receiptd-\(order.contextID)-\(period)-\(digest)"
  }
}

/// What becomes of Stripe's answers. No answer contains the key or a text of Stripe's (R7).
enum StripeCheckoutAnswers {
  /// - Parameter allowsHTTP: whether a page may be on http: at a stand-in on this machine.
  static func answer(to reply: BackendReply, allowsHTTP: Bool) -> BackendAnswer {
    switch reply {
    case .busy: later("Too many checkouts of this app are being opened.", seconds: 1)
    case .unreachable: troubled(.unreachable)
    case .noAnswer(let isTimeout): troubled(isTimeout ? .timeout : .unreachable)
    case .answer(let status, _, let body): answer(status, body, allowsHTTP: allowsHTTP)
    }
  }

  /// https://docs.stripe.com/api/errors
  private static func answer(_ status: Int, _ body: [UInt8], allowsHTTP: Bool) -> BackendAnswer {
    switch status {
    case 200..<300:
      guard let url = page(in: body, allowsHTTP: allowsHTTP) else { return troubled(.unreadable) }
      return BackendAnswer(status: 303, headers: ["Location": url], body: [])
    case 401, 403: return troubled(.credentials)
    // Another request with the key is under way, or the account's rate limit is used up.
    case 409, 429: return later("The payment processor accepts no request now.", seconds: 2)
    case 400, 402, 404: return refused(errorID(in: body))
    case 500..<600: return troubled(.failed)
    default: return troubled(.unreadable)
    }
  }

  /// The session's page; nil if the answer is not a session with one.
  private static func page(in body: [UInt8], allowsHTTP: Bool) -> String? {
    let url = JSONDocument.read(body) { root -> String? in
      root.isObject && root.member("object")?.string == "checkout.session" ? root.member("url")?.string : nil
    }
    guard let url = url ?? nil, url.utf8.count <= urlBytesMax,
      url.hasPrefix("https://") || allowsHTTP && url.hasPrefix("http://"),
      url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    return url
  }

  /// Whether a refusal may be about the payer that the request names: `resource_missing customer` for a
  /// deleted customer, and any other that is not about what is sold.
  static func mayRefusePayer(_ reply: BackendReply) -> Bool {
    guard case .answer(let status, _, let body) = reply, [400, 404].contains(status) else { return false }
    let parameter = JSONDocument.read(body) { root -> String? in
      guard root.isObject, let error = root.member("error"), error.isObject else { return nil }
      return error.member("param")?.string
    }
    guard let parameter = parameter ?? nil else { return true }
    return !parameter.hasPrefix("line_items") && parameter != "mode"
  }

  /// Session URLs have some 400 bytes.
  static let urlBytesMax = 4096

  /// Stripe's code and the parameter that it concerns: `resource_missing line_items[0][price]`.
  private static func errorID(in body: [UInt8]) -> String? {
    let words = JSONDocument.read(body) { root -> [String] in
      guard root.isObject, let error = root.member("error"), error.isObject else { return [] }
      return ["code", "type", "param"].compactMap { name in
        UntrustedText.identifier(error.member(named: name)?.string)
      }
    }
    guard let words, !words.isEmpty else { return nil }
    return words.joined(separator: " ")
  }

  static func refused(_ errorID: String?) -> BackendAnswer {
    RelayProblem.answer(
      BackendFault(
        slug: "checkout-refused", title: "Checkout refused", status: 422,
        detail:
          "The payment processor refused to open a checkout for the price that `ply_context` names. "
          + "The operator of this service must compare `stripe.checkout.prices` with the prices at Stripe: "
          + "id, mode, and whether they are live or test prices. The context is stored."),
      errorID: errorID)
  }

  private static func later(_ what: String, seconds: Int) -> BackendAnswer {
    var answer = RelayProblem.answer(
      BackendFault(
        slug: "busy", title: "Unavailable", status: 503,
        detail: "\(what) The context is stored. Send the request again."))
    answer.headers["Retry-After"] = String(seconds)
    return answer
  }

  private static func troubled(_ trouble: BackendTrouble) -> BackendAnswer {
    let again =
      "The context is stored. Send the request again: one checkout is opened, however often it is sent."
    let (slug, title, status, detail) =
      switch trouble {
      case .unreachable:
        ("processor-unreachable", "Bad gateway", 502, "Stripe could not be reached. \(again)")
      case .timeout: ("processor-timeout", "Gateway timeout", 504, "Stripe did not answer in time. \(again)")
      case .unreadable:
        (
          "processor-unreadable", "Bad gateway", 502,
          "Stripe's answer could not be used. The context is stored."
        )
      case .credentials:
        (
          "processor-credentials", "Bad gateway", 502,
          "Stripe refused the key of this service. Its operator must give it the right to write checkout "
            + "sessions. The context is stored."
        )
      case .failed:
        (
          "processor-failed", "Bad gateway", 502,
          "Stripe failed. The context is stored. Send the request again; if it fails again, post the context "
            + "with a new `id`."
        )
      }
    var answer = RelayProblem.answer(
      BackendFault(slug: slug, title: title, status: status, detail: detail), trouble: trouble)
    if trouble != .credentials { answer.headers["Retry-After"] = "2" }
    return answer
  }
}
