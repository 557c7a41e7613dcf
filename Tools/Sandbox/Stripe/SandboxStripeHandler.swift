// How the simulated Stripe API validates a request. Runs on the server's threads and must not block them: a
// delayed answer goes to the timer with its responder.

internal import Formats
internal import HTTPServer
internal import Platform

/// Answers as Stripe's API does (https://docs.stripe.com/api), as far as a relay uses it.
final class SandboxStripeHandler: RequestHandler {
  struct State {
    var records: StripeRecords
    var behaviour: SandboxStripeBehaviour
    var random: SeededGenerator
    /// The number of requests in this second.
    var second: Int64 = 0
    var requests = 0
    /// The answers to requests that made something, by their key.
    var answered: [String: (body: [UInt8], response: Response)] = [:]
  }

  /// The longest body of a request.
  private static let bodyBytesMax = 64 << 10

  let state: Monitor<State>
  private let timer: DelayedAnswers
  private let onRequest: @Sendable (SandboxStripeRequest) -> Void

  init(
    _ records: StripeRecords, _ behaviour: SandboxStripeBehaviour, seed: UInt64, timer: DelayedAnswers,
    onRequest: @escaping @Sendable (SandboxStripeRequest) -> Void
  ) {
    state = Monitor(State(records: records, behaviour: behaviour, random: SeededGenerator(seed: seed)))
    self.timer = timer
    self.onRequest = onRequest
  }

  func admit(_ head: RequestHead) -> Admission { .body(maximumBytes: Self.bodyBytesMax) }

