// A second payment processor. Its webhook path ends in a secret. A request that also carries the key is
// genuine; any other is a hint, for which the relay asks the processor's API. Its SDKs require a merchant
// backend. Its registration is in DaemonTests/Toy/ToyRegistration.swift, its fixtures are in
// PartnersTests/Processors/Conformance/ToyFixture.swift.

internal import Formats
public import Domain
public import Partners

public struct ToyProcessor: PaymentProcessor {
  public static let name: ProcessorName = "toy"
  public static let hasPathToken = true
  public static let keyHeader = "X-Toy-Key"
  /// An address that is not one of the processor's.
  public static let foreignAddress = "203.0.113.66"
  public static let help = ProcessorHelp(
    webhookSecretKey: "token", webhookSecretOrigin: "the end of the path in Toy's settings",
    apiKeyRights: "It must be allowed to read orders")

  var token: String
  var apiKey: String?
  var apiBase: String
  /// Of a call of the merchant backend.
  var timeout: Duration

  public init(token: String, apiKey: String?, apiBase: String, timeout: Duration = .seconds(20)) {
    self.token = token
    self.apiKey = apiKey
    self.apiBase = apiBase
    self.timeout = timeout
  }

  public static let followsUpAfter: Duration = .seconds(900)

  public static func rules(isAsked: Bool) -> ProcessorRules {
    ProcessorRules(isAsked: isAsked, followsUpAfter: followsUpAfter)
  }

  public static let backendEndpoints = ToyBackend.endpoints
  public static let backendType: (any MerchantBackend.Type)? = ToyBackend.self

  public var backend: (any MerchantBackend)? {
    apiKey.map { ToyBackend(base: apiBase, apiKey: $0, timeout: timeout) }
  }

  public var captures: (any PaymentCaptures)? {
    apiKey.map { ToyCaptures(base: apiBase, apiKey: $0, timeout: timeout) }
  }

  public static func order(_ id: String) -> PurchaseKey {
    PurchaseKey(processor: name, type: PurchaseKey.ObjectType("order"), id: ObjectID(id))
  }

  public func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity {
    guard request.pathToken == token else { return .refused(.path) }
    guard request.address != Self.foreignAddress else { return .refused(.sender) }
    return request.headers(Self.keyHeader) == [apiKey] ? .genuine : .hint
  }

  /// `EVENT KIND ORDER`, followed by `USER PRICE` when it is paid. A `callback` has no id, and concerns only
  /// known orders.
  public func read(_ body: [UInt8], now: Timestamp) -> EventReading {
    let words = String(decoding: body, as: UTF8.self).split(separator: " ").map(String.init)
    guard words.count >= 3, let id = UntrustedText.identifier(words[0]),
      let type = UntrustedText.identifier(words[1]), let order = UntrustedText.identifier(words[2])
    else { return EventReading(id: nil, type: "", content: .nothing(.unparsed)) }
    switch type {
    case "callback":
      return EventReading(
        id: nil, type: type,
        content: .fetchFirst(Self.order(order), sessionID: nil, isWorthKeeping: false))
    case "changed":
      let content = EventReading.Content.fetchFirst(
        Self.order(order), sessionID: SessionID(order), isWorthKeeping: true)
      return EventReading(id: EventID(id), type: type, content: content)
    case "paid" where words.count == 5:
      let report = Self.report(order, .paid, user: words[3], price: words[4], now: now)
      return EventReading(id: EventID(id), type: type, content: .purchase(report, isWorthKeeping: true))
    default: return EventReading(id: EventID(id), type: type, content: .nothing(.ignored))
    }
  }

  public static func report(
    _ order: String, _ observations: Observations, user: String, price: String, now: Timestamp
  ) -> PurchaseReport {
    PurchaseReport(
      key: Self.order(order), sessionID: SessionID(order), observations: observations, metadataUser: user,
      prices: [PriceID(price)], happenedAt: now)
  }

  public var queries: (any ProcessorQueries)? { apiKey.map { ToyQueries(base: apiBase, apiKey: $0) } }
}

struct ToyQueries: ProcessorQueries {
  let base: String
  let apiKey: String
  let eventsKept: Duration = .zero
  let ratePerSecond = 100.0

  var headers: [(name: String, value: String)] { [(ToyProcessor.keyHeader, apiKey)] }

  func lookups(of key: PurchaseKey, sessionID: SessionID?, lacking: Reason?) -> [ProcessorQuery] {
    [ProcessorQuery(target: Self.target(of: key))]
  }

  static func target(of key: PurchaseKey) -> String {
    "/orders/" + key.id.text.utf8.map { String($0, radix: 16) }.joined(separator: "-")
  }

  /// `STATE ORDER USER PRICE`
  func report(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport? {
    let words = String(decoding: body, as: UTF8.self).split(separator: " ").map(String.init)
    guard words.count == 4, words[1] == key.id.text else { return nil }
    let observations: Observations = words[0] == "paid" ? .paid : words[0] == "closed" ? .closed : []
    return ToyProcessor.report(key.id.text, observations, user: words[2], price: words[3], now: now)
  }

  /// `never started`
  func report(
    fromNotFound body: [UInt8], about key: PurchaseKey, facts: PaymentFacts?, startedAt: Timestamp,
    now: Timestamp
  ) -> PurchaseReport? {
    guard body == Array("never started".utf8) else { return nil }
    return PurchaseReport(key: key, observations: .closed, happenedAt: now)
  }

  func eventLists(_ selection: EventSelection) -> [EventList] { [] }
  func page(from body: [UInt8]) -> EventPage? { nil }

  func judge(status: Int?) -> QueryVerdict {
    switch status {
    case 200: .answered
    case 404: .notFound
    case 403: .refused
    default: .transient
    }
  }
}
