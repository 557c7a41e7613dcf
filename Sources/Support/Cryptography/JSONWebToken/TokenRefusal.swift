// Why a token is refused: a closed set, as a label for metrics and as a sentence for the client. Contains
// nothing of the token (R7). Pure; thread-safe.

/// Why a token was refused. The raw values are the labels of metrics and part of the API.
public enum TokenRefusal: String, Sendable, Error, CaseIterable {
  /// It is not a signed token in compact form, or a part of it is invalid.
  case malformed
  /// Its algorithm is not allowed, or is not the key's; `none` is such an algorithm.
  case algorithm
  /// No key of the issuer has its `kid`, or matches it.
  case unknownKey = "unknown_key"
  /// The signature does not verify with the key, or the token was altered.
  case signature
  /// It has no expiry time.
  case noExpiry = "no_expiry"
  case expired
  case notYetValid = "not_yet_valid"
  case issuer
  case audience
  /// It names no user, or the user's id is invalid.
  case user

  /// A sentence in ASCII without quotation marks or backslashes, so that it can be used in a header (RFC 6750
  /// §3).
  public var words: String {
    switch self {
    case .malformed: "The token is not a well-formed signed JSON Web Token."
    case .algorithm: "The token is signed by an algorithm that is not accepted for its key."
    case .unknownKey: "The token is signed with a key that is not known."
    case .signature: "The signature of the token is invalid."
    case .noExpiry: "The token has no exp, so it would never expire."
    case .expired: "The token has expired."
    case .notYetValid: "The token is not valid yet."
    case .issuer: "The token is from another issuer."
    case .audience: "The token is meant for another audience."
    case .user: "The token names no user, or one whose id has not 1 to 255 bytes without control characters."
    }
  }
}
