// Certificates, TLS versions and HTTP/2, against OpenSSL's server.

import HTTPClient
import Platform
import TestSupport
import Testing

@Suite("TLS", .serialized)
struct ClientTLSTests {
  @Test func `A certificate of an unknown authority is rejected before the request is sent`() throws {
    let server = try TLSServer(try SelfSignedCertificate(for: "DNS:localhost"))
    let result = try perform(server.request(nil))
    #expect(result.status == nil)
    #expect(result.failure == .certificateRejected)
    #expect(!result.requestWasSent)
    let detail = try #require(result.detail)
    #expect(detail.hasPrefix("localhost:\(server.port) (127.0.0.1): "))
    #expect(detail.contains("certificate"))
  }

  @Test func `A certificate is accepted when its authority is in the given file`() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    let server = try TLSServer(certificate)
    let result = try perform(server.request(certificate))
    #expect(result.status == 200)
    #expect(result.failure == nil)
    #expect(result.requestWasSent)
    #expect(!result.body.isEmpty)
  }

  @Test("A server that asks for a client certificate gets the given one; a key that is another's is a fault")
  func clientCertificate() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    let own = try SelfSignedCertificate(for: "DNS:localhost", subject: "client")
    let server = try TLSServer(
      certificate, ["-www", "-Verify", "1", "-verify_return_error", "-CAfile", own.certificate])
    var request = server.request(certificate)
    #expect(try perform(request).status == nil)
    (request.clientCertificateFile, request.clientKeyFile) = (own.certificate, own.key)
    #expect(try perform(request).status == 200)
    request.clientKeyFile = certificate.key
    let result = try perform(request)
    #expect(result.failure == .tlsFailed)
    #expect(!result.requestWasSent)
  }

  @Test func `The transfer that makes a connection learns when the server's certificate expires`() throws {
    let before = SystemClock().wallMilliseconds
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    let server = try TLSServer(certificate)
    let pool = try makePool()
    let result = try perform(server.request(certificate), on: pool)
    let expiresAt = try #require(result.certificateExpiresAt)
    // openssl counts the two days from the whole second in which it runs.
    let lifetime: Int64 = 2 * 86_400_000
    #expect((before / 1000 * 1000 + lifetime...SystemClock().wallMilliseconds + lifetime).contains(expiresAt))
    let plain = try withServer({ connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    }) { try perform($0.request(), on: pool) }
    #expect(plain.status == 200)
    #expect(plain.certificateExpiresAt == nil)
  }

  @Test func `A certificate for another name is rejected, although its authority is trusted`() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:other.example")
    let server = try TLSServer(certificate)
    let result = try perform(server.request(certificate))
    #expect(result.status == nil)
    #expect(result.failure == .certificateRejected)
    #expect(!result.requestWasSent)
  }

  @Test func `An expired certificate is rejected, although its authority is trusted`() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost", isExpired: true)
    let server = try TLSServer(certificate)
    let result = try perform(server.request(certificate))
    #expect(result.status == nil)
    #expect(result.failure == .certificateRejected)
    #expect(!result.requestWasSent)
  }

  @Test func `Another authority than the given one is rejected`() throws {
    let server = try TLSServer(try SelfSignedCertificate(for: "DNS:localhost"))
    let other = try SelfSignedCertificate(for: "DNS:localhost", subject: "another-authority")
    let result = try perform(server.request(other))
    #expect(result.failure == .certificateRejected)
    #expect(!result.requestWasSent)
  }

  @Test func `A missing file of authorities differs from a bad certificate`() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    let server = try TLSServer(certificate)
    var request = server.request(certificate)
    request.certificateAuthorityFile = certificate.directory + "/missing.pem"
    let result = try perform(request)
    #expect(result.failure == .certificateAuthorityUnreadable)
    #expect(!result.requestWasSent)
    request.certificateAuthorityFile = certificate.certificate + "\0"
    #expect(throws: TransferFailure.certificateAuthorityUnreadable) { try makePool().start(request, tag: 1) }
  }

  @Test func `A server that speaks plain text on a TLS port fails the handshake`() throws {
    let result = try withServer({ connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      connection.waitForClose()
    }) { try perform(TransferRequest(method: .post, url: "https://127.0.0.1:\($0.port)/")) }
    #expect(result.status == nil)
    #expect(result.failure == .tlsFailed)
    #expect(!result.requestWasSent)
  }

  @Test func `TLS 1.1 is refused`() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    let server = try TLSServer(certificate, ["-www", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
    let result = try perform(server.request(certificate))
    #expect(result.failure == .tlsFailed)
    #expect(!result.requestWasSent)
  }

  @Test func `A handshake that hangs ends at the connect timeout`() throws {
    let result = try withServer({ $0.waitForClose() }) { server in
      try perform(
        TransferRequest(
          method: .post, url: "https://127.0.0.1:\(server.port)/", timeout: .seconds(8),
          connectTimeout: .milliseconds(200)))
    }
    #expect(result.failure == .timeout)
    #expect(!result.requestWasSent)
    #expect(result.duration < .seconds(5))
  }

  @Test func `HTTP/2 is used if TLS offers it, and interim answers are dropped`() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    let server = try TLSServer(certificate, ["-alpn", "h2"])
    let pool = try makePool()
    var request = server.request(certificate)
    request.method = .post
    request.body = Array("body-by-http2".utf8)
    try pool.start(request, tag: 1)
    let deadline = MonotonicInstant.now().advanced(by: .seconds(8))
    while !server.process.printed.contains("body-by-http2"), MonotonicInstant.now() < deadline {
      #expect(pool.run(timeout: .milliseconds(10)).isEmpty)
      server.process.read(within: .zero)
    }
    // RFC 9113 §4.1: length (3), type, flags, stream (4). Header blocks by RFC 7541: 0x88 is ":status: 200";
    // 0x08 0x03 is a ":status" of three letters.
    server.process.feed(
      [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 0, 4, 1, 0, 0, 0, 0]
        + [0, 0, 5, 1, 4, 0, 0, 0, 1, 0x08, 0x03] + Array("103".utf8)
        + [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88]
        + [0, 0, 2, 0, 1, 0, 0, 0, 1] + Array("ok".utf8))
    let result = try #require(finish(pool).first).result
    #expect(result.status == 200)
    #expect(result.failure == nil)
    #expect(result.body == Array("ok".utf8))
    #expect(server.process.printed.contains("PRI * HTTP/2.0"))
  }

  /// Frames that an HTTP/2 server sends instead of an answer, after its settings (RFC 9113 §4.1).
  enum Abrupt: CaseIterable {
    case goAway, goAwayAfterHead, reset, nonsense, endlessSettings

    var frames: [UInt8] {
      /// GOAWAY with the last stream and an error code (RFC 9113 §6.8).
      func goAway(lastStream: UInt8, code: UInt8) -> [UInt8] {
        [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, lastStream, 0, 0, 0, code]
      }
      switch self {
      // Stream 1 is not reported as unprocessed: the server may have accepted the request.
      case .goAway: return goAway(lastStream: 1, code: 0)
      case .goAwayAfterHead: return [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88] + goAway(lastStream: 1, code: 2)
      // RST_STREAM with INTERNAL_ERROR (RFC 9113 §6.4).
      case .reset: return [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2]
      case .nonsense: return [UInt8](repeating: 0xAA, count: 200)
      case .endlessSettings: return [UInt8]([UInt8](repeating: 0, count: 3) + [4, 0, 0, 0, 0, 0]) * 20_000
      }
    }
  }

  @Test(
    "After an HTTP/2 server breaks off, the request counts as sent, and a status counts",
    arguments: Abrupt.allCases)
  func abruptHTTP2(_ end: Abrupt) throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    let server = try TLSServer(certificate, ["-alpn", "h2"])
    let pool = try makePool()
    var request = server.request(certificate)
    request.method = .post
    request.timeout = .milliseconds(1500)
    request.body = Array("body-by-http2".utf8)
    try pool.start(request, tag: 1)
    let deadline = MonotonicInstant.now().advanced(by: .milliseconds(1400))
    while !server.process.printed.contains("body-by-http2"), MonotonicInstant.now() < deadline {
      #expect(pool.run(timeout: .milliseconds(10)).isEmpty)
      server.process.read(within: .zero)
    }
    server.process.feed([0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 0, 4, 1, 0, 0, 0, 0] + end.frames)
    let result = try #require(finish(pool).first).result
    #expect(result.status == (end == .goAwayAfterHead ? 200 : nil))
    #expect(result.requestWasSent)
    // A stream that the server may still answer after GOAWAY ends with the timeout.
    #expect([.connectionLost, .timeout].contains(result.failure), "\(String(describing: result.failure))")
  }
}

extension [UInt8] {
  fileprivate static func * (bytes: Self, count: Int) -> Self { (0..<count).flatMap { _ in bytes } }
}
