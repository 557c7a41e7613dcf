// A parsed, unverified token: JWS in compact form (RFC 7515 §3.1). Total: any bytes give a token or a
// refusal. Pure; thread-safe.

internal import Formats

/// A signed token in compact form whose signature has not been verified.
public struct SignedToken: Sendable, Equatable {
  /// Longer tokens are refused before they are parsed; HTTP servers accept headers of about this size.
  public static let bytesMax = 8192
  /// The limit for `kid`, which is compared and stored.
  public static let keyIDBytesMax = 256

  /// From the header; nil for an unsupported algorithm.
  public let algorithm: TokenAlgorithm?
  /// `kid`.
  public let keyID: String?
  /// The signed bytes: the first two parts with the dot between them, as received.
  let signedBytes: [UInt8]
  let payload: [UInt8]
  let signature: [UInt8]

  /// Whether bytes have the form of a token: three parts of base64url characters, of which only the last may
  /// be empty. Does not decode the parts.
  public static func hasForm(_ bytes: [UInt8]) -> Bool {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty else { return false }
    return parts.allSatisfy { $0.allSatisfy(Base64.isURLCharacter) }
  }

  /// - Throws: `malformed`. `TokenRules` decides whether the algorithm is accepted.
  public init(parsing bytes: [UInt8]) throws(TokenRefusal) {
    guard bytes.count <= Self.bytesMax else { throw .malformed }
    let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    let decoded = parts.map { Base64.decode($0.span, .url) }
    guard parts.count == 3, let header = decoded[0], let payload = decoded[1], let signature = decoded[2],
      !payload.isEmpty
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
      // `crit` lists extensions that a reader must support; this one supports none (RFC 7515 §4.1.11).
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
}

// MARK: - TokenAlgorithm

// The accepted signature algorithms, each bound to one type of key. Pure; thread-safe.

/// A signature algorithm of RFC 7518 §3.1. `none` is not a case, so a token cannot choose it.
public enum TokenAlgorithm: String, Sendable, Equatable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256.
  case rs256 = "RS256"
  /// ECDSA with P-256 and SHA-256.
  case es256 = "ES256"
  /// HMAC with SHA-256.
  case hs256 = "HS256"
}
