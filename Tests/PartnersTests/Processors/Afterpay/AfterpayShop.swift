// A merchant with Afterpay, for tests: carries out the steps of the backend and the captures, as Intake, the
// store and a worker do, against a scripted Afterpay. Its clock moves with its work. One thread.

import Domain
import Formats
import Partners
import TestSupport
import Testing

let afterpaySecret = "sk-afterpay-very-secret"
let afterpayToken = "005.2fkv5o963b132z8ppa34srlh60987y87d55re237wsg9tr4q2"

func afterpaySettings(_ change: (inout AfterpaySettings) -> Void = { _ in }) throws -> AfterpaySettings {
  let dollars = try #require(Currency("USD"))
  var settings = AfterpaySettings(
    apiBase: "https://afterpay.example", merchantID: "600032000", region: try #require(AfterpayRegion("US")),
    currency: dollars, confirmURL: "https://shop.example/confirm", cancelURL: "shop://cancel",
    prices: ["gold-yearly": Money(minorUnits: 5999, dollars)])
  change(&settings)
  return settings
}

extension BackendReply {
  /// A JSON answer.
  static func afterpay(_ status: Int, _ value: JSONValue) -> BackendReply {
    .answer(status: status, contentType: "application/json", body: value.serialized())
  }

  static func page(_ status: Int, _ text: String) -> BackendReply {
    .answer(status: status, contentType: "text/html", body: Array(text.utf8))
  }

  /// Afterpay's error object.
  static func afterpayError(_ status: Int, _ code: String, _ message: String = "why") -> BackendReply {
    .afterpay(
      status,
      [
        "errorCode": .string(code), "errorId": "err-7", "message": .string(message),
        "httpStatusCode": .integer(Int64(status)),
      ])
  }
}

/// An answer, parsed.
struct ShopAnswer {
  var status: Int
  var type: String
  var json: JSONValue
  var answer: BackendAnswer

  init(_ answer: BackendAnswer) {
    let answer = answer.completed(requestID: "req-1")
    (status, type, self.answer) = (answer.status, answer.contentType, answer)
    json = (try? JSONValue(parsing: answer.body)) ?? .null
  }

  subscript(name: String) -> String? { json[name]?.stringValue }

  /// The last part of a problem's type; nil unless it is a problem document of the relay.
  var slug: String? {
    guard type == "application/problem+json", json["status"] == .integer(Int64(status)),
      self["title"] != nil, self["detail"] != nil, self["request_id"] == "req-1", let type = self["type"],
      type.hasPrefix("urn:receiptd:problem:")
    else { return nil }
    return String(type.dropFirst("urn:receiptd:problem:".count))
  }
}

final class AfterpayShop {
  let processor: AfterpayProcessor
  let backend: any MerchantBackend
  let captures: any PaymentCaptures
  var now = Timestamp(unixMilliseconds: 1_800_000_000_000)
  /// What Afterpay answers to a method and path: each reply once, the last one always.
  var script: [String: [BackendReply]] = [:]
  private(set) var calls: [BackendCall] = []
  /// What was stored, in order.
  private(set) var stored: [PurchaseReport] = []
  var contexts: [ContextID: UserID] = [:]
  private(set) var grants: [String?] = []

  private var cache: [String: BackendReply] = [:]
  private var startedAt: [PurchaseKey: Timestamp] = [:]
  private var outcomes: [PurchaseKey: StoredCapture] = [:]
  private var runs: [PurchaseKey: CaptureRun] = [:]
  private var waiting: [Int: (key: PurchaseKey, until: Timestamp)] = [:]
  private var answers: [Int: BackendAnswer] = [:]
  private var requests = 0

  init(_ change: (inout AfterpaySettings) -> Void = { _ in }) throws {
    processor = AfterpayProcessor(try afterpaySettings(change), secret: afterpaySecret)
    backend = try #require(processor.backend)
    captures = try #require(processor.captures)
    reply("GET /v2/configuration", .afterpayError(500, "error"))
  }