  func handle(_ request: Request, _ responder: Responder) {
    let (response, delay, isLost) = state.withLock { state in
      (Self.answer(to: request, &state), state.behaviour.delay, state.behaviour.losesAnswers)
    }
    var noted = SandboxStripeRequest(
      method: request.head.method, target: request.head.target,
      account: request.head.header("Stripe-Account"), status: response.status)
    noted.body = request.body
    noted.idempotencyKey = request.head.header("Idempotency-Key")
    onRequest(noted)
    if isLost {
      responder.disconnect()
    } else if delay > .zero {
      timer.answer(responder, response, after: delay)
    } else {
      responder.respond(response)
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    switch rejection {
    case .malformed, .headTooLarge, .bodyTooLarge:
      Self.fault(400, "invalid_request_error", "malformed request")
    case .noRoom, .crowded, .stopping: Self.fault(503, "api_error", "stopping")
    case .tooSlow: Self.fault(408, "api_error", "too slow")
    case .abandoned: Self.fault(500, "api_error", "not answered")
    }
  }

  static func answer(to request: Request, _ state: inout State) -> Response {
    let head = request.head
    let behaviour = state.behaviour
    if let status = behaviour.status {
      return limited(fault(status, "api_error", "the sandbox answers \(status)"), behaviour)
    }
    if let most = behaviour.requestsPerSecondMax {
      let second = MonotonicInstant.now().nanoseconds / 1_000_000_000
      if second != state.second { (state.second, state.requests) = (second, 0) }
      state.requests += 1
      if state.requests > most {
        return limited(fault(429, "invalid_request_error", "too many requests", "rate_limit"), behaviour)
      }
    }
    if Double.random(in: 0..<1, using: &state.random) < behaviour.failRate {
      return fault(500, "api_error", "the sandbox fails at random")
    }
    guard let key = head.header("Authorization"), key.hasPrefix("Bearer "), key.count > 7,
      behaviour.apiKey.map({ key == "Bearer \($0)" }) ?? true
    else { return fault(401, "invalid_request_error", "Invalid API Key provided") }
    if head.method == "POST", head.path == "/v1/checkout/sessions" { return createSession(request, &state) }
    guard head.method == "GET" else {
      return fault(405, "invalid_request_error", "the sandbox accepts GET, and makes checkout sessions")
    }
    return resource(head, state)
  }

  private static func limited(_ response: Response, _ behaviour: SandboxStripeBehaviour) -> Response {
    var response = response
    if response.status == 429, let seconds = behaviour.retryAfterSeconds {
      response.headers.append(("Retry-After", String(seconds)))
    }
    return response
  }

  private static func resource(_ head: RequestHead, _ state: State) -> Response {
    let words = head.path.split(separator: "/").map { PercentEncoding.decode($0.utf8.span) ?? String($0) }
    let query = head.query ?? ""
    guard let parameters = try? FormFields.all(in: query.utf8.span) else {
      return fault(400, "invalid_request_error", "the query has a broken percent escape")
    }
    switch words.count {
    case 2 where words == ["v1", "events"]:
      return events(parameters, state)
    case 2 where words == ["v1", "webhook_endpoints"]:
      return endpoints(parameters, state)
    case 3 where words[0] == "v1" && kinds[words[1]] != nil:
      let object = kinds[words[1]].flatMap { state.records.object(words[2], kind: $0) }
      return object.map { whole($0) } ?? missing(words[2])
    case 3 where words == ["v1", "checkout", "sessions"]:
      // https://docs.stripe.com/api/checkout/sessions/list
      guard let subscription = parameters.last(where: { $0.name == "subscription" })?.value else {
        return fault(400, "invalid_request_error", "the sandbox lists sessions by subscription")
      }
      let session = state.records.session(ofSubscription: subscription)?.removing("line_items")
      return whole([
        "object": "list", "url": "/v1/checkout/sessions", "has_more": false,
        "data": .array(session.map { [$0] } ?? []),
      ])
    case 4, 5:
      guard words[..<3] == ["v1", "checkout", "sessions"],
        let session = state.records.object(words[3], kind: "checkout.session")
      else { return missing(words[3]) }
      if words.count == 5 {
        guard words[4] == "line_items" else { return missing(words[4]) }
        return whole(session["line_items"] ?? ["object": "list", "data": [], "has_more": false])
      }
      // Line items are included only on request.
      let expands = list("expand", parameters).contains("line_items")
      return whole(expands ? session : session.removing("line_items"))
    default:
      return fault(404, "invalid_request_error", "Unrecognized request URL (GET: \(head.path))")
    }
  }

  /// The kinds of the objects that are answered as they are, by their path.
  private static let kinds = [
    "subscriptions": "subscription", "invoices": "invoice", "customers": "customer",
  ]

  /// The values of a list: `types[]`, as curl sends it, or `types[0]`, as Stripe's libraries do.
  private static func list(_ name: String, _ parameters: [FormFields.Field]) -> [String] {
    parameters.filter { field in
      guard field.name.hasPrefix("\(name)["), field.name.hasSuffix("]") else { return false }
      return field.name.dropFirst(name.count + 1).dropLast().allSatisfy(\.isWholeNumber)
    }.map(\.value)
  }

  private static func events(_ parameters: [FormFields.Field], _ state: State) -> Response {
    func value(_ name: String) -> String? { parameters.last { $0.name == name }?.value }
    guard let limit = Int(value("limit") ?? "10"), (1...100).contains(limit) else {
      return fault(400, "invalid_request_error", "limit must be from 1 to 100")
    }
    var query = StripeRecords.EventQuery(limit: min(limit, state.behaviour.pageSizeMax))
    query.startingAfter = value("starting_after")
    query.types = list("types", parameters) + parameters.filter { $0.name == "type" }.map(\.value)
    guard query.types.count <= 20 else {
      return fault(400, "invalid_request_error", "types takes up to 20 names")
    }
    query.createdFrom = value("created[gte]").flatMap { Int64($0) } ?? .min
    query.isDelivered = value("delivery_success").map { $0 == "true" }
    switch state.records.list(query) {
    case .noSuchCursor: return fault(400, "invalid_request_error", "No such event", "resource_missing")
    case .page(let events, let hasMore):
      return whole([
        "object": "list", "url": "/v1/events", "has_more": .bool(hasMore), "data": .array(events),
      ])
    }
  }

  /// https://docs.stripe.com/api/webhook_endpoints/list
  private static func endpoints(_ parameters: [FormFields.Field], _ state: State) -> Response {
    func value(_ name: String) -> String? { parameters.last { $0.name == name }?.value }
    // The answer to a restricted key without this right (https://docs.stripe.com/keys/restricted-api-keys).
    guard state.behaviour.listsEndpoints else {
      return fault(403, "invalid_request_error", "The provided key does not have the required permissions")
    }
    guard let limit = Int(value("limit") ?? "10"), (1...100).contains(limit) else {
      return fault(400, "invalid_request_error", "limit must be from 1 to 100")
    }
    let all = state.records.endpoints
    let start =
      value("starting_after").map { cursor in all.firstIndex { $0["id"]?.stringValue == cursor } } ?? -1
    guard let start else {
      return fault(400, "invalid_request_error", "No such endpoint", "resource_missing")
    }
    let rest = all[(start + 1)...]
    let page = rest.prefix(min(limit, state.behaviour.pageSizeMax))
    return whole([
      "object": "list", "url": "/v1/webhook_endpoints", "has_more": .bool(page.count < rest.count),
      "data": .array(Array(page)),
    ])
  }

  static func whole(_ value: JSONValue) -> Response {
    Response(status: 200, type: "application/json", body: value.serialized())
  }

  private static func missing(_ id: String) -> Response {
    fault(404, "invalid_request_error", "No such object: '\(id)'", "resource_missing")
  }

  /// https://docs.stripe.com/api/errors
  static func fault(
    _ status: Int, _ type: String, _ message: String, _ code: String? = nil, parameter: String? = nil
  ) -> Response {
    let answer: JSONValue = [
      "error": [
        "type": .string(type), "code": .optional(code), "message": .string(message),
        "param": .optional(parameter),
      ]
    ]
    return Response(status: status, type: "application/json", body: answer.serialized())
  }
}

extension JSONValue {
  fileprivate func removing(_ name: String) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.name != name })
  }
}

