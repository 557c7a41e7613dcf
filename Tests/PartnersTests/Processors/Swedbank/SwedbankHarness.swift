// Carries out the steps of Swedbank Pay's backend against a scripted API and a store in memory, and records
// what happened in order. Every call is checked: it goes to the configured base, and carries no secret.

import Domain
import Formats
import Partners
import Testing

struct SwedbankHarness {
  /// What a backend did, in order.
  enum Effect: Equatable {
    case called(BackendCall)
    case stored(PurchaseReport)
  }

  struct NoBackend: Error {}

  static let base = "https://api.payex.example"
  static let token = "merchant-token-of-the-harness"
  static let root = "/v1/ios/swedbank/"
  static let order = "/psp/paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce"
  static let sender = "20.91.170.121"
  static let startedAt = Timestamp(unixSeconds: 1_800_000_000)

  static func settings(
    allow: SwedbankSettings.Allowed = .init(), payeeName: String? = nil
  ) -> SwedbankSettings {
    SwedbankSettings(
      apiBase: base, payeeID: "payee-of-the-harness", payeeName: payeeName,
      publicOrigin: "https://pay.example.com", allow: allow)
  }

  static func processor(
    _ settings: SwedbankSettings = settings(), app: AppSlug = "ios", token: String? = token
  ) throws -> SwedbankProcessor {
    try SwedbankProcessor(settings, app: app, merchantToken: token) { $0 == sender }
  }

  let backend: any MerchantBackend
  /// The answers of the API to the next calls; when none is left, there is no connection.
  var script: [BackendReply] = []
  /// The payments of all users.
  var payments: [PurchaseKey: UserID] = [:]
  var owners: [CustomerID: UserID] = [:]
  var contexts: [ContextID: UserID] = [:]
  var effects: [Effect] = []
  private var requestCount = 0

  init(_ settings: SwedbankSettings = settings()) throws {
    guard let backend = try Self.processor(settings).backend else { throw NoBackend() }
    self.backend = backend
  }

  /// The end of the path in the callback URL that Swedbank Pay gets.
  static func callbackToken(app: AppSlug = "ios", token: String = token) throws -> String {
    guard let backend = try processor(app: app, token: token).backend,
      let (endpoint, parameters) = find("POST", "paymentorders")
    else { throw NoBackend() }
    let step = backend.respond(
      to: BackendRequest(
        endpoint, parameters: parameters, body: SwedbankSamples.orderV3, contentType: "application/json",
        user: "u1", rootPath: root, reference: reference(1), receivedAt: startedAt))
    guard case .call(let call, _) = step else { throw NoBackend() }
    let urls = SwedbankSamples.json(call.body)["paymentorder"]?["urls"]
    guard let url = urls?["callbackUrl"]?.stringValue,
      url.hasPrefix("https://pay.example.com/v1/\(app)/webhooks/swedbank/")
    else { throw NoBackend() }
    return String(url.split(separator: "/").last ?? "")
  }

  /// A harness at which a user has started the usual order.
  static func withOrder(
    _ allow: SwedbankSettings.Allowed = .init(), user: UserID = "u1"
  ) throws -> SwedbankHarness {
    var harness = try SwedbankHarness(settings(allow: allow))
    harness.payments[Self.key(order)] = user
    return harness
  }

  static func key(_ id: String) -> PurchaseKey {
    PurchaseKey(processor: "swedbank", type: "payment_order", id: ObjectID(id))
  }

  var calls: [BackendCall] {
    effects.compactMap { if case .called(let call) = $0 { call } else { nil } }
  }

  var reports: [PurchaseReport] {
    effects.compactMap { if case .stored(let report) = $0 { report } else { nil } }
  }

  /// Sends a request as a router would. Fails for a path that the backend does not declare.
  mutating func send(
    _ method: String, _ path: String, _ body: [UInt8] = [], user: UserID? = "u1",
    contextID: ContextID? = nil, contentType: String? = "application/json", root: String = root,
    address: String = "203.0.113.9"
  ) throws -> BackendAnswer {
    let (endpoint, parameters) = try #require(Self.find(method, path), "no endpoint: \(method) \(path)")
    requestCount += 1
    let request = BackendRequest(
      endpoint, parameters: parameters, body: body, contentType: contentType, user: user,
      contextID: contextID, rootPath: root, clientAddress: address,
      userAgent: "SwedbankPaySDK-iOS/5.0.2", reference: Self.reference(requestCount),
      receivedAt: Self.startedAt)
    return try run(backend.respond(to: request))
  }

