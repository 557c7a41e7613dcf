// A token taken apart, nothing of it believed yet: JWS in compact form (RFC 7515 §3.1). Total: any bytes give
// a token or a refusal. Pure; any thread.

internal import JSON

/// A signed token in compact form whose signature has not been checked.
public struct SignedToken: Sendable, Equatable {
  /// Longer ones are refused before they are looked at; servers take headers of about this size.
  public static let bytesMax = 8192
  /// Of `kid`, which is compared and remembered.
  public static let keyIDBytesMax = 256

  /// What the header says; nil for an algorithm that is none of ours.
  public let algorithm: TokenAlgorithm?
  /// `kid`.
  public let keyID: String?
  /// What the signature is over: the first two parts with the dot between them, as they came.
  let signedBytes: [UInt8]
  let payload: [UInt8]
  let signature: [UInt8]

  /// Whether bytes have the form of a token: three parts, none of them empty but perhaps the last, of the
  /// characters of base64url. Says nothing of what is in them.
  public static func hasForm(_ bytes: [UInt8]) -> Bool {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty else { return false }
    return parts.allSatisfy { $0.allSatisfy(isURLCharacter) }
  }

  /// - Throws: `malformed`. Whether the algorithm is accepted is for `TokenRules` to say.
  public init(parsing bytes: [UInt8]) throws(TokenRefusal) {
    guard bytes.count <= Self.bytesMax else { throw .malformed }
    let parts = bytes.split(
      separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64.decodeURL(parts[0]), let payload = Base64.decodeURL(parts[1]),
      let signature = Base64.decodeURL(parts[2]), !payload.isEmpty
    else { throw .malformed }
    let head = try Self.head(header)
    algorithm = head.algorithm
    keyID = head.keyID
    signedBytes = Array(bytes[..<parts[1].endIndex])
    self.payload = payload
    self.signature = signature
  }

  private typealias Head = (algorithm: TokenAlgorithm?, keyID: String?)

  private static func head(_ bytes: [UInt8]) throws(TokenRefusal) -> Head {
    let head = try JSONDocument.read(bytes) { root throws(TokenRefusal) -> Head in
      // `crit` names what a reader must understand, and this one understands none of it (RFC 7515 §4.1.11).
      guard root.isStrictObject, root.member("crit") == nil, let name = root.member("alg")?.string else {
        throw .malformed
      }
      guard let keyID = root.member("kid") else { return (TokenAlgorithm(rawValue: name), nil) }
      guard let text = keyID.string, text.utf8.count <= keyIDBytesMax else { throw .malformed }
      return (TokenAlgorithm(rawValue: name), text)
    }
    guard let head else { throw .malformed }
    return head
  }

  private static func isURLCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
