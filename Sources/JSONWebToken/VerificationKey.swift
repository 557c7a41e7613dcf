// One key that tokens are checked with. Its type decides the algorithm; nothing in a token can change that
// (RFC 8725 §3.1). Any thread.

internal import Cryptography

/// A key and the name that tokens know it by.
public struct VerificationKey: Sendable {
  private enum Material: Sendable {
    case publicKey(PublicKey)
    case secret(HMACSHA256)
  }

  /// `kid`; a key without one may be meant by any token.
  public let keyID: String?
  /// The only algorithm that this key is for.
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

  /// Whether whoever has it could also sign.
  public var isSecret: Bool {
    if case .secret = material { true } else { false }
  }

  /// Whether the token's signature is of this key. The token's own word on its algorithm does not matter
  /// here.
  func verifies(_ token: SignedToken) -> Bool {
    switch material {
    case .publicKey(let key): key.verifies(token.signature, of: token.signedBytes)
    case .secret(let key):
      constantTimeEqual(key.authenticationCode(for: token.signedBytes), token.signature)
    }
  }
}

/// Why a key of a set is of no use.
public enum KeyFlaw: Sendable, Error, Equatable {
  /// A member is missing, or has not the form that it must have.
  case malformed
  /// A symmetric key of fewer than 32 bytes.
  case shortSecret
  /// An RSA key of fewer than 2048 bits, or of more than 8192.
  case wrongSize
  /// Another curve than P-256, or another type of key.
  case unsupported
  /// Not for signatures, or for another algorithm, as it says itself.
  case otherUse

  init(_ fault: PublicKeyFault) {
    self =
      switch fault {
      case .malformed, .outOfMemory: .malformed
      case .unsupported: .unsupported
      case .wrongSize: .wrongSize
      }
  }

  /// The end of a sentence that begins with the key.
  public var words: String {
    switch self {
    case .malformed: "is no key: a member is missing, or its text is not what it must be"
    case .shortSecret: "is a secret of fewer than 32 bytes"
    case .wrongSize: "is an RSA key of fewer than 2048 bits, or more than 8192"
    case .unsupported: "is neither RSA, nor EC on P-256, nor a secret (oct)"
    case .otherUse: "is not meant for checking RS256, ES256 or HS256 signatures"
    }
  }
}
