// A sample event as bytes, and its signature (https://docs.stripe.com/webhooks#verify-manually). Pure; any
// thread.

internal import Cryptography

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
