// A client of a relay's public listener: sends the requests of an app, of Stripe and of the page after a
// checkout. Blocks until the answer arrives; one thread.

internal import Cryptography
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

// MARK: - SandboxIDs

// Made-up ids in the forms of the simulated services. Pure.

enum SandboxIDs {
  private static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

  /// A version 4 UUID (RFC 9562 §5.4) in lower case.
  static func uuid(_ random: inout some RandomNumberGenerator) -> String {
    var bytes = bytes(16, &random)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array(Hex.encode(bytes).utf8)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return parts.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
  }

  /// Letters in lower case and digits.
  static func word(_ length: Int, _ random: inout some RandomNumberGenerator) -> String {
    let letters = (0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &random)] }
    return String(decoding: letters, as: UTF8.self)
  }

  static func bytes(_ count: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}

// MARK: - SandboxEvent

// A sample event as bytes, and its signature (https://docs.stripe.com/webhooks#verify-manually). Pure; any
// thread.

/// A sample event, ready to be sent.
public struct SandboxEvent: Sendable, Equatable {
  /// `evt_…`
  public let id: String
  /// Stripe's name of the event type.
  public let type: String
  /// The raw bytes, which the signature covers.
  public let body: [UInt8]

  /// The value of `Stripe-Signature`.
  /// - Parameters:
  ///   - secret: the endpoint's secret, including the prefix `whsec_`.
  ///   - now: Unix milliseconds; Stripe uses whole seconds.
  /// - Throws: when the cryptographic library rejects the key.
  public func signature(secret: String, now: Int64) throws -> String {
    let time = String(now / 1000)
    let key = try HMACSHA256(key: Array(secret.utf8))
    let code = key.authenticationCode(for: Array(time.utf8), [UInt8(ascii: ".")], body)
    return "t=\(time),v1=\(Hex.encode(code))"
  }
}
