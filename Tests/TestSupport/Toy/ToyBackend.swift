// The toy processor's merchant backend: one flow for each kind of step. Bodies are words.

internal import Formats
internal import Domain
public import Partners

public struct ToyBackend: MerchantBackend {
  public let base: String
  public let headers: [(name: String, value: String)]
  var timeout: Duration

  init(base: String, apiKey: String, timeout: Duration) {
    self.base = base
    headers = [(ToyProcessor.keyHeader, apiKey), ("Content-Type", "text/plain")]
    self.timeout = timeout
  }

  public static let endpoints = [
    BackendEndpoint("GET", "", label: "toy_root", requiresUser: false),
    BackendEndpoint("GET", "limits", label: "toy_limits", requiresUser: false),
    BackendEndpoint("POST", "orders", label: "toy_orders"),
    BackendEndpoint("GET", "orders/{order}", label: "toy_order"),
    BackendEndpoint("PATCH", "orders/{order}", label: "toy_change"),
    BackendEndpoint("POST", "orders/{order}/capture", label: "toy_capture"),
    BackendEndpoint("GET", "customers/{customer}", label: "toy_customer"),
    BackendEndpoint("GET", "circle", label: "toy_circle"),
  ]

  public func respond(to request: BackendRequest) -> BackendStep {
    let user = request.user ?? ""
    let order = ToyProcessor.order(request.parameters["order"] ?? "")
    switch request.endpoint.label {
    case "toy_root":
      return .answer(Self.text(200, request.rootPath, ["Cache-Control": "max-age=60"]))
    case "toy_limits":
      return .cached(call("GET", "/limits")) { .answer(Self.answer(to: $0)) }
    case "toy_orders": return start(request, user)
    case "toy_order":
      return .findPayment(order, user) { payment in
        guard let payment else { return .answer(Self.text(404, "no order")) }
        let facts = [payment.facts.amount, payment.facts.currency].compactMap(\.self)
        return .answer(Self.text(200, ([payment.key.id.text] + facts).joined(separator: " ")))
      }
    case "toy_change": return change(order, request.body, user)
    case "toy_capture": return .capture(CaptureOrder(key: order, user: user))
    case "toy_customer":
      return .findCustomer(CustomerID(request.parameters["customer"] ?? ""), user) { isOwner in
        .answer(Self.text(isOwner ? 200 : 404, isOwner ? "yes" : "no"))
      }
    default: return circle()
    }
  }

  /// Never ends.
  private func circle() -> BackendStep { .findContext("ctx", "u") { _ in circle() } }

  /// `PRICE`, `PRICE CUSTOMER`: starts an order. The processor's answer is `ORDER`.
  private func start(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    let words = String(decoding: request.body, as: UTF8.self).split(separator: " ").map(String.init)
    guard let price = words.first, request.contentType == "text/plain" else {
      return .answer(Self.text(400, "no price"))
    }
    var call = call("POST", "/orders", body: "\(request.reference) \(price)")
    call.headers["X-Client"] = "\(request.clientAddress) \(request.userAgent ?? "-")"
    let customer = words.dropFirst().first.map(CustomerID.init)
    let send = BackendStep.call(call) { reply in
      guard case .answer(201, _, let body) = reply else { return .answer(Self.answer(to: reply)) }
      let id = String(decoding: body, as: UTF8.self)
      guard let id = UntrustedText.identifier(id) else {
        return .answer(Self.text(502, "unreadable", trouble: .unreadable))
      }
      let report = PurchaseReport(
        key: ToyProcessor.order(id), observations: .started,
        customerID: customer, prices: [PriceID(price)], startedBy: user,
        startedIn: request.contextID,
        payment: PaymentFacts(amount: "59.99", currency: "USD", reference: request.reference),
        happenedAt: request.receivedAt)
      return .store(report) { .answer(Self.text(201, request.rootPath + "orders/" + id)) }
    }
    let acquire = customer.map { customer in
      BackendStep.acquireCustomer(customer, user) { $0 ? send : .answer(Self.text(404, "no customer")) }
    }
    let first = acquire ?? send
    guard let contextID = request.contextID else { return first }
    return .findContext(contextID, user) { $0 ? first : .answer(Self.text(422, "no context")) }
  }

  /// Looks at an order, changes it, and stores `paid` or `closed`.
  private func change(_ order: PurchaseKey, _ body: [UInt8], _ user: UserID) -> BackendStep {
    .findPayment(order, user) { payment in
      guard payment != nil else { return .answer(Self.text(404, "no order")) }
      let target = ToyQueries.target(of: order)
      return .call(call("GET", target)) { looked in
        guard case .answer(200, _, _) = looked else { return .answer(Self.answer(to: looked)) }
        return .call(call("PATCH", target, body: String(decoding: body, as: UTF8.self))) { changed in
          guard case .answer(200, _, let state) = changed else { return .answer(Self.answer(to: changed)) }
          let isPaid = state == Array("paid".utf8)
          let report = PurchaseReport(
            key: order, observations: isPaid ? .paid : .closed, happenedAt: Timestamp(unixMilliseconds: 0))
          return .store(report) { .answer(Self.answer(to: changed)) }
        }
      }
    }
  }

  private func call(_ method: String, _ target: String, body: String = "") -> BackendCall {
    BackendCall(method, target, body: Array(body.utf8), timeout: timeout)
  }

  static func text(
    _ status: Int, _ text: String, _ headers: [String: String] = [:], trouble: BackendTrouble? = nil
  ) -> BackendAnswer {
    BackendAnswer(
      status: status, contentType: "text/plain", headers: headers, body: Array(text.utf8), trouble: trouble)
  }

  private static func answer(to reply: BackendReply) -> BackendAnswer {
    switch reply {
    case .answer(401, _, _): text(502, "credentials", trouble: .credentials)
    case .answer(let status, _, _) where (300..<400).contains(status) || status >= 500:
      text(502, "status \(status)", trouble: status >= 500 ? .failed : .unreadable)
    case .answer(let status, let type, let body):
      BackendAnswer(status: status, contentType: type ?? "text/plain", body: body)
    case .unreachable: text(502, "unreachable", trouble: .unreachable)
    case .noAnswer(let isTimeout):
      text(isTimeout ? 504 : 502, "no answer", trouble: isTimeout ? .timeout : .unreachable)
    case .busy: text(503, "busy")
    }
  }

  public static func rephrase(_ fault: BackendFault) -> BackendAnswer? {
    BackendAnswer(
      status: fault.status, contentType: "application/toy-error",
      body: Array("\(fault.slug) \(fault.status)".utf8))
  }
}
