// A key that verifies tokens. Its type determines the algorithm, which a token cannot change (RFC 8725 §3.1).
// Thread-safe.

/// A key and its `kid`.
public struct VerificationKey: Sendable {
  private enum Material: Sendable {
    case publicKey(PublicKey)
    case secret(HMACSHA256)
  }

  /// `kid`; a key without one is tried for any token.
  public let keyID: String?
  /// The only algorithm of this key.
  public let algorithm: TokenAlgorithm
  private let material: Material

  init(_ key: PublicKey, keyID: String?) {
    self.keyID = keyID
    algorithm =
      switch key.kind {
      case .rsa: .rs256
      case .p256: .es256
      }
    material = .publicKey(key)
  }

  /// RFC 7518 §3.2: a key of the same size as the hash output or larger must be used.
  static let secretBytesMin = 32

  init(secret: [UInt8], keyID: String?) throws(KeyFlaw) {
    guard secret.count >= Self.secretBytesMin else { throw .shortSecret }
    do throws(CryptographyError) {
      material = .secret(try HMACSHA256(key: secret))
    } catch {
      throw .malformed
    }
    self.keyID = keyID
    algorithm = .hs256
  }

  /// Whether the key is symmetric, so that its holder can also sign.
  public var isSecret: Bool {
    if case .secret = material { true } else { false }
  }

  /// Whether the token's signature verifies with this key. Ignores the algorithm in the token's header.
  func verifies(_ token: SignedToken) -> Bool {
    switch material {
    case .publicKey(let key): key.verifies(token.signature, of: token.signedBytes)
    case .secret(let key):
      constantTimeEqual(key.authenticationCode(for: token.signedBytes), token.signature)
    }
  }
}

/// Why a key of a set cannot be used.
public enum KeyFlaw: Sendable, Error, Equatable {
  /// A member is missing or malformed.
  case malformed
  /// A symmetric key of fewer than 32 bytes.
  case shortSecret
  /// An RSA key of fewer than 2048 bits, or of more than 8192.
  case wrongSize
  /// A curve other than P-256, or another type of key.
  case unsupported
  /// Its members restrict it to another use or another algorithm.
  case otherUse

  init(_ fault: PublicKeyFault) {
    self =
      switch fault {
      case .malformed, .outOfMemory: .malformed
      case .unsupported: .unsupported
      case .wrongSize: .wrongSize
      }
  }

  /// The predicate of a sentence whose subject is the key.
  public var words: String {
    switch self {
    case .malformed: "is not a key: a member is missing, or its text is invalid"
    case .shortSecret: "is a secret of fewer than 32 bytes"
    case .wrongSize: "is an RSA key of fewer than 2048 bits, or more than 8192"
    case .unsupported: "is neither RSA, nor EC on P-256, nor a secret (oct)"
    case .otherUse: "is not meant for checking RS256, ES256 or HS256 signatures"
    }
  }
}
