// The answers to apps: JSON of a payment, and problem documents. No answer contains the merchant's secret or
// an address of the relay's own network (R7). Pure; any thread.

internal import Domain
internal import Formats

/// What apps get to read.
enum AfterpayAnswers {
  /// The state of a payment, as apps see it; the raw value is in `state`.
  enum State: String, CaseIterable {
    /// The customer may still confirm it, and the app may capture it.
    case started
    /// A capture was ordered, and its outcome is not known yet.
    case capturePending = "capture_pending"
    case captured, declined, refused
    /// The time to capture it is over.
    case expired
    /// The outcome of its capture could not be found out in a week.
    case abandoned
    /// It ended without money, without a capture by the relay.
    case closed
    /// The money went back to the customer.
    case reversed
  }

  static func json(_ value: JSONValue, status: Int = 200) -> BackendAnswer {
    BackendAnswer(status: status, body: value.serialized())
  }

  /// - Parameters:
  ///   - paymentID: Afterpay's id of the order, when it is known.
  ///   - status: Afterpay's status of the payment.
  static func document(
    _ key: PurchaseKey, _ state: State, _ facts: PaymentFacts, paymentID: String? = nil, status: String? = nil
  ) -> JSONValue {
    let values: [(String, String?)] = [
      ("token", key.id.text), ("state", state.rawValue), ("status", status), ("id", paymentID),
      ("amount", facts.amount), ("currency", facts.currency),
    ]
    return .object(
      values.compactMap { name, value in
        value.map { JSONValue.Member(name: name, value: .string($0)) }
      })
  }

  // MARK: The outcomes of captures

  static func captured(_ payment: CapturablePayment, _ found: AfterpayPayment) -> CaptureOutcome {
    var facts = payment.facts
    if let amount = found.amount { (facts.amount, facts.currency) = (amount.text, amount.currency.code) }
    let document = document(
      payment.key, .captured, facts, paymentID: found.id, status: found.status.rawValue)
    return CaptureOutcome(kind: .captured, status: 200, body: document.serialized())
  }

  /// - Parameter object: Afterpay's, which may have an error's members, too.
  static func declined(_ key: PurchaseKey, _ object: JSONValue) -> CaptureOutcome {
    let fault = BackendFault(
      slug: "payment-declined", title: "Payment declined", status: 402,
      detail: "Afterpay declined the payment, and nothing was captured. Offer another way to pay.")
    return outcome(.declined, .declined, fault, key, AfterpayError(402, object))
  }

  static func refused(_ key: PurchaseKey, _ error: AfterpayError) -> CaptureOutcome {
    let fault = BackendFault(
      slug: "payment-refused", title: "Payment refused",
      status: isAboutPayment(error.status) ? error.status : 502,
      detail: "Afterpay refused to capture the payment: see errorCode. Nothing was captured. Start another "
        + "payment.")
    return outcome(.refused, .refused, fault, key, error)
  }

  static func unconfirmed(_ key: PurchaseKey, _ error: AfterpayError) -> CaptureOutcome {
    let fault = BackendFault(
      slug: "payment-not-confirmed", title: "Payment not confirmed", status: 412,
      detail: "The customer has not confirmed the payment yet, and nothing was captured. Capture it again "
        + "after the customer has confirmed it.")
    return outcome(.unconfirmed, .started, fault, key, error)
  }

  /// For a capture that could not be made in time.
  static func expired(_ key: PurchaseKey) -> CaptureOutcome {
    outcome(.refused, .expired, expiredFault, key, nil)
  }

  private static func outcome(
    _ kind: CaptureOutcome.Kind, _ state: State, _ fault: BackendFault, _ key: PurchaseKey,
    _ error: AfterpayError?
  ) -> CaptureOutcome {
    let members: [JSONValue.Member] = [
      .init(name: "token", value: .string(key.id.text)),
      .init(name: "state", value: .string(state.rawValue)),
    ]
    let answer = RelayProblem.answer(fault, members: members + (error?.members ?? []))
    return CaptureOutcome(kind: kind, status: answer.status, body: answer.body)
  }

  static let expiredFault = BackendFault(
    slug: "checkout-expired", title: "Checkout expired", status: 410,
    detail: "The time to capture this payment is over, and nothing was captured. Start another payment.")

  // MARK: Calls that failed

  /// Whether an error's status says what is wrong with the payment. Any other says that the relay's request
  /// is wrong.
  private static func isAboutPayment(_ status: Int) -> Bool {
    [402, 404, 409, 410, 412, 422].contains(status)
  }

  /// The answer for a call that changes nothing of a payment that is known.
  static func failed(_ reply: AfterpayReply) -> BackendAnswer {
    switch reply {
    case .busy:
      var answer = problem(
        "busy", "Unavailable", 503, "Too many calls of this app to Afterpay are under way. Send it again.")
      answer.headers["Retry-After"] = "1"
      return answer
    case .trouble(let trouble): return troubled(trouble)
    case .object(let status, let object):
      guard let error = AfterpayError(status, object) else { return troubled(.unreadable) }
      guard isAboutPayment(status) else { return troubled(.unreadable, error) }
      return RelayProblem.answer(
        BackendFault(
          slug: "payment-refused", title: "Payment refused", status: status,
          detail: "Afterpay refused the request: see errorCode and message."),
        members: error.members, errorID: error.id)
    }
  }

  private static func troubled(_ trouble: BackendTrouble, _ error: AfterpayError? = nil) -> BackendAnswer {
    let (slug, title, status, detail) =
      switch trouble {
      case .unreachable:
        ("processor-unreachable", "Bad gateway", 502, "Afterpay could not be reached. Send it again.")
      case .timeout:
        ("processor-timeout", "Gateway timeout", 504, "Afterpay did not answer in time. Send it again.")
      case .unreadable:
        ("processor-unreadable", "Bad gateway", 502, "Afterpay's answer could not be used.")
      case .credentials:
        (
          "processor-credentials", "Bad gateway", 502,
          "Afterpay refused the merchant's credentials. The operator of this service must correct them."
        )
      case .failed: ("processor-failed", "Bad gateway", 502, "Afterpay failed. Send it again.")
      }
    return RelayProblem.answer(
      BackendFault(slug: slug, title: title, status: status, detail: detail), members: error?.members ?? [],
      trouble: trouble, errorID: error?.id)
  }

  static func problem(_ slug: String, _ title: String, _ status: Int, _ detail: String) -> BackendAnswer {
    RelayProblem.answer(BackendFault(slug: slug, title: title, status: status, detail: detail))
  }

  static func invalid(_ slug: String, _ detail: String) -> BackendAnswer {
    problem(slug, "Invalid request", 400, detail)
  }

  // MARK: Requests that name nothing

  static let unknownContext = problem(
    "unknown-context", "Unknown context", 422,
    "There is no context of this user with the id in X-Context-Id. Post one, or leave the header out.")
  static let closed = problem(
    "payment-closed", "Payment closed", 409,
    "This payment ended without money at Afterpay. Start another payment.")
  static let missingUser = invalid("missing-user", "Name the user: in the path, in X-User-Id or by a token.")
}
