// How the simulated destination validates a request. Runs on the server's threads and must not block them: a
// delayed answer goes to the timer with its responder.

internal import Formats
internal import FoundationEssentials
internal import HTTPServer
internal import Platform

/// Answers as Purchasely's endpoint does, as far as that is public: 403 for an unknown key, 422 for missing
/// properties, else 200 with an import id.
final class SandboxDestinationHandler: RequestHandler {
  static let bodyBytesMax = 1 << 20
  /// By platform. The answer names the first missing one in this order. Apple's purchases also have one of
  /// two others.
  static let mandatoryProperties = [
    "STRIPE": ["user_id", "stripe_object_type", "stripe_object_id", "stripe_price_id"],
    "APP_STORE": ["user_id", "store_product_id"],
    "PLAY_STORE": ["user_id", "store_product_id", "purchase_token"],
    "APPGALLERY": ["user_id", "store_product_id", "purchase_token", "subscription_id", "account_flag"],
  ]

  let behaviour: Monitor<SandboxBehaviour>
  private let random: Monitor<SeededGenerator>
  private let timer: DelayedAnswers
  private let onReceipt: @Sendable (SandboxReceipt) -> Void

  init(
    _ behaviour: SandboxBehaviour, seed: UInt64, timer: DelayedAnswers,
    onReceipt: @escaping @Sendable (SandboxReceipt) -> Void
  ) {
    self.behaviour = Monitor(behaviour)
    random = Monitor(SeededGenerator(seed: seed))
    self.timer = timer
    self.onReceipt = onReceipt
  }

  func admit(_ head: RequestHead) -> Admission {
    guard head.path == SandboxDestination.path else {
      return .answer(Self.response(404, "there is nothing here but \(SandboxDestination.path)"))
    }
    guard head.method == "POST" else {
      var response = Self.response(405, "receipts are posted")
      response.headers.append(("Allow", "POST"))
      return .answer(response)
    }
    return .body(maximumBytes: Self.bodyBytesMax)
  }

  func handle(_ request: Request, _ responder: Responder) {
    let behaviour = behaviour.withLock { $0 }
    let response = answer(to: request, behaviour)
    onReceipt(
      SandboxReceipt(
        method: request.head.method, path: request.head.path, headers: Self.headers(of: request.head),
        body: request.body, status: response.status))
    if behaviour.delay > .zero {
      timer.answer(responder, response, after: behaviour.delay)
    } else {
      responder.respond(response)
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    switch rejection {
    case .malformed: Self.response(400, "malformed request")
    case .headTooLarge: Self.response(431, "too large")
    case .bodyTooLarge: Self.response(413, "too large")
    case .noRoom, .crowded: Self.response(503, "the body is too long")
    case .tooSlow: Self.response(408, "too slow")
    case .abandoned: Self.response(500, "not answered")
    case .stopping: Self.response(503, "stopping")
    }
  }

  private func answer(to request: Request, _ behaviour: SandboxBehaviour) -> Response {
    if let status = behaviour.status {
      return status == 200 ? Self.accepted() : Self.response(status, "the sandbox answers \(status)")
    }
    let share = random.withLock { Double.random(in: 0..<1, using: &$0) }
    if share < behaviour.failRate { return Self.response(503, "the sandbox fails at random") }
    // Key and platform must match as a pair; the answer never says which one does not.
    guard let key = request.head.header("X-API-KEY"), behaviour.apiKey.map({ $0 == key }) ?? true,
      let properties = request.head.header("X-PLATFORM-TYPE").flatMap({ Self.mandatoryProperties[$0] })
    else { return Self.response(403, "unknown api_key") }
    guard let body = try? JSONValue(parsing: request.body), case .object = body else {
      return Self.response(400, "the body is not a JSON object")
    }
    let missing = properties.first { [nil, .null, .string("")].contains(body[$0]) }
    if let missing { return Self.response(422, "missing mandatory property \"\(missing)\"") }
    return Self.accepted()
  }

  private static func accepted() -> Response {
    let answer: JSONValue = ["id": .string(UUID().uuidString.lowercased())]
    return Response(status: 200, type: "application/json", body: answer.serialized())
  }

  private static func response(_ status: Int, _ error: String) -> Response {
    let answer: JSONValue = ["errors": [.string(error)]]
    return Response(status: status, type: "application/json", body: answer.serialized())
  }

  private static func headers(of head: RequestHead) -> [(name: String, value: String)] {
    ["X-API-KEY", "X-PLATFORM-TYPE", "Content-Type", "User-Agent"].compactMap { name in
      head.header(name).map { (name, name == "X-API-KEY" ? "…" : $0) }
    }
  }
}
