// What is derived from the merchant's token, so that nothing must be stored for it. Thread-safe.

internal import Cryptography
internal import Domain
internal import Formats

/// Derived secrets. Each has its own label, so that none says anything about another one.
struct SwedbankSecrets: Sendable {
  private let key: HMACSHA256
  /// The last segment of the path for callbacks, which only Swedbank Pay knows: callbacks are not signed.
  let pathToken: String

  /// - Throws: when the cryptographic library refuses the key, which happens only when it is out of memory.
  init(merchantToken: String, app: AppSlug) throws {
    key = try HMACSHA256(key: Array(merchantToken.utf8))
    pathToken = Self.text(key, "receipt relay: Swedbank Pay callback", app.text)
  }

  func isPathToken(_ text: String?) -> Bool {
    guard let text else { return false }
    return constantTimeEqual(Array(text.utf8), Array(pathToken.utf8))
  }

  /// Names a payer's token in a URL without its value.
  func name(ofToken token: String) -> String { Self.text(key, "receipt relay: payment token", token) }

  /// The reference of an order's capture: always the same one, so that Swedbank Pay carries out at most one
  /// (https://developer.swedbankpay.com/checkout-v3/technical-reference/payee-reference).
  /// - Returns: 30 characters of `[0-9a-f]`.
  func captureReference(of order: SwedbankOrderPath) -> String {
    let code = key.authenticationCode(for: Array("receipt relay: capture\n".utf8), Array(order.text.utf8))
    return String(Hex.encode(code).prefix(30))
  }

  private static func text(_ key: HMACSHA256, _ label: String, _ message: String) -> String {
    Base64.encodeURL(key.authenticationCode(for: Array("\(label)\n".utf8), Array(message.utf8)))
  }
}
