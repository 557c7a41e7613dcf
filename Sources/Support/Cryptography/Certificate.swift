// Reads X.509 certificates in PEM with OpenSSL's libcrypto. Judges no signature: that is the job of TLS.
// Pure; any thread.

internal import CCrypto
internal import Glibc

/// The file has no readable certificate in PEM.
public struct CertificateFault: Error, Sendable, Equatable {
  public init() {}
}

/// What operators must know of a certificate (RFC 5280).
public struct Certificate: Sendable, Equatable {
  /// Unix time in milliseconds after which nobody accepts it (RFC 5280 §4.1.2.5).
  public let expiresAt: Int64
  private let pem: [UInt8]

  /// Reads the first certificate of a PEM file: that of the server itself, before its chain.
  public init(pem: [UInt8]) throws(CertificateFault) {
    let certificate = try Owned(certificate: pem)
    var time = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate.pointer), &time) == 1 else {
      ERR_clear_error()
      throw CertificateFault()
    }
    self.pem = pem
    expiresAt = Int64(unsafe timegm(&time)) * 1000
  }

  /// Whether a private key is that of the certificate; false also for a key that cannot be read, such as an
  /// encrypted one.
  /// - Parameter privateKey: a PEM file.
  public func matches(privateKey: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard let certificate = try? Owned(certificate: pem) else { return false }
    guard let source = unsafe Self.source(privateKey) else { return false }
    defer { unsafe BIO_free(source) }
    // Without this callback, libcrypto would ask for the password of an encrypted key on the terminal.
    guard let key = unsafe PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil) else {
      return false
    }
    defer { unsafe EVP_PKEY_free(key) }
    return unsafe X509_check_private_key(certificate.pointer, key) == 1
  }

  /// Whether the certificate is valid for a host's name (RFC 9525), whatever its dates.
  public func isFor(host: String) -> Bool {
    defer { ERR_clear_error() }
    guard let certificate = try? Owned(certificate: pem) else { return false }
    return unsafe X509_check_host(certificate.pointer, host, host.utf8.count, 0, nil) == 1
      || X509_check_ip_asc(certificate.pointer, host, 0) == 1
  }

  /// A reader of bytes, which copies them; the caller frees it. Nil without memory.
  private static func source(_ bytes: [UInt8]) -> OpaquePointer? {
    guard let source = unsafe BIO_new(BIO_s_mem()) else { return nil }
    guard unsafe BIO_write(source, bytes, Int32(clamping: bytes.count)) == bytes.count else {
      unsafe BIO_free(source)
      return nil
    }
    return unsafe source
  }

  /// Owns an `X509`.
  @safe private struct Owned: ~Copyable {
    let pointer: OpaquePointer

    init(certificate pem: [UInt8]) throws(CertificateFault) {
      guard let source = unsafe Certificate.source(pem) else { throw CertificateFault() }
      defer { unsafe BIO_free(source) }
      guard let read = unsafe PEM_read_bio_X509(source, nil, nil, nil) else {
        ERR_clear_error()
        throw CertificateFault()
      }
      unsafe pointer = read
    }

    deinit { unsafe X509_free(pointer) }
  }
}
