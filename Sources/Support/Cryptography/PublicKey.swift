// Verifies RSA and ECDSA signatures with OpenSSL's libcrypto. Thread-safe: keys are only read, and each
// verification has its own context. Nothing here signs.

internal import CCrypto

/// Why a public key cannot be used. Contains nothing of the key.
public enum PublicKeyFault: Error, Sendable, Equatable {
  /// It is not a valid key: for example, a point that is not on the curve, or an even exponent.
  case malformed
  /// Neither RSA nor a key on the curve P-256.
  case unsupported
  /// An RSA key that is too short to be secure, or so long that verification takes too long.
  case wrongSize
  /// libcrypto could not allocate memory.
  case outOfMemory
}

/// A public key for one algorithm. The key's type determines the algorithm, so a message cannot choose
/// another (RFC 8725 §3.1).
///
/// Owns an `EVP_PKEY`.
@safe public final class PublicKey: @unchecked Sendable {
  /// The type of a key, which determines the signature algorithm.
  public enum Kind: Sendable, Equatable {
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2).
    case rsa
    /// ECDSA on P-256 with SHA-256 (FIPS 186-4).
    case p256
  }

  /// NIST SP 800-131A; RFC 7518 §3.3.
  static let rsaBitsMin: Int32 = 2048
  static let rsaBitsMax: Int32 = 8192
  /// The size of a coordinate on P-256 in bytes (RFC 7518 §6.2.1.2), and of half a signature (§3.4).
  static let coordinateSize = 32

  public let kind: Kind
  private let key: Key

  /// - Parameters:
  ///   - rsaModulus: big-endian.
  ///   - exponent: big-endian; odd, from 3 to 2^64.
  public convenience init(rsaModulus: [UInt8], exponent: [UInt8]) throws(PublicKeyFault) {
    try Self.checkExponent(exponent)
    guard rsaModulus.drop(while: { $0 == 0 }).count <= Int(Self.rsaBitsMax) / 8 else { throw .wrongSize }
    let modulusNumber = try BigNumber(rsaModulus)
    let exponentNumber = try BigNumber(exponent)
    let key = try unsafe Self.make("RSA") { builder in
      unsafe ccrypto_push_rsa(builder, modulusNumber.pointer, exponentNumber.pointer) == 1
    }
    try unsafe self.init(Key(owning: key))
  }

  /// - Parameters:
  ///   - p256X: 32 bytes, big-endian.
  ///   - y: 32 bytes, big-endian.
  public convenience init(p256X x: [UInt8], y: [UInt8]) throws(PublicKeyFault) {
    guard x.count == Self.coordinateSize, y.count == Self.coordinateSize else { throw .malformed }
    // SEC 1 §2.3.3: uncompressed.
    let point = [4] + x + y
    let key = try unsafe point.withUnsafeBufferPointer { (bytes) throws(PublicKeyFault) in
      try unsafe Self.make("EC") { builder in
        unsafe ccrypto_push_p256(builder, bytes.baseAddress, bytes.count) == 1
      }
    }
    try unsafe self.init(Key(owning: key))
  }

  /// - Parameter subjectPublicKeyInfo: DER (RFC 5280 §4.1.2.7), the content of a PEM block `PUBLIC KEY`,
  ///   without trailing bytes.
  public convenience init(subjectPublicKeyInfo: [UInt8]) throws(PublicKeyFault) {
    let (read, isWhole) = unsafe subjectPublicKeyInfo.withUnsafeBufferPointer { bytes in
      var position = bytes.baseAddress
      let key = unsafe d2i_PUBKEY(nil, &position, bytes.count)
      return unsafe (key, position == bytes.baseAddress.map { unsafe $0 + bytes.count })
    }
    guard let pointer = unsafe read else {
      ERR_clear_error()
      throw .malformed
    }
    let key = unsafe Key(owning: pointer)
    guard isWhole else { throw .malformed }
    try self.init(key)
  }

  private init(_ owner: consuming Key) throws(PublicKeyFault) {
    let key = unsafe owner.pointer
    self.key = owner
    if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
      kind = .rsa
      let bits = unsafe EVP_PKEY_get_bits(key)
      guard (Self.rsaBitsMin...Self.rsaBitsMax).contains(bits) else {
        throw .wrongSize
      }
      try unsafe Self.checkExponent(Self.exponent(of: key))
    } else {
      kind = .p256
      guard unsafe EVP_PKEY_is_a(key, "EC") == 1, unsafe Self.isOnP256(key) else { throw .unsupported }
      try unsafe Self.checkPoint(key)
    }
  }

  /// Whether `signature` is valid for `message` under this key.
  /// - Parameter signature: for RSA as long as the modulus; for P-256 the 64 bytes of r and s (RFC 7518
  ///   §3.4).
  public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    let bytes: [UInt8]
    switch kind {
    case .rsa: bytes = signature
    case .p256:
      guard let encoded = Self.derSignature(signature) else { return false }
      bytes = encoded
    }
    guard let context = unsafe EVP_MD_CTX_new() else { fatalError("libcrypto is out of memory") }
    // Clears the errors of an invalid signature from this thread's error queue.
    defer { ERR_clear_error() }
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1
      && EVP_DigestVerify(context, bytes, bytes.count, message, message.count) == 1
  }

  /// Encodes r and s for libcrypto: a SEQUENCE of two INTEGERs (RFC 3279 §2.2.3). At most 70 bytes, so each
  /// length fits in one byte.
  static func derSignature(_ signature: [UInt8]) -> [UInt8]? {
    guard signature.count == 2 * coordinateSize else { return nil }
    var content: [UInt8] = []
    for half in [signature.prefix(coordinateSize), signature.suffix(coordinateSize)] {
      var number = Array(half.drop { $0 == 0 })
      // Positive and in the shortest form (X.690 §8.3).
      if number.first.map({ $0 >= 0x80 }) ?? true { number.insert(0, at: 0) }
      content += [0x02, UInt8(truncatingIfNeeded: number.count)] + number
    }
    return [0x30, UInt8(truncatingIfNeeded: content.count)] + content
  }
}

