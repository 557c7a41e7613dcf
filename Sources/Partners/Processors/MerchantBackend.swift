// What a payment processor requires of a merchant's server: the requests of its SDKs. A backend decides; it
// does no I/O. It returns one step after the other, and other code carries them out: it searches the
// database, calls the processor, stores, and answers. So each flow can be tested without a server.

public import Domain

/// One app's merchant backend for the SDKs of a processor. Pure; any thread.
public protocol MerchantBackend: ProcessorEndpoint {
  /// Begins to answer a request. Total: returns a step for any bytes.
  func respond(to request: BackendRequest) -> BackendStep

  /// Puts an error into the form that the processor's SDKs parse; nil for the relay's own form.
  static func rephrase(_ fault: BackendFault) -> BackendAnswer?

  /// The same with the app's settings. The default is that of the type.
  func rephrase(_ fault: BackendFault) -> BackendAnswer?
}

extension MerchantBackend {
  public static func rephrase(_ fault: BackendFault) -> BackendAnswer? { nil }
  public func rephrase(_ fault: BackendFault) -> BackendAnswer? { Self.rephrase(fault) }
}

/// A path of a merchant backend, relative to `/v1/{app}/PROCESSOR/` and `/v1/{app}/users/{user}/PROCESSOR/`.
public struct BackendEndpoint: Sendable, Equatable {
  /// `GET`, which includes `HEAD`; `POST` or `PATCH`.
  public var method: String
  /// A pattern such as `payers/{payer}/paymentTokens`: a name in braces matches one segment. Empty for the
  /// root itself, which ends in a slash.
  public var path: String
  /// The value of the label `route` in metrics and log lines: `swedbank_paymentorders`.
  public var label: String
  /// Whether a request must name a user.
  public var requiresUser: Bool

  public init(_ method: String, _ path: String, label: String, requiresUser: Bool = true) {
    self.method = method
    self.path = path
    self.label = label
    self.requiresUser = requiresUser
  }
}

/// A request of an authorized client to a merchant backend.
public struct BackendRequest: Sendable {
  public var endpoint: BackendEndpoint
  /// The values of the names in braces, decoded.
  public var parameters: [String: String]
  public var body: [UInt8]
  /// The value of `Content-Type`; nil without one.
  public var contentType: String?
  /// The user that the path, `X-User-Id` or the token names. Not nil if the endpoint requires a user.
  public var user: UserID?
  /// The context that `X-Context-Id` names; nil without the header.
  public var contextID: ContextID?
  /// The path of the root as the client wrote it, with a slash at its end: `/v1/ios/swedbank/`. Links in
  /// answers begin with it.
  public var rootPath: String
  /// The client's address, behind the proxies that the configuration trusts: `203.0.113.9`.
  public var clientAddress: String
  /// The client's `User-Agent`; nil without one.
  public var userAgent: String?
  /// 30 random characters of `[A-Za-z0-9]`, different in each request: for the merchant's own reference of a
  /// payment.
  public var reference: String
  public var receivedAt: Timestamp

  public init(
    _ endpoint: BackendEndpoint, parameters: [String: String] = [:], body: [UInt8] = [],
    contentType: String? = nil, user: UserID? = nil, contextID: ContextID? = nil, rootPath: String,
    clientAddress: String = "", userAgent: String? = nil, reference: String, receivedAt: Timestamp
  ) {
    self.endpoint = endpoint
    self.parameters = parameters
    self.body = body
    self.contentType = contentType
    self.user = user
    self.contextID = contextID
    self.rootPath = rootPath
    self.clientAddress = clientAddress
    self.userAgent = userAgent
    self.reference = reference
    self.receivedAt = receivedAt
  }
}

