// The keys of an issuer: a JWK Set (RFC 7517 §5), a single JWK (§4), or public keys in PEM. Total: any bytes
// give a set or a fault, and no fault contains them (R7). Pure; thread-safe.

/// Why bytes are not a set of keys.
public enum KeySetFault: Sendable, Error, Equatable {
  /// Neither a JWK Set, nor a JWK, nor PEM.
  case malformed
  case tooLong
  case tooMany
  /// A PEM block that is not `PUBLIC KEY`.
  case otherBlock

  /// The predicate of a sentence whose subject is the set.
  public var words: String {
    switch self {
    case .malformed:
      "is neither a JWK Set ({\"keys\": [ … ]}), nor a JWK, nor PEM, or has a name twice in one object"
    case .tooLong: "is longer than \(KeySet.bytesMax >> 20) MiB"
    case .tooMany: "has more than \(KeySet.keysMax) keys"
    case .otherBlock: "has a PEM block that is not a PUBLIC KEY; convert it with openssl pkey -pubout"
    }
  }
}

/// The keys that an issuer signs with.
public struct KeySet: Sendable {
  public static let bytesMax = 1 << 20
  public static let keysMax = 100
  /// The maximum number of keys to try for one token, which limits its cost.
  static let candidatesMax = 8

  public let keys: [VerificationKey]
  /// Unusable keys, by their index in the set. A reader ignores them (RFC 7517 §5).
  public let flaws: [(index: Int, flaw: KeyFlaw)]

  /// Parses a set in any of the formats.
  public init(reading bytes: [UInt8]) throws(KeySetFault) {
    guard bytes.count <= Self.bytesMax else { throw .tooLong }
    let inPEM = try PEM.keys(in: bytes)
    let results = if let inPEM { inPEM } else { try JWK.keys(in: bytes) }
    guard results.count <= Self.keysMax else { throw .tooMany }
    var keys: [VerificationKey] = []
    var flaws: [(index: Int, flaw: KeyFlaw)] = []
    for (index, result) in results.enumerated() {
      switch result {
      case .success(let key): keys.append(key)
      case .failure(let flaw): flaws.append((index, flaw))
      }
    }
    self.keys = keys
    self.flaws = flaws
  }

  private init(_ keys: [VerificationKey], _ flaws: [(index: Int, flaw: KeyFlaw)]) {
    self.keys = keys
    self.flaws = flaws
  }

  /// The set without symmetric keys, with which a reader of the set could sign: a public key set is not
  /// secret.
  public var withoutSecrets: KeySet { KeySet(keys.filter { !$0.isSecret }, flaws) }

  /// Whether it has a key with the token's `kid`. Keys without a `kid` do not count.
  public func hasKey(of token: SignedToken) -> Bool {
    guard let keyID = token.keyID else { return false }
    return keys.contains { Self.isSame($0.keyID, keyID) }
  }

  /// The keys that may have signed a token: those of its algorithm with its `kid` or without a `kid`.
  func candidates(_ token: SignedToken, _ algorithm: TokenAlgorithm) -> [VerificationKey] {
    let fitting = keys.filter { key in
      guard key.algorithm == algorithm else { return false }
      guard let keyID = token.keyID, let name = key.keyID else { return true }
      return Self.isSame(name, keyID)
    }
    // Keys with the `kid` come before keys without one.
    return Array(
      (fitting.filter { $0.keyID != nil } + fitting.filter { $0.keyID == nil }).prefix(Self.candidatesMax))
  }

  /// Compares bytes.
  private static func isSame(_ name: String?, _ keyID: String) -> Bool {
    name.map { $0.utf8.elementsEqual(keyID.utf8) } ?? false
  }
}
