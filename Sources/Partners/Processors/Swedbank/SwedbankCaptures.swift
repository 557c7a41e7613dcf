// Captures an authorised payment order for a merchant who leaves that to the relay (`capture: "auto"`;
// https://developer.swedbankpay.com/checkout-v3/get-started/post-purchase). Only the payment order itself
// names the operation that captures it, so each capture begins with a lookup. Pure; any thread.

public import Domain
internal import Formats

/// One app's captures at Swedbank Pay. A repeated call has the same reference, so Swedbank Pay carries out at
/// most one of them. If captures are the merchant's again, open ones are still looked up, and none is sent.
public struct SwedbankCaptures: PaymentCaptures {
  /// How long after its order a capture may be sent: one that was forgotten for longer, because the section
  /// was missing, would surprise the merchant.
  static let sentWithin: Duration = .days(8)

  private let settings: SwedbankSettings
  private let secrets: SwedbankSecrets
  private let api: SwedbankBase
  public let headers: [(name: String, value: String)]

  init(_ settings: SwedbankSettings, merchantToken: String, secrets: SwedbankSecrets) {
    self.settings = settings
    self.secrets = secrets
    api = SwedbankBase(settings.apiBase)
    headers = SwedbankBackend.headers(merchantToken: merchantToken)
  }

  public var base: String { api.text }

  /// No app orders these captures.
  public var answersWithin: Duration { settings.timeout }

  public func captureCall(_ payment: CapturablePayment) -> BackendCall? { nil }

  /// The order with its items, which some instruments require in a capture.
  public func lookupCall(_ payment: CapturablePayment) -> BackendCall {
    BackendCall(
      "GET", (SwedbankOrderPath(payment.key)?.text ?? Self.noOrder) + "?$expand=paid,orderItems",
      headers: SwedbankBackend.currentVersion, timeout: settings.timeout)
  }

  /// A path without an order, for a key that is not an order's. It is answered 404.
  private static let noOrder = "/psp/paymentorders/none"

  /// An answer names the transaction. The order says what became of it.
  public func readCapture(
    _ reply: BackendReply, of payment: CapturablePayment, now: Timestamp
  ) -> CaptureReading {
    switch reply {
    case .answer(200...299, _, let body) where Self.namesCapture(body): .accepted
    // These prove nothing about this order.
    case .answer(401, _, _), .answer(408, _, _), .answer(425, _, _), .answer(429, _, _):
      .unclear(Self.trouble(reply))
    // The call is not repeated: the fifth refusal in a row locks the payment
    // (https://developer.swedbankpay.com/checkout-v3/get-started/post-purchase), also for the merchant, who
    // can still capture it by hand.
    case .answer(400...499, _, let body) where Self.isProblem(body): .ended(.abandoned, nil)
    default: .unclear(Self.trouble(reply))
    }
  }

  /// The capture, or the whole order in version 2. A login page between is neither.
  private static func namesCapture(_ body: [UInt8]) -> Bool {
    JSONDocument.read(body) { root in
      root.member("capture") != nil || SwedbankResource(root)?.order != nil
    } ?? false
  }

  /// A problem document of Swedbank Pay's has a type. An answer of something between has none.
  private static func isProblem(_ body: [UInt8]) -> Bool {
    JSONDocument.read(body) { root in root.member("type")?.isString == true } ?? false
  }

  public func readLookup(
    _ reply: BackendReply, of payment: CapturablePayment, now: Timestamp
  ) -> CaptureReading {
    guard case .answer(200, _, let body) = reply else { return .unclear(Self.trouble(reply)) }
    let reading = JSONDocument.read(body) { root in read(root, body, payment, now) }
    return reading ?? .unclear(.unreadable)
  }

  private func read(
    _ root: JSONNode, _ answer: [UInt8], _ payment: CapturablePayment, _ now: Timestamp
  ) -> CaptureReading {
    guard let resource = SwedbankResource(root), let order = resource.id(at: api),
      order.key == payment.key, let status = resource.order?.member("status")?.string
    else { return .unclear(.unreadable) }
    if ["Cancelled", "Reversed", "Aborted", "Failed"].contains(status) { return Self.impossible }
    guard status == "Paid" else { return .unclear(.unreadable) }
    if resource.isCaptured == true { return Self.captured(payment, now) }
    // A missing operation proves nothing: the answer may lack its operations.
    guard let href = resource.href(SwedbankRelation.capture) else { return .unclear(.unreadable) }
    guard let target = api.target(ofOperation: href),
      let amount = resource.order?.member("amount")?.int64,
      let remaining = resource.order?.member("remainingCaptureAmount")?.int64
    else { return .unclear(.unreadable) }
    // If the merchant has captured a part, the rest is the merchant's, too.
    guard settings.capturesItself, remaining == amount,
      now.duration(since: payment.orderedAt) <= Self.sentWithin
    else { return Self.impossible }
    var body = Array(#"{"transaction":"#.utf8)
    body +=
      JSONValue.object([
        .init(name: "description", value: "Capture"), .init(name: "amount", value: .integer(amount)),
        .init(
          name: "vatAmount", value: .integer(resource.order?.member("vatAmount")?.int64 ?? 0)),
        .init(name: "payeeReference", value: .string(secrets.captureReference(of: order))),
      ]).serialized().dropLast()
    if let items = resource.order?.member("orderItems")?.member("orderItemList"), items.isArray {
      body += Array(#","orderItems":"#.utf8) + items.bytes(of: answer)
    }
    return .nothingCaptured(
      capturedBy: BackendCall(
        "POST", target, headers: SwedbankBackend.currentVersion, body: body + Array("}}".utf8),
        timeout: settings.timeout))
  }

  static func captured(_ payment: CapturablePayment, _ now: Timestamp) -> CaptureReading {
    .ended(
      outcome(.captured, 200),
      PurchaseReport(
        key: payment.key, observations: .paid, payment: PaymentFacts(isCaptured: true), happenedAt: now))
  }

  static let impossible = CaptureReading.ended(outcome(.refused, 409), nil)

  /// Nobody reads the answer.
  private static func outcome(_ kind: CaptureOutcome.Kind, _ status: Int) -> CaptureOutcome {
    let body = JSONValue.object([.init(name: "state", value: .string(kind.rawValue))])
    return CaptureOutcome(kind: kind, status: status, body: body.serialized())
  }

  private static func trouble(_ reply: BackendReply) -> BackendTrouble {
    switch reply {
    case .answer(401, _, _), .answer(403, _, _): .credentials
    case .answer(let status, _, _): status >= 500 || status == 429 ? .failed : .unreadable
    case .unreachable, .busy: .unreachable
    case .noAnswer(let isTimeout): isTimeout ? .timeout : .unreachable
    }
  }
}