// MARK: - Sessions

// How the simulated Stripe API makes a Checkout Session. It holds the handler's lock; pure apart from that.

extension SandboxStripeHandler {
  /// https://docs.stripe.com/api/checkout/sessions/create, with the parameters that a relay sends. A request
  /// with a key that was used before gets the same answer (https://docs.stripe.com/api/idempotent_requests).
  static func createSession(_ request: Request, _ state: inout State) -> Response {
    // The answer to a restricted key without this right (https://docs.stripe.com/keys/restricted-api-keys).
    guard state.behaviour.makesSessions else {
      return fault(403, "invalid_request_error", "The provided key does not have the required permissions")
    }
    let key = request.head.header("Idempotency-Key")
    if let key, let earlier = state.answered[key] {
      guard earlier.body == request.body else {
        return fault(
          400, "idempotency_error",
          "Keys for idempotent requests can only be used with the same "
            + "parameters they were first used with")
      }
      var response = earlier.response
      response.headers.append(("Idempotent-Replayed", "true"))
      return response
    }
    let response = session(request, &state)
    // An answer to an invalid request is not kept.
    if let key, response.status == 200 { state.answered[key] = (request.body, response) }
    return response
  }

  private static func session(_ request: Request, _ state: inout State) -> Response {
    guard request.head.header("Content-Type") == "application/x-www-form-urlencoded",
      let fields = try? FormFields.all(in: request.body.span)
    else { return fault(400, "invalid_request_error", "the body must be a form") }
    func value(_ name: String) -> String? { fields.last { $0.name == name }?.value }
    func missing(_ name: String) -> Response {
      fault(
        400, "invalid_request_error", "Missing required param: \(name).", "parameter_missing", parameter: name
      )
    }
    guard let mode = value("mode"), ["payment", "subscription"].contains(mode) else { return missing("mode") }
    guard let success = value("success_url"), success.contains("://") else { return missing("success_url") }
    let item = "line_items[0]"
    guard let price = value("\(item)[price]") else { return missing("\(item)[price]") }
    guard let quantity = value("\(item)[quantity]").flatMap({ Int($0) }), quantity > 0 else {
      return missing("\(item)[quantity]")
    }
    if let fault = priceFault(price, mode, state) { return fault }
    let wrong = mode == "payment" ? "subscription_data" : "payment_intent_data"
    if fields.contains(where: { $0.name.hasPrefix("\(wrong)[") }) {
      return fault(
        400, "invalid_request_error", "You can not pass `\(wrong)` in `\(mode)` mode.", parameter: wrong)
    }
    if let reference = value("client_reference_id"), reference.utf8.count > 200 {
      return fault(400, "invalid_request_error", "too long", parameter: "client_reference_id")
    }
    if let fault = customerFault(value("customer"), value("customer_email"), state) { return fault }
    let id = StripeSampleEvents.id("cs_test_a1", letters: 56, &state.random)
    let now = SystemClock().wallMilliseconds / 1000
    let session: JSONValue = [
      "id": .string(id), "object": "checkout.session", "cancel_url": .optional(value("cancel_url")),
      "client_reference_id": .optional(value("client_reference_id")), "created": .integer(now),
      "customer": .optional(value("customer")), "customer_email": .optional(value("customer_email")),
      "expires_at": .integer(now + 86_400), "livemode": false,
      "line_items": [
        "object": "list", "has_more": false,
        "data": [
          [
            "id": "li_1", "object": "item", "quantity": .integer(Int64(quantity)),
            "price": ["id": .string(price), "object": "price"],
          ]
        ],
      ],
      "metadata": metadata("metadata", fields), "mode": .string(mode), "payment_status": "unpaid",
      "status": "open", "subscription": .null, "success_url": .string(success),
      "url": .string("https://checkout.stripe.com/c/pay/\(id)#fidkdWxOYHwnPyd1"),
    ]
    state.records.add(object: session)
    return whole(session)
  }

