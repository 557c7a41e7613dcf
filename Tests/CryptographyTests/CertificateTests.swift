// Certificates that the openssl program made.

import Cryptography
import Platform
import TestSupport
import Testing

@Suite("Certificates") struct CertificateTests {
  /// A key and its certificate in PEM, one after the other.
  private static func make(_ name: String, days: Int = 10, encryption: [String] = ["-nodes"]) throws
    -> [UInt8]
  {
    let made = try ShellRun(
      [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days",
        "\(days)", "-subj", "/CN=a test", "-addext", "subjectAltName=\(name)", "-keyout", "/dev/stdout",
        "-out",
        "/dev/stdout",
      ] + encryption)
    #expect(made.code == 0, "\(made.output)")
    return Array(made.output.utf8)
  }

  @Test func `A certificate says when it expires, to the second, and for which hosts it is`() throws {
    let before = SystemClock().wallMilliseconds
    let certificate = try Certificate(pem: try Self.make("DNS:pay.example,DNS:*.shop.example,IP:192.0.2.1"))
    let after = SystemClock().wallMilliseconds
    let lifetime: Int64 = 10 * 86_400_000
    // openssl counts from the whole second in which it runs.
    #expect((before / 1000 * 1000 + lifetime...after + lifetime).contains(certificate.expiresAt))
    for host in ["pay.example", "PAY.example", "eu.shop.example", "192.0.2.1"] {
      #expect(certificate.isFor(host: host), "\(host)")
    }
    for host in ["shop.example", "a.b.shop.example", "pay.example.org", "192.0.2.2", "", "*"] {
      #expect(!certificate.isFor(host: host), "\(host)")
    }
  }

  @Test func `A date of 2050 or later is read, too: it has another form (RFC 5280 §4.1.2.5)`() throws {
    let late = try Certificate(pem: try Self.make("DNS:pay.example", days: 20_000))
    #expect(late.expiresAt > 2_524_608_000_000)
  }

  @Test func `Only its own key matches a certificate`() throws {
    let own = try Self.make("DNS:pay.example")
    let certificate = try Certificate(pem: own)
    #expect(certificate.matches(privateKey: own))
    #expect(!certificate.matches(privateKey: try Self.make("DNS:pay.example")))
    #expect(!certificate.matches(privateKey: Array("no key".utf8)))
    #expect(!certificate.matches(privateKey: []))
  }

  @Test func `An encrypted key does not match, and nothing asks for its password`() throws {
    let pem = try Self.make("DNS:pay.example", encryption: ["-passout", "pass:abcdefgh"])
    #expect(!(try Certificate(pem: pem)).matches(privateKey: pem))
  }

  @Test func `Of a chain, the first certificate counts, and anything else is refused`() throws {
    let first = try Self.make("DNS:first.example", days: 3)
    let second = try Self.make("DNS:second.example")
    let chain = try Certificate(pem: first + second)
    #expect(chain.isFor(host: "first.example"))
    #expect(!chain.isFor(host: "second.example"))
    for other in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
      #expect(throws: CertificateFault()) { try Certificate(pem: Array(other.utf8)) }
    }
  }
}
