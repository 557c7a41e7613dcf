// The answers of the public listener. Pure; any thread.

internal import Domain
internal import HTTPServer
internal import JSON
internal import Platform
internal import Processors
internal import Store

/// `201 Created`, or `200` for a repeat.
struct ContextAnswer {
  let app: String
  let post: ContextPost
  let outcome: TakeContext.Outcome

  var response: Response {
    let statusURL = "/v1/\(app)/contexts/\(outcome.id)"
    let body: JSONValue = [
      "context_id": .string(outcome.id), "user_id": .string(post.userID),
      "stripe_price_id": .optional(post.blob.priceID), "received_at": .time(outcome.receivedAt),
      "expires_at": .time(outcome.expiresAt), "status_url": .string(statusURL),
    ]
    var response = Response(
      status: outcome.isRepeat ? 200 : 201, type: "application/json", body: body.serialized())
    response.headers += [("Location", statusURL), ("Cache-Control", "no-store")]
    return response
  }
}

extension CheckoutStatus {
  func response(contextID: String) -> Response {
    let body: JSONValue = [
      "context_id": .string(contextID), "state": .string(state.rawValue), "receipt_id": .optional(receiptID),
      "updated_at": .time(updatedAt),
    ]
    var response = Response(status: 200, type: "application/json", body: body.serialized())
    response.headers.append(("Cache-Control", "no-store"))
    return response
  }
}

extension JSONValue {
  /// RFC 3339, in UTC, with milliseconds.
  static func time(_ timestamp: Timestamp) -> JSONValue {
    .string(RFC3339.string(unixMilliseconds: timestamp.unixMilliseconds))
  }
}

extension Problem {
  /// One answer for every fault: who forges signatures learns nothing from it.
  static func signature(_ fault: SignatureFault) -> Problem {
    let advice =
      switch fault {
      case .missing: "There is no signature."
      case .stale, .future: "The signature's time is too far from now: check the clocks on both sides."
      case .malformed, .mismatch: "The signature does not match the body."
      }
    return .invalid(
      "invalid-signature",
      "\(advice) Check that the endpoint's signing secret is the one configured, "
        + "and that nothing between changes the body."
    )
  }
}
