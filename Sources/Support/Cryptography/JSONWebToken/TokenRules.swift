// Verifies a token and returns its user: checks the algorithm, the signature and the claims (RFC 7519 §4.1,
// §7.2). Total: any token gives a user or a refusal. Pure; thread-safe.

internal import Formats

/// The conditions for accepting a token.
public struct TokenRules: Sendable, Equatable {
  /// The expected `iss`, compared by bytes.
  public var issuer: String
  /// At least one value of `aud` must be one of these.
  public var audiences: [String]
  public var algorithms: [TokenAlgorithm]
  /// The claim that names the user.
  public var userClaim: String
  /// The tolerated clock skew.
  public var leeway: Duration

  /// The defaults: all algorithms, the claim `sub`, a leeway of one minute.
  public init(
    issuer: String, audiences: [String], algorithms: [TokenAlgorithm] = TokenAlgorithm.allCases,
    userClaim: String = "sub", leeway: Duration = .seconds(60)
  ) {
    self.issuer = issuer
    self.audiences = audiences
    self.algorithms = algorithms
    self.userClaim = userClaim
    self.leeway = leeway
  }

  /// The user that a token names. Claims are read only after the signature is verified.
  /// - Parameter now: the time since 1970, by the wall clock.
  public func user(of token: SignedToken, keys: KeySet, now: Duration) throws(TokenRefusal) -> String {
    try identity(of: token, keys: keys, now: now).user
  }

  /// The user that a token names, and the user's e-mail address. Claims are read only after the signature is
  /// verified.
  /// - Parameter now: the time since 1970, by the wall clock.
  public func identity(
    of token: SignedToken, keys: KeySet, now: Duration
  ) throws(TokenRefusal) -> TokenIdentity {
    guard let algorithm = token.algorithm, algorithms.contains(algorithm) else { throw .algorithm }
    let candidates = keys.candidates(token, algorithm)
    guard candidates.contains(where: { $0.verifies(token) }) else {
      guard candidates.isEmpty else { throw .signature }
      // A key with that `kid` exists for another algorithm, or no such key exists.
      throw keys.hasKey(of: token) ? .algorithm : .unknownKey
    }
    let identity = try JSONDocument.read(token.payload) { root throws(TokenRefusal) -> TokenIdentity in
      guard root.isStrictObject else { throw .malformed }
      try checkTimes(root, now)
      guard root.member("iss").flatMap(\.string).map({ isSame($0, issuer) }) == true else { throw .issuer }
      guard isMeantForUs(root.member("aud")) else { throw .audience }
      guard let user = UntrustedText.identifier(root.member(named: userClaim)?.string) else { throw .user }
      return TokenIdentity(user: user, email: Self.email(root))
    }
    guard let identity else { throw .malformed }
    return identity
  }

  /// The address that the issuer has verified (OpenID Connect Core §5.1); nil without one. A token with
  /// another value is valid all the same.
  private static func email(_ claims: JSONNode) -> String? {
    guard claims.member("email_verified")?.bool == true,
      let email = UntrustedText.identifier(claims.member("email")?.string), !email.contains(" ")
    else { return nil }
    let parts = email.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts.contains(where: \.isEmpty) ? email : nil
  }

  private func checkTimes(_ claims: JSONNode, _ now: Duration) throws(TokenRefusal) {
    guard let expiry = try Self.time("exp", of: claims) else { throw .noExpiry }
    // "on or after which it must not be accepted" (RFC 7519 §4.1.4)
    guard now - leeway < expiry else { throw .expired }
    if let start = try Self.time("nbf", of: claims), now + leeway < start { throw .notYetValid }
    if let issued = try Self.time("iat", of: claims), now + leeway < issued { throw .notYetValid }
  }

  /// The end of the year 9999, in Unix seconds.
  private static let secondsMax = 253_402_300_799.0

  /// A NumericDate, since 1970 (RFC 7519 §2: a number, possibly with a fraction); nil when absent.
  private static func time(_ name: StaticString, of claims: JSONNode) throws(TokenRefusal) -> Duration? {
    guard let member = claims.member(name) else { return nil }
    guard let seconds = member.double, (0...secondsMax).contains(seconds),
      let milliseconds = Int64(exactly: (seconds * 1000).rounded(.down))
    else { throw .malformed }
    return .milliseconds(milliseconds)
  }

  /// A string, or an array of strings (RFC 7519 §4.1.3).
  private func isMeantForUs(_ audience: JSONNode?) -> Bool {
    guard let audience else { return false }
    if let name = audience.string { return audiences.contains { isSame($0, name) } }
    var isFound = false
    audience.forEachElement { element in
      if let name = element.string, audiences.contains(where: { isSame($0, name) }) { isFound = true }
    }
    return isFound
  }

  /// Compares bytes (RFC 7519 §2, StringOrURI).
  private func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}

// MARK: - TokenIdentity

/// What a valid token says about its user.
public struct TokenIdentity: Sendable, Equatable {
  public var user: String
  /// The user's e-mail address; nil unless its issuer has verified it. Never stored or logged (R7).
  public var email: String?
}

// MARK: - TokenRefusal

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
