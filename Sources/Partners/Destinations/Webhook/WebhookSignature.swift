// The signature of a webhook (Standard Webhooks specification, version 1.0.0,
// https://github.com/standard-webhooks/standard-webhooks). Pure; any thread.

public import Cryptography
internal import Formats

/// A key that signs webhooks: `whsec_` and the key's bytes in base64.
public struct WebhookKey: Sendable, Equatable {
  static let prefix = "whsec_"
  /// The specification allows from 192 to 512 bits.
  public static let sizes = 24...64

  let bytes: [UInt8]

  /// - Returns: nil if the text does not have the form, or the key has another size.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.prefix),
      let bytes = Base64.decode(Array(text.utf8.dropFirst(Self.prefix.utf8.count)).span, .standard),
      Self.sizes.contains(bytes.count)
    else { return nil }
    self.bytes = bytes
  }
}

/// Signs webhooks with one key, or with several while one is being replaced.
public struct WebhookSigner: Sendable {
  private let keys: [HMACSHA256]

  /// - Throws: an error if the system has no HMAC.
  public init(_ keys: [WebhookKey]) throws(CryptographyError) {
    var codes: [HMACSHA256] = []
    for key in keys { codes.append(try HMACSHA256(key: key.bytes)) }
    self.keys = codes
  }

  /// The value of `webhook-signature`: a signature of `id.timestamp.body` for each key.
  public func signature(id: String, timestamp: String, body: [UInt8]) -> String {
    let head = Array("\(id).\(timestamp).".utf8)
    return keys.map { "v1,\(Base64.encode($0.authenticationCode(for: head, body)))" }.joined(separator: " ")
  }
}
