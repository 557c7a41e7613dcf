// The answers of the public listener. Pure; called from any thread.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Partners
internal import Platform
internal import Reports
internal import Service
internal import Store

/// The answer to a posted context.
struct ContextAnswer {
  let app: AppSlug
  let post: ContextPost
  let context: IngestContext.Stored

  enum Form: Sendable {
    /// `201 Created`, or `200` for a repeat.
    case json
    /// `303 See Other`, to the checkout page (RFC 9110 §15.4.4).
    case redirect

    init(_ purpose: ContextIntake.Purpose, _ head: RequestHead) {
      self = purpose == .checkout && !MediaRanges(head.headers("Accept")).preferJSON ? .redirect : .json
    }
  }

  /// - Parameter checkoutURL: where its price is paid; nil if nothing is configured for it.
  func response(_ form: Form, checkoutURL: String?) -> Response {
    guard form == .redirect, let checkoutURL else { return json(checkoutURL) }
    return Response(status: 303, headers: [("Location", checkoutURL), ("Cache-Control", "no-store")])
  }

  private func json(_ checkoutURL: String?) -> Response {
    let statusURL = "/v1/\(app)/contexts/\(context.id)"
    var members: [JSONValue.Member] = [
      .init(name: "context_id", value: .string(context.id.text)),
      .init(name: "user_id", value: .string(post.userID.text)),
      .init(name: "stripe_price_id", value: .optional(post.blob.priceID?.text)),
      .init(name: "received_at", value: .time(context.receivedAt)),
      .init(name: "expires_at", value: .time(context.expiresAt)),
      .init(name: "status_url", value: .string(statusURL)),
    ]
    if let checkoutURL { members.append(.init(name: "checkout_url", value: .string(checkoutURL))) }
    var response = Response(
      status: context.isRepeat ? 200 : 201, type: "application/json",
      body: JSONValue.object(members).serialized())
    response.headers += [("Location", statusURL), ("Cache-Control", "no-store")]
    return response
  }
}

extension CheckoutStatus {
  /// - Parameters:
  ///   - name: of the member with the id by which the status was requested.
  ///   - summary: what was bought; nil before the payment, and if no event says it.
  func response(as name: String = "context_id", _ id: some TextID, _ summary: PurchaseSummary?) -> Response {
    let body: JSONValue = [
      name: .string(id.text), "state": .string(state.rawValue), "paid": .bool(paid),
      "amount": .optional(summary?.amount), "currency": .optional(summary?.money?.currency.code),
      "trial": .bool(summary?.isTrial ?? false), "receipt_id": .optional(receiptID?.text),
      "updated_at": .time(updatedAt),
    ]
    var response = Response(status: 200, type: "application/json", body: body.serialized())
    response.headers.append(("Cache-Control", "no-store"))
    return response
  }
}

extension Problem {
  static let contextIDTaken = Problem(
    slug: "context-id-taken", status: 409,
    detail:
      "`id` is, or was, the id of another context. Make a new one for each checkout, from 80 random bits.")

  /// - Parameter rule: what the relay accepts.
  static func contextIDTime(_ rule: ContextIDRule) -> Problem {
    guard rule.ageMax > .zero else {
      return Problem(
        slug: "context-id-time", status: 422,
        detail: "This relay keeps contexts so briefly that it accepts no `id`. Post the context without one.")
    }
    return Problem(
      slug: "context-id-time", status: 422,
      detail:
        "The time in `id` is more than \(DurationText.text(rule.ageMax)) ago, or more than an hour "
        + "ahead. Check the device's clock, and make the id when the customer begins the checkout; or post "
        + "the context without one.")
  }

  /// Malformed and wrong signatures get the same answer, so that a forger learns nothing from it. A wrong
  /// secret in the path gets that of a path that does not exist, and so does a path without an app
  /// (`IntakeRoutes`).
  static func signature(_ fault: SignatureFault) -> Problem {
    let advice: String
    switch fault {
    case .path: return .notFound
    case .sender: return .foreignSender
    case .coded:
      return .invalid(
        "unsupported-content-encoding",
        "The body has a `Content-Encoding`, so the signature cannot be checked. Send the body as it was "
          + "signed; a proxy in front must not compress requests.")
    case .missing: advice = "There is no signature."
    case .stale, .future:
      advice = "The signature's time is too far from now: check the clocks of both machines."
    case .malformed, .mismatch: advice = "The signature does not match the body."
    }
    return .invalid(
      "invalid-signature",
      "\(advice) Check that the endpoint's signing secret is the one configured, "
        + "and that no proxy changes the body."
    )
  }

  private static let foreignSender = Problem(
    slug: "unknown-sender", status: 403,
    detail: "The payment processor does not send from this address. Check the addresses that are allowed, "
      + "and that listen.proxies names the proxies in front.")
}

extension Problem {
  /// What `RequestLimits` counts, with the slug of its refusal.
  enum Limited: String {
    case contexts = "too-many-contexts"
    case claims = "too-many-claims"
    case storePurchases = "too-many-store-purchases"
    /// Those of a processor's SDK.
    case payments = "too-many-requests"
  }

  /// - Parameter wait: until the next request is allowed.
  static func limited(_ requests: Limited, _ wait: Duration) -> Problem {
    Problem(
      slug: requests.rawValue, status: 429,
      detail: "Too many requests arrived for this user or from this address in a short time. Nothing of this "
        + "request was stored; send it again after the time that Retry-After says.",
      headers: ["Retry-After": String(max(1, wait.secondsRoundedUp))])
  }
}
