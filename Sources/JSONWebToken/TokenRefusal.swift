// Why a token does not count: a closed set, in a word for metrics and in a sentence for whoever sent it. It
// repeats nothing of the token (R7). Pure; any thread.

/// Why a token was refused. The raw values are the labels of metrics and part of the API.
public enum TokenRefusal: String, Sendable, Error, CaseIterable {
  /// It is no signed token in compact form, or says what a token cannot say.
  case malformed
  /// It is signed by an algorithm that is not allowed, or that is not the key's; `none` is one of those.
  case algorithm
  /// No key of the issuer has its `kid`, or fits it.
  case unknownKey = "unknown_key"
  /// The signature is not of that key, or the token was altered.
  case signature
  /// It does not say until when it holds.
  case noExpiry = "no_expiry"
  case expired
  case notYetValid = "not_yet_valid"
  case issuer
  case audience
  /// It names no user, or one whose id cannot be one.
  case user

  /// A sentence, in ASCII and without quotation marks or backslashes, so that it may stand in a header (RFC
  /// 6750 §3).
  public var words: String {
    switch self {
    case .malformed: "The token is not a well-formed signed JSON Web Token."
    case .algorithm: "The token is signed by an algorithm that is not accepted for its key."
    case .unknownKey: "The token is signed with a key that is not known."
    case .signature: "The signature of the token does not hold."
    case .noExpiry: "The token has no exp, so it would never expire."
    case .expired: "The token has expired."
    case .notYetValid: "The token is not valid yet."
    case .issuer: "The token is from another issuer."
    case .audience: "The token is meant for another audience."
    case .user: "The token names no user, or one whose id has not 1 to 255 bytes without control characters."
    }
  }
}
