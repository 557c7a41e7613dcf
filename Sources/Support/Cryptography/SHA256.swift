// SHA-256 and a constant-time comparison, by OpenSSL's libcrypto. Thread-safe.

internal import CCrypto

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
  /// Looked up once: EVP_sha256() is looked up with each use, which takes as long as hashing 100 bytes
  /// (EVP_MD_fetch(3), crypto(7) "Implicit fetching"). Never freed, and only read.
  private static let algorithm: Algorithm = unsafe Algorithm(pointer: EVP_MD_fetch(nil, "SHA256", nil))

  @safe private struct Algorithm: @unchecked Sendable {
    let pointer: OpaquePointer?
  }

  /// The size of a digest in bytes.
  public static let digestSize = 32

  /// The digest of `bytes`.
  ///
  /// Ends the process when libcrypto cannot allocate memory, as Swift does.
  /// - Returns: 32 bytes.
  public static func digest(_ bytes: [UInt8]) -> [UInt8] { digest(bytes.span) }

  /// The digest of a span.
  public static func digest(_ bytes: Span<UInt8>) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: digestSize)
    unsafe write(bytes, to: &digest)
    return digest
  }

  /// The first 8 bytes of a digest, as a big-endian number. Allocates nothing.
  public static func prefix(_ bytes: Span<UInt8>) -> UInt64 {
    var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &digest) { digest in
      unsafe write(bytes, to: digest.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }
    return UInt64(bigEndian: digest.0)
  }

  /// - Parameter digest: has room for `digestSize` bytes.
  private static func write(_ bytes: Span<UInt8>, to digest: UnsafeMutablePointer<UInt8>?) {
    var written: UInt32 = 0
    let succeeded = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe EVP_Digest(bytes.baseAddress, bytes.count, digest, &written, algorithm.pointer, nil) == 1
    }
    guard succeeded, written == digestSize else { fatalError("libcrypto failed to hash") }
  }
}

/// Whether two secrets are equal. The time does not depend on the position of a difference
/// (CRYPTO_memcmp(3)).
///
/// Returns immediately for different lengths: a length is not secret here. Where it is, compare digests.
public func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  guard a.count == b.count else { return false }
  return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}