  func reply(_ call: String, _ replies: BackendReply...) { script[call] = replies }

  /// The methods and paths of the calls so far.
  var called: [String] { calls.map { "\($0.method) \($0.target)" } }

  /// The body of the last call.
  func lastBody() throws -> JSONValue { try JSONValue(parsing: try #require(calls.last).body) }

  /// The purchase as the join knows it.
  func purchase(_ token: String = afterpayToken) -> Purchase? {
    let reports = stored.filter { $0.key.id.text == token }
    guard let first = reports.first else { return nil }
    var purchase = Purchase(first, now: now)
    for report in reports.dropFirst() { purchase.absorb(report) }
    return purchase
  }

  func outcome(_ token: String = afterpayToken) -> CaptureOutcome? {
    outcomes.first { $0.key.id.text == token }?.value.outcome
  }

  /// Stores what a lookup found out about the payment.
  func learn(_ observations: Observations, token: String = afterpayToken) {
    guard let key = stored.first(where: { $0.key.id.text == token })?.key else { return }
    stored.append(PurchaseReport(key: key, observations: observations, happenedAt: now))
  }

  // MARK: Requests

  /// Sends a request, and works until it is answered.
  func request(
    _ path: String, _ body: String = "", user: UserID? = "u1", context: ContextID? = nil,
    contentType: String? = "application/json", parameters: [String: String] = [:]
  ) throws -> ShopAnswer {
    let id = try post(
      path, body, user: user, context: context, contentType: contentType, parameters: parameters)
    while answers[id] == nil, step() {}
    return ShopAnswer(try #require(answers[id], "nothing is left to do"))
  }

  /// A shop whose customer has started the example's payment.
  static func started() throws -> AfterpayShop {
    let shop = try AfterpayShop()
    try shop.start()
    return shop
  }

  /// Starts a payment with the example's token.
  @discardableResult func start(
    _ body: String = #"{"email":"a@b.example","price":"gold-yearly","isCashAppPay":true}"#
  ) throws -> ShopAnswer {
    reply(
      "POST /v2/checkouts",
      .afterpay(
        201,
        [
          "token": .string(afterpayToken), "expires": "2027-01-01T00:00:00.000Z",
          "redirectCheckoutUrl": .string("https://portal.example/?token=\(afterpayToken)"),
        ]))
    return try request("checkout", body)
  }

  func capture(_ token: String = afterpayToken, grant: String? = "GRG_1", user: UserID = "u1") throws
    -> ShopAnswer
  {
    let grant = grant.map { #","grantId":"\#($0)""# } ?? ""
    return try request("capture", #"{"token":"\#(token)"\#(grant)}"#, user: user)
  }

  func state(_ token: String = afterpayToken, user: UserID = "u1") throws -> ShopAnswer {
    try request("checkouts/{token}", user: user, parameters: ["token": token])
  }

  /// Sends a request without working for it.
  func post(
    _ path: String, _ body: String, user: UserID? = "u1", context: ContextID? = nil,
    contentType: String? = "application/json", parameters: [String: String] = [:]
  ) throws -> Int {
    let endpoint = try #require(AfterpayProcessor.backendEndpoints.first { $0.path == path })
    requests += 1
    let request = BackendRequest(
      endpoint, parameters: parameters, body: Array(body.utf8), contentType: contentType, user: user,
      contextID: context, rootPath: "/v1/ios/afterpay/", reference: "ref\(requests)", receivedAt: now)
    carryOut(backend.respond(to: request), for: requests)
    return requests
  }

  func answer(to id: Int) -> ShopAnswer? { answers[id].map { ShopAnswer($0) } }

  private func carryOut(_ first: BackendStep, for id: Int) {
    var step = first
    while true {
      switch step {
      case .answer(let answer): return answers[id] = answer
      case .capture(let order): return admit(order, for: id)
      case .findContext(let context, let user, let then): step = then(contexts[context] == user)
      case .findPayment(let key, let user, let then): step = then(payment(key, of: user))
      case .findCustomer, .acquireCustomer:
        Issue.record("Afterpay has no customers")
        return
      case .findCached(let target, let then): step = then(cache[target])
      case .cached(let call, let then):
        let reply = cache[call.target] ?? send(call)
        if case .answer(200, _, _) = reply { cache[call.target] = reply }
        step = then(reply)
      case .call(let call, let then): step = then(send(call))
      case .store(let report, let then):
        stored.append(report)
        startedAt[report.key] = startedAt[report.key] ?? now
        step = then()
      }
    }
  }

  private func payment(_ key: PurchaseKey, of user: UserID) -> StartedPayment? {
    guard let purchase = purchase(key.id.text), purchase.userID == user, let facts = purchase.payment,
      let start = startedAt[key]
    else { return nil }
    return StartedPayment(
      key: key, facts: facts, observations: purchase.observations, startedAt: start, capture: outcomes[key])
  }

  private func send(_ call: BackendCall) -> BackendReply {
    calls.append(call)
    let name = "\(call.method) \(call.target)"
    guard var replies = script[name], let reply = replies.first else { return .page(500, "") }
    if replies.count > 1 {
      replies.removeFirst()
      script[name] = replies
    }
    if case .noAnswer(true) = reply { now = now + call.timeout }
    return reply
  }

  // MARK: Captures

  private func admit(_ order: CaptureOrder, for id: Int) {
    let key = order.key
    switch StoredCapture.admit(outcomes[key]) {
    case .ended(let outcome): return answers[id] = BackendAnswer(outcome)
    case .begin(let isRepeat):
      guard let facts = purchase(key.id.text)?.payment, let start = startedAt[key] else { return }
      outcomes[key] = StoredCapture(orderedAt: now)
      grants.append(order.grantID)
      let payment = CapturablePayment(key: key, facts: facts, startedAt: start, orderedAt: now)
      runs[key] = CaptureRun(beginning: payment, isRepeat: isRepeat, by: captures)
    case .join: break
    }
    waiting[id] = (key, now + captures.answersWithin)
  }

  /// The process was killed and starts again: what is in memory only is lost, and nobody waits.
  func restart() {
    waiting = [:]
    runs = runs.mapValues { run in
      CaptureRun(
        run.payment,
        Capture(
          resuming: run.capture.orderedAt, failures: run.capture.failures, retryAt: run.capture.retryAt))
    }
  }

  /// Works until no call is due before a time.
  func work(for duration: Duration) {
    let end = now + duration
    while let dueAt = runs.values.compactMap(\.dueAt).min(), dueAt <= end, step() {}
    now = max(now, end)
    expire()
  }

  /// Makes the next call that is due, or lets the time pass until requests that wait are answered.
  /// - Returns: false if there is nothing to do.
  private func step() -> Bool {
    let due = runs.values.filter { $0.dueAt != nil }.min { ($0.dueAt ?? now) < ($1.dueAt ?? now) }
    let deadline = waiting.values.map(\.until).min()
    if let deadline, (due?.dueAt).map({ $0 > deadline }) ?? true {
      now = max(now, deadline)
      expire()
      return true
    }
    guard var run = due, let dueAt = run.dueAt, let step = run.nextStep(by: captures) else { return false }
    now = max(now, dueAt)
    let reply = send(step.call)
    let progress = run.finish(step, reply, by: captures, now: now)
    let key = run.payment.key
    runs[key] = run
    if let outcome = run.capture.outcome {
      runs[key] = nil
      if let report = progress.report { stored.append(report) }
      outcomes[key]?.outcome = outcome
      for (id, request) in waiting where request.key == key {
        answers[id] = BackendAnswer(outcome)
        waiting[id] = nil
      }
    }
    expire()
    return true
  }

  private func expire() {
    for (id, request) in waiting where request.until <= now {
      answers[id] = .captureOutcomeUnknown
      waiting[id] = nil
    }
  }
}
