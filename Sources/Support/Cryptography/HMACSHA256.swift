// HMAC-SHA256 by OpenSSL's libcrypto. Thread-safe: each message has its own context. Errors must never
// contain a key or a message.

internal import CCrypto
internal import Platform

/// An error of libcrypto, without keys or messages.
public enum CryptographyError: Error, Sendable, Equatable {
  /// The providers loaded on this machine do not offer the algorithm (openssl.cnf, config(5)).
  case algorithmUnavailable
  /// The provider rejects the key; a FIPS provider rejects a very short one.
  case keyRefused
  /// libcrypto could not allocate memory.
  case outOfMemory
}

/// The 32 bytes of an HMAC-SHA256.
public struct AuthenticationCode: Sendable {
  /// The size of a code in bytes.
  public static let size = 32

  fileprivate var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  fileprivate init() {}

  /// - Parameter digits: 64 lower-case hexadecimal digits; the result is nil for anything else.
  public init?(lowercaseHex digits: Span<UInt8>) {
    let isComplete = unsafe withUnsafeMutableBytes(of: &words) { bytes in
      unsafe Hex.decodeLowercase(digits, into: bytes)
    }
    guard isComplete else { return nil }
  }

  /// Whether both codes are equal. The time does not depend on the position of a difference
  /// (CRYPTO_memcmp(3)).
  public func isEqual(to other: AuthenticationCode) -> Bool {
    unsafe withUnsafeBytes(of: words) { ours in
      unsafe withUnsafeBytes(of: other.words) { theirs in
        unsafe CRYPTO_memcmp(ours.baseAddress, theirs.baseAddress, Self.size) == 0
      }
    }
  }

  /// The code's bytes.
  public var bytes: [UInt8] { unsafe withUnsafeBytes(of: words) { unsafe Array($0) } }
}

/// HMAC-SHA256 (RFC 2104, FIPS 198-1) with one prepared key.
///
/// Owns keyed `EVP_MAC_CTX`s: one that is never updated, and reusable copies of it, at most one for each
/// concurrent caller. Reinitializing a context with its key (EVP_MAC_init(3) without a key) takes 1.5 µs for
/// 16 bytes with OpenSSL 3.0. Copying a context takes 2.6 µs, and the one-shot `HMAC()` takes longer.
@safe public final class HMACSHA256: @unchecked Sendable {
  private let keyed: OpaquePointer
  private let spare = Monitor<[Context]>([])

  /// A context that is not in use.
  @safe private struct Context: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// Prepares the key.
  /// - Parameter key: any length, including zero (RFC 2104 §3); the caller decides whether to allow an empty
  ///   secret.
  /// - Throws: `CryptographyError` when this machine's libcrypto has no HMAC-SHA256 or rejects the key.
  public init(key: [UInt8]) throws(CryptographyError) {
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
      ERR_clear_error()
      throw .algorithmUnavailable
    }
    // The context holds its own reference.
    defer { unsafe EVP_MAC_free(algorithm) }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else {
      ERR_clear_error()
      throw .outOfMemory
    }
    guard unsafe HMACSHA256.prepare(context, key: key) else {
      unsafe EVP_MAC_CTX_free(context)
      ERR_clear_error()
      throw .keyRefused
    }
    unsafe keyed = context
  }

  deinit {
    for context in spare.withLock({ $0 }) { unsafe EVP_MAC_CTX_free(context.pointer) }
    unsafe EVP_MAC_CTX_free(keyed)
  }

  /// The code of one message, given in parts that are not copied.
  ///
  /// Ends the process when libcrypto cannot allocate memory, as Swift does.
  /// - Returns: 32 bytes.
  public func authenticationCode(for parts: [UInt8]...) -> [UInt8] {
    code { update in
      for part in parts { update(part.span) }
    }.bytes
  }

  /// The code of a message in two parts.
  public func authenticationCode(of head: Span<UInt8>, _ rest: Span<UInt8>) -> AuthenticationCode {
    code { update in
      update(head)
      update(rest)
    }
  }

  private func code(_ message: ((Span<UInt8>) -> Void) -> Void) -> AuthenticationCode {
    let context = popContext()
    defer { spare.withLock { $0.append(context) } }
    var succeeded = unsafe EVP_MAC_init(context.pointer, nil, 0, nil) == 1
    message { part in
      unsafe part.withUnsafeBufferPointer { bytes in
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        succeeded = unsafe succeeded && EVP_MAC_update(context.pointer, base, bytes.count) == 1
      }
    }
    var code = AuthenticationCode()
    var written = 0
    succeeded = unsafe withUnsafeMutableBytes(of: &code.words) { bytes in
      unsafe succeeded && EVP_MAC_final(context.pointer, bytes.baseAddress, &written, bytes.count) == 1
    }
    guard succeeded, written == AuthenticationCode.size else { fatalError("libcrypto failed to hash") }
    return code
  }

  private func popContext() -> Context {
    if let context = spare.withLock({ $0.popLast() }) { return context }
    // Copying only reads the source, so several threads may copy concurrently.
    guard let copy = unsafe EVP_MAC_CTX_dup(keyed) else { fatalError("libcrypto is out of memory") }
    return unsafe Context(pointer: copy)
  }

  /// Sets digest and key. An empty key needs a non-null pointer, because null means "keep the key"
  /// (EVP_MAC(3)).
  private static func prepare(_ context: OpaquePointer, key: [UInt8]) -> Bool {
    var digest = Array("SHA256".utf8CString)
    // A parameter stores the addresses of its name and its value, so both must outlive the call that makes
    // it. Swift passes a string's bytes for one call only.
    let name = Array(OSSL_MAC_PARAM_DIGEST.utf8CString)
    let storage = key.isEmpty ? [0] : key
    return unsafe name.withUnsafeBufferPointer { name in
      unsafe digest.withUnsafeMutableBufferPointer { digest in
        let parameters = unsafe [
          OSSL_PARAM_construct_utf8_string(name.baseAddress, digest.baseAddress, 0),
          OSSL_PARAM_construct_end(),
        ]
        return unsafe EVP_MAC_init(context, storage, key.count, parameters) == 1
      }
    }
  }
}