extension PublicKey {
  /// With an exponent of 1, every message would be its own signature.
  private static func checkExponent(_ bytes: [UInt8]) throws(PublicKeyFault) {
    let digits = bytes.drop { $0 == 0 }
    guard let last = digits.last, last & 1 == 1, digits.count > 1 || last >= 3, digits.count <= 8 else {
      throw .malformed
    }
  }

  private static func exponent(of key: OpaquePointer) -> [UInt8] {
    var number: OpaquePointer?
    guard unsafe EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &number) == 1 else {
      ERR_clear_error()
      return []
    }
    defer { unsafe BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: Int(rsaBitsMax) / 8 + 1)
    let written = unsafe BN_bn2binpad(number, &bytes, Int32(bytes.count))
    return written == bytes.count ? bytes : []
  }

  private static func isOnP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    let isNamed = unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
    ERR_clear_error()
    let text = name.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
    // OpenSSL's name or NIST's.
    return isNamed && (text.elementsEqual("prime256v1".utf8) || text.elementsEqual("P-256".utf8))
  }

  /// Checks that the point is on the curve (SP 800-56A §5.6.2.3.3).
  private static func checkPoint(_ key: OpaquePointer) throws(PublicKeyFault) {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { throw .outOfMemory }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_public_check(context) == 1 else {
      ERR_clear_error()
      throw .malformed
    }
  }

  /// Makes a key with EVP_PKEY_fromdata(3).
  /// - Parameter fill: adds the parts; the memory that it passes must live until this returns.
  private static func make(
    _ type: String, _ fill: (OpaquePointer) -> Bool
  ) throws(PublicKeyFault) -> OpaquePointer {
    guard let builder = unsafe OSSL_PARAM_BLD_new() else { throw .outOfMemory }
    defer { unsafe OSSL_PARAM_BLD_free(builder) }
    guard unsafe fill(builder), let parameters = unsafe OSSL_PARAM_BLD_to_param(builder) else {
      ERR_clear_error()
      throw .outOfMemory
    }
    defer { unsafe OSSL_PARAM_free(parameters) }
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else {
      ERR_clear_error()
      throw .unsupported
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_fromdata_init(context) == 1,
      unsafe EVP_PKEY_fromdata(context, &key, ccrypto_public_key, parameters) == 1,
      let key = unsafe key
    else {
      ERR_clear_error()
      throw .malformed
    }
    return unsafe key
  }

  /// Owns an `EVP_PKEY`.
  @safe private struct Key: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe EVP_PKEY_free(pointer) }
  }

  /// Owns a `BIGNUM`.
  @safe private struct BigNumber: ~Copyable {
    let pointer: OpaquePointer

    init(_ bytes: [UInt8]) throws(PublicKeyFault) {
      guard let pointer = unsafe BN_bin2bn(bytes, Int32(clamping: bytes.count), nil) else {
        throw .outOfMemory
      }
      unsafe self.pointer = pointer
    }

    deinit { unsafe BN_free(pointer) }
  }
}
