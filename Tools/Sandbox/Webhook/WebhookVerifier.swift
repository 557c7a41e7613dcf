// Verifies webhooks as their receiver does (Standard Webhooks,
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). It shares no
// code with the relay's signing, so an error in one of them shows. Pure; any thread.

internal import Cryptography
internal import Formats

/// Whether a webhook is genuine.
public enum WebhookVerdict: Sendable, Equatable {
  /// - secret: the position of the secret that fits, from 0.
  case verified(secret: Int)
  /// There are no secrets to verify with.
  case unverified
  /// A header is missing.
  case missing(header: String)
  /// A header cannot be read.
  case malformed(header: String)
  /// The time of the signature is too far from now; negative in the future.
  case stale(age: Duration)
  /// No signature fits.
  case mismatch

  public var isAcceptable: Bool {
    switch self {
    case .verified, .unverified: true
    case .missing, .malformed, .stale, .mismatch: false
    }
  }

  /// Whether a signature fits.
  public var isVerified: Bool {
    if case .verified = self { true } else { false }
  }

  /// For people: `verified`, or why not.
  public var text: String {
    switch self {
    case .verified(let secret): secret == 0 ? "verified" : "verified with secret \(secret + 1)"
    case .unverified: "not verified: no secret is given"
    case .missing(let header): "refused: \(header) is missing"
    case .malformed(let header): "refused: \(header) is malformed"
    case .stale(let age): "refused: signed \(age.milliseconds / 1000) s ago"
    case .mismatch: "refused: no signature fits"
    }
  }
}

/// A receiver's secrets.
public struct WebhookVerifier: Sendable {
  /// A secret that is not `whsec_` and base64.
  public struct BadSecret: Error {
    /// From 0.
    public var position: Int
  }

  /// The headers of a webhook.
  public struct Headers: Sendable, Equatable {
    public var id: String?
    public var timestamp: String?
    public var signature: String?

    public init(id: String?, timestamp: String?, signature: String?) {
      self.id = id
      self.timestamp = timestamp
      self.signature = signature
    }
  }

  /// The difference between the clocks that is allowed, in both directions.
  public static let tolerance: Duration = .minutes(5)
  private static let prefix = "whsec_"

  private let keys: [HMACSHA256]

  /// - Parameter secrets: each `whsec_` and base64; empty accepts any webhook as unverified.
  public init(secrets: [String]) throws(BadSecret) {
    var keys: [HMACSHA256] = []
    for (position, secret) in secrets.enumerated() {
      guard secret.hasPrefix(Self.prefix),
        let key = Base64.decode(secret.dropFirst(Self.prefix.count).utf8.span, .standard), !key.isEmpty,
        let hash = try? HMACSHA256(key: key)
      else { throw BadSecret(position: position) }
      keys.append(hash)
    }
    self.keys = keys
  }

  /// - Parameters:
  ///   - body: the raw bytes.
  ///   - now: Unix milliseconds.
  public func verify(_ headers: Headers, body: [UInt8], now: Int64) -> WebhookVerdict {
    guard let id = headers.id, !id.isEmpty else { return .missing(header: "webhook-id") }
    guard let time = headers.timestamp, !time.isEmpty else { return .missing(header: "webhook-timestamp") }
    guard let list = headers.signature, !list.isEmpty else { return .missing(header: "webhook-signature") }
    // A point separates the signed parts, so an id with a point could be read in two ways.
    guard !id.utf8.contains(UInt8(ascii: ".")) else { return .malformed(header: "webhook-id") }
    guard let seconds = Int64(time), (0...253_402_300_799).contains(seconds), String(seconds) == time else {
      return .malformed(header: "webhook-timestamp")
    }
    let signatures = list.split(separator: " ").compactMap(Self.signature)
    guard !signatures.isEmpty else { return .malformed(header: "webhook-signature") }
    let age = Duration.milliseconds(now - seconds * 1000)
    guard abs(now - seconds * 1000) <= Self.tolerance.milliseconds else { return .stale(age: age) }
    if keys.isEmpty { return .unverified }
    for (position, key) in keys.enumerated() {
      let point = [UInt8(ascii: ".")]
      let code = key.authenticationCode(for: Array(id.utf8), point, Array(time.utf8), point, body)
      if signatures.contains(where: { constantTimeEqual($0, code) }) { return .verified(secret: position) }
    }
    return .mismatch
  }

  /// The bytes of a signature of version 1; nil for another version, which a receiver ignores.
  private static func signature(_ text: Substring) -> [UInt8]? {
    guard text.hasPrefix("v1,") else { return nil }
    return Base64.decode(text.dropFirst(3).utf8.span, .standard)
  }
}