  /// An account without any price object accepts every price.
  private static func priceFault(_ price: String, _ mode: String, _ state: State) -> Response? {
    let parameter = "line_items[0][price]"
    guard let object = state.records.object(price, kind: "price") else {
      guard state.records.has(kind: "price") else { return nil }
      return fault(
        400, "invalid_request_error", "No such price: '\(price)'", "resource_missing", parameter: parameter)
    }
    let isRecurring = object["type"]?.stringValue == "recurring"
    switch (mode, isRecurring) {
    case ("payment", true):
      return fault(
        400, "invalid_request_error", "You specified `payment` mode but passed a recurring price.",
        parameter: parameter)
    case ("subscription", false):
      return fault(
        400, "invalid_request_error", "You must provide at least one recurring price in `subscription` mode.",
        parameter: parameter)
    default: return nil
    }
  }

  /// An account without any customer object accepts every customer.
  private static func customerFault(_ customer: String?, _ email: String?, _ state: State) -> Response? {
    guard let customer else { return nil }
    if email != nil {
      return fault(
        400, "invalid_request_error",
        "You may only specify one of these parameters: customer, customer_email.", parameter: "customer")
    }
    guard state.records.has(kind: "customer"), state.records.object(customer, kind: "customer") == nil else {
      return nil
    }
    return fault(
      400, "invalid_request_error", "No such customer: '\(customer)'", "resource_missing",
      parameter: "customer")
  }

  private static func metadata(_ name: String, _ fields: [FormFields.Field]) -> JSONValue {
    .object(
      fields.compactMap { field in
        guard field.name.hasPrefix("\(name)["), field.name.hasSuffix("]") else { return nil }
        let key = field.name.dropFirst(name.utf8.count + 1).dropLast()
        return JSONValue.Member(name: String(key), value: .string(field.value))
      })
  }
}
