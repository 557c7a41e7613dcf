// HMAC-SHA256 by OpenSSL's libcrypto. Any thread: a keyed context is only ever read after it was made; each
// message works on a copy of its own. Must never put a key or a message into an error.

internal import CCrypto

/// What libcrypto could not do. It says nothing of keys and messages.
public enum CryptographyError: Error, Sendable, Equatable {
  /// The providers loaded on this machine do not offer the algorithm (openssl.cnf, config(5)).
  case algorithmUnavailable
  /// The provider refuses the key, as a FIPS one does with a very short key.
  case keyRefused
  /// libcrypto could not get memory.
  case outOfMemory
}

/// HMAC-SHA256 (RFC 2104, FIPS 198-1) under one key that was prepared once.
///
/// Owns one keyed `EVP_MAC_CTX`, freed with it. The context is never updated: each message duplicates it,
/// which saves the look-up of the algorithm and the two hash blocks of the key. Measured on 16 bytes with
/// OpenSSL 3.0: 1.3 µs, where the one-shot `HMAC()` takes 3.2 µs. Duplicating reads the source alone, so all
/// threads may share one.
@safe public final class HMACSHA256: @unchecked Sendable {
  /// Bytes in a code.
  public static let codeSize = 32

  private let keyed: OpaquePointer

  /// Prepares the key.
  /// - Parameter key: any length, also none (RFC 2104 §3); whether an empty secret makes sense is the
  ///   caller's rule.
  /// - Throws: `CryptographyError` when this machine's libcrypto has no HMAC-SHA256 or refuses the key.
  public init(key: [UInt8]) throws(CryptographyError) {
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
      ERR_clear_error()
      throw .algorithmUnavailable
    }
    // The context takes a reference of its own.
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
    unsafe EVP_MAC_CTX_free(keyed)
  }

  /// The code of one message that is handed over in parts, as if they stood in one array; nothing is copied.
  ///
  /// Ends the process when libcrypto gets no memory for the copy of the context, as Swift does when it gets
  /// none.
  /// - Returns: 32 bytes.
  public func authenticationCode(for parts: [UInt8]...) -> [UInt8] {
    guard let context = unsafe EVP_MAC_CTX_dup(keyed) else { fatalError("libcrypto is out of memory") }
    defer { unsafe EVP_MAC_CTX_free(context) }
    var succeeded = true
    for part in parts where !part.isEmpty {
      succeeded = unsafe succeeded && EVP_MAC_update(context, part, part.count) == 1
    }
    var code = [UInt8](repeating: 0, count: HMACSHA256.codeSize)
    var written = 0
    succeeded = unsafe succeeded && EVP_MAC_final(context, &code, &written, code.count) == 1
    guard succeeded, written == HMACSHA256.codeSize else { fatalError("libcrypto failed to hash") }
    return code
  }

  /// Sets digest and key. An empty key goes in by address, because a null one means "keep the key"
  /// (EVP_MAC(3)).
  private static func prepare(_ context: OpaquePointer, key: [UInt8]) -> Bool {
    var digest = Array("SHA256".utf8CString)
    // A parameter keeps the addresses of its name and its value, so both must outlive the call that makes it.
    // Swift would hand over a string's bytes for that call only.
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