/// What to do next for a request. Each closure returns the step that follows.
public enum BackendStep: Sendable {
  /// The end: answer the client.
  case answer(BackendAnswer)
  /// The end: a capture is stored and carried out; the answer follows when its outcome is known
  /// (`PaymentCaptures`).
  case capture(CaptureOrder)
  /// Search a context of the app and the user. False if there is none with this id.
  case findContext(ContextID, UserID, then: @Sendable (_ exists: Bool) -> BackendStep)
  /// Search a payment that this user started. Nil if there is none, or if it is another user's.
  case findPayment(PurchaseKey, UserID, then: @Sendable (StartedPayment?) -> BackendStep)
  /// Search whether this customer of the processor belongs to the user: the first who acquired it in any app
  /// of the merchant's account. False if it belongs to another user or to nobody.
  case findCustomer(CustomerID, UserID, then: @Sendable (_ isOwner: Bool) -> BackendStep)
  /// Make the user the owner of this customer of the processor, unless it belongs to another user: then
  /// false. The next step follows when it is on disk.
  case acquireCustomer(CustomerID, UserID, then: @Sendable (_ isOwner: Bool) -> BackendStep)
  /// Call the processor, on a worker.
  case call(BackendCall, then: @Sendable (BackendReply) -> BackendStep)
  /// Read a value that is cached for the app: the answer to an earlier call with the same target, if it is
  /// still fresh, otherwise that of this call. Only for `GET`.
  case cached(BackendCall, then: @Sendable (BackendReply) -> BackendStep)
  /// Read the same value if it is cached and still fresh; nil if it is not. Never calls the processor.
  /// - target: of the call whose answer was cached.
  case findCached(_ target: String, then: @Sendable (BackendReply?) -> BackendStep)
  /// Store what is known of a payment. The next step follows when it is on disk.
  case store(PurchaseReport, then: @Sendable () -> BackendStep)
}

/// An answer to a client of a merchant backend.
public struct BackendAnswer: Sendable, Equatable {
  public var status: Int
  public var contentType: String
  /// In addition to `Content-Type`.
  public var headers: [String: String]
  public var body: [UInt8]
  /// Why the processor could not serve the request; nil if it did. It is logged and counted.
  public var trouble: BackendTrouble?
  /// The processor's id of an error, for its support; nil if it named none. It is logged.
  public var errorID: String?
  /// Whether the body is a problem document of the relay, to which `completed` adds the request's id.
  public var lacksRequestID: Bool

  public init(
    status: Int, contentType: String = "application/json", headers: [String: String] = [:], body: [UInt8],
    trouble: BackendTrouble? = nil, errorID: String? = nil, lacksRequestID: Bool = false
  ) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
    self.trouble = trouble
    self.errorID = errorID
    self.lacksRequestID = lacksRequestID
  }
}

/// Why a processor could not serve a request; the raw value is the metric's label.
public enum BackendTrouble: String, Sendable, CaseIterable {
  /// There is no connection.
  case unreachable
  /// No answer came in time.
  case timeout
  /// The answer is not what the processor documents, such as a redirect or a page.
  case unreadable
  /// The processor refused the relay's credentials (401, 403).
  case credentials
  /// The processor failed (5xx).
  case failed
}

/// An error that the relay found before or instead of a call.
public struct BackendFault: Sendable, Equatable {
  /// The relay's name of the problem: `unauthorized`.
  public var slug: String
  public var title: String
  public var status: Int
  /// What is wrong and what to do.
  public var detail: String

  public init(slug: String, title: String, status: Int, detail: String) {
    self.slug = slug
    self.title = title
    self.status = status
    self.detail = detail
  }
}

/// A request to the processor, to `ProcessorEndpoint.base`.
public struct BackendCall: Sendable, Equatable {
  public var method: String
  /// Path and query, escaped; begins with a slash, which ends a URL's authority (RFC 3986 §3.2).
  public var target: String
  /// In addition to `ProcessorEndpoint.headers`.
  public var headers: [String: String]
  public var body: [UInt8]
  /// The time to the end of the answer.
  public var timeout: Duration

  public init(
    _ method: String, _ target: String, headers: [String: String] = [:], body: [UInt8] = [],
    timeout: Duration
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }

  /// The whole URL. A target without a slash cannot change the host either.
  public func url(at base: String) -> String { base + (target.hasPrefix("/") ? "" : "/") + target }
}

/// What became of a call. Redirects are not followed: their answers have the status 3xx.
public enum BackendReply: Sendable, Equatable {
  case answer(status: Int, contentType: String?, body: [UInt8])
  /// There was no connection: the processor did not get the request.
  case unreachable
  /// No whole answer came: the processor may have got the request.
  case noAnswer(isTimeout: Bool)
  /// There is no room for another call of this app now, and nothing was sent.
  case busy
}

/// A payment that a user started through the relay.
public struct StartedPayment: Sendable, Equatable {
  public var key: PurchaseKey
  public var facts: PaymentFacts
  public var observations: Observations
  public var startedAt: Timestamp
  /// The newest capture of it; nil if there is none.
  public var capture: StoredCapture?

  public init(
    key: PurchaseKey, facts: PaymentFacts, observations: Observations, startedAt: Timestamp,
    capture: StoredCapture? = nil
  ) {
    self.key = key
    self.facts = facts
    self.observations = observations
    self.startedAt = startedAt
    self.capture = capture
  }
}
