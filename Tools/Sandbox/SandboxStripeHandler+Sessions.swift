// How the simulated Stripe API makes a Checkout Session. It holds the handler's lock; pure apart from that.

internal import Formats
internal import HTTPServer
internal import Platform

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
    let id = StripeSandbox.id("cs_test_a1", letters: 56, &state.random)
    let now = SystemClock().wallMilliseconds / 1000
    let session: JSONValue = [
      "id": .string(id), "object": "checkout.session", "cancel_url": .optional(value("cancel_url")),
      "client_reference_id": .optional(value("client_reference_id")), "created": .integer(now),
      "customer": .null, "expires_at": .integer(now + 86_400), "livemode": false,
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

  private static func metadata(_ name: String, _ fields: [FormFields.Field]) -> JSONValue {
    .object(
      fields.compactMap { field in
        guard field.name.hasPrefix("\(name)["), field.name.hasSuffix("]") else { return nil }
        let key = field.name.dropFirst(name.utf8.count + 1).dropLast()
        return JSONValue.Member(name: String(key), value: .string(field.value))
      })
  }
}
