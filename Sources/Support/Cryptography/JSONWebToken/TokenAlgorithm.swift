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