  mutating func send(
    _ method: String, _ path: String, _ body: JSONValue, user: UserID? = "u1", contextID: ContextID? = nil
  ) throws -> BackendAnswer {
    try send(method, path, body.serialized(), user: user, contextID: contextID)
  }

  static func reference(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "R", count: 30 - digits.count) + digits
  }

  /// The endpoint of a path and the values of the names in its pattern.
  static func find(
    _ method: String, _ path: String
  ) -> (endpoint: BackendEndpoint, parameters: [String: String])? {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    for endpoint in SwedbankProcessor.backendEndpoints where endpoint.method == method {
      let pattern = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
      guard pattern.count == segments.count else { continue }
      var parameters: [String: String] = [:]
      let matches = zip(pattern, segments).allSatisfy { part, segment in
        guard part.hasPrefix("{") else { return part == segment }
        parameters[String(part.dropFirst().dropLast())] = PercentEncoding.decode(segment.utf8.span)
        return !segment.isEmpty
      }
      if matches { return (endpoint, parameters) }
    }
    return nil
  }

  private mutating func run(_ first: BackendStep) throws -> BackendAnswer {
    var step = first
    for _ in 0..<16 {
      switch step {
      case .answer(let answer): return answer
      case .findContext(let id, let user, let then): step = then(contexts[id] == user)
      case .findPayment(let key, let user, let then):
        let isKnown = payments[key] == user
        step = then(
          isKnown
            ? StartedPayment(
              key: key, facts: PaymentFacts(), observations: .started, startedAt: Self.startedAt) : nil)
      case .findCustomer(let customer, let user, let then): step = then(owners[customer] == user)
      case .acquireCustomer(let customer, let user, let then):
        let owner = owners[customer] ?? user
        owners[customer] = owner
        step = then(owner == user)
      case .findCached(_, let then): step = then(nil)
      case .store(let report, let then):
        effects.append(.stored(report))
        payments[report.key] = report.startedBy
        step = then()
      case .call(let call, let then):
        effects.append(.called(call))
        check(call)
        step = then(script.isEmpty ? .unreachable : script.removeFirst())
      case .cached, .capture: throw NoBackend()
      }
    }
    Issue.record("the backend does not come to an end")
    throw NoBackend()
  }

  private func check(_ call: BackendCall) {
    let url = call.url(at: backend.base)
    #expect(call.target.hasPrefix("/"), "\(call.target)")
    #expect(!call.target.hasPrefix("//"), "\(call.target)")
    #expect(url.hasPrefix(Self.base + "/"), "\(url)")
    #expect(call.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(call.target)")
    let segments = call.target.split { $0 == "/" || $0 == "?" }
    #expect(!segments.contains { $0 == ".." }, "\(call.target)")
    #expect(!call.target.contains(Self.token), "the token is only in a header")
    #expect(!String(decoding: call.body, as: UTF8.self).contains(Self.token))
  }
}

// MARK: Answers of the API

extension BackendReply {
  static func json(_ status: Int, _ body: JSONValue, type: String = "application/json") -> BackendReply {
    .answer(status: status, contentType: "\(type); charset=utf-8", body: body.serialized())
  }

  static func text(_ status: Int, _ type: String?, _ body: String) -> BackendReply {
    .answer(status: status, contentType: type, body: Array(body.utf8))
  }
}

extension BackendAnswer {
  var json: JSONValue? { try? JSONValue(parsing: body) }
  var text: String { String(decoding: body, as: UTF8.self) }
}

/// Whether an answer is a problem that the SDKs can parse.
func isSwedbankProblem(_ answer: BackendAnswer, _ status: Int, _ type: String) -> Bool {
  guard answer.status == status, answer.contentType == "application/problem+json", let json = answer.json,
    json["type"] == .string("https://api.payex.com/psp/errordetail/\(type)"),
    case .integer = json["status"], case .string = json["title"]
  else { return false }
  return true
}

extension JSONValue {
  /// A copy with a member replaced, added or, with nil, removed.
  func with(_ name: String, _ value: JSONValue?) -> JSONValue {
    guard case .object(var members) = self else { return self }
    members.removeAll { $0.name == name }
    if let value { members.append(.init(name: name, value: value)) }
    return .object(members)
  }

  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// The same value whatever the order of the members: as it is parsed.
  var normal: JSONValue { (try? JSONValue(parsing: serialized())) ?? self }
}
