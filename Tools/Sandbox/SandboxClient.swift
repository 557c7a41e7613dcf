// A client of a relay's public listener: sends the requests of an app, of Stripe and of the page after a
// checkout. Blocks until the answer arrives; one thread.

internal import Formats
public import HTTPClient

/// A connection to one relay.
public final class SandboxClient {
  private let base: String
  private let timeout: Duration
  private let transfers: TransferPool

  /// - Parameter base: scheme, host and port, such as `http://127.0.0.1:8080`.
  /// - Throws: when libcurl cannot be initialised.
  public init(base: String, timeout: Duration = .seconds(40)) throws(TransferFailure) {
    var base = base
    while base.hasSuffix("/") { base.removeLast() }
    self.base = base
    self.timeout = timeout
    transfers = try TransferPool(connectionsMax: 1)
  }

  /// Posts a context as an app does before a checkout.
  /// - Parameter key: one of the app's client keys; nil when the app requires none.
  /// - Throws: when there is no answer; a refusal is an answer.
  public func postContext(
    app: String, user: String, context: String, key: String?
  ) throws(TransferFailure) -> TransferResult {
    let body: JSONValue = ["user_id": .string(user), "ply_context": .string(context)]
    var headers = [TransferHeader("Content-Type", "application/json")]
    if let key { headers.append(TransferHeader("X-API-KEY", key)) }
    return try send(.post, "/v1/\(app)/contexts", headers, body.serialized())
  }

  /// Posts an event as Stripe does.
  /// - Parameter signature: the value of `Stripe-Signature`.
  public func postEvent(
    app: String, _ event: SandboxEvent, signature: String
  ) throws(TransferFailure) -> TransferResult {
    let headers = [
      TransferHeader("Content-Type", "application/json; charset=utf-8"),
      TransferHeader("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"),
      TransferHeader("Stripe-Signature", signature),
    ]
    return try send(.post, "/v1/\(app)/webhooks/stripe", headers, event.body)
  }

  /// Requests the state of a checkout.
  /// - Parameter waitSeconds: how long the relay may hold the answer until the state is final.
  public func status(
    app: String, contextID: String, waitSeconds: Int = 0
  ) throws(TransferFailure) -> TransferResult {
    try send(.get, "/v1/\(app)/contexts/\(contextID)\(waitSeconds > 0 ? "?wait=\(waitSeconds)" : "")", [], [])
  }

  private func send(
    _ method: TransferRequest.Method, _ target: String, _ headers: [TransferHeader], _ body: [UInt8]
  ) throws(TransferFailure) -> TransferResult {
    let request = TransferRequest(
      method: method, url: base + target, headers: headers, body: body,
      timeout: timeout)
    try transfers.start(request, tag: 0)
    while true {
      guard let result = transfers.run(timeout: timeout).first?.result else {
        continue
      }
      if result.status == nil { throw result.failure ?? .internalFault }
      return result
    }
  }
}
