// Keys that others made, and what they signed: RFC 7515's examples, and keys of the openssl program.

import Formats
import TestSupport
import Testing

@testable import Cryptography

@Suite("Public keys") struct PublicKeyTests {
  private static let message = Array("a message".utf8)
  private static let rsa = Result { try TokenIssuer(.rsa) }
  private static let p256 = Result { try TokenIssuer(.p256) }

  private func der(_ issuer: TokenIssuer) throws -> [UInt8] {
    let body = try issuer.pem().split(separator: "\n").dropFirst().dropLast().joined()
    let der = Base64.decode(body.utf8.span, .standard)
    return try #require(der)
  }

  @Test func `A signature is valid for its message and key only, to the bit`() throws {
    for (issuer, kind) in [(try Self.rsa.get(), PublicKey.Kind.rsa), (try Self.p256.get(), .p256)] {
      let key = try PublicKey(subjectPublicKeyInfo: try der(issuer))
      #expect(key.kind == kind)
      let signature = try issuer.signature(of: Self.message)
      #expect(key.verifies(signature, of: Self.message))
      #expect(!key.verifies(signature, of: Self.message + [0]))
      #expect(!key.verifies(signature, of: []))
      for index in stride(from: 0, to: signature.count, by: 7) {
        var other = signature
        other[index] ^= 1
        #expect(!key.verifies(other, of: Self.message))
      }
      for other in [[], [0], Array(signature.dropLast()), signature + [0], [0] + signature] {
        #expect(!key.verifies(other, of: Self.message))
      }
      #expect(!key.verifies([UInt8](repeating: 0, count: signature.count), of: Self.message))
      #expect(!key.verifies([UInt8](repeating: 0xFF, count: signature.count), of: Self.message))
    }
  }

  @Test func `An ECDSA signature in DER is invalid: the only form is r and s (RFC 7518 §3.4)`() throws {
    let key = try PublicKey(subjectPublicKeyInfo: try der(try Self.p256.get()))
    let raw = try Self.p256.get().signature(of: Self.message)
    let encoded = try #require(PublicKey.derSignature(raw))
    #expect(encoded.first == 0x30)
    #expect(encoded.count <= 72)
    #expect(!key.verifies(encoded, of: Self.message))
  }

  @Test func `Numbers are written in as few bytes as they take, and positive`() {
    let zero = [UInt8](repeating: 0, count: 32)
    var one = zero
    one[31] = 1
    let large = [UInt8](repeating: 0xFF, count: 32)
    #expect(PublicKey.derSignature(zero + one) == [0x30, 6, 2, 1, 0, 2, 1, 1])
    #expect(PublicKey.derSignature(large + one) == [0x30, 38, 2, 33, 0] + large + [2, 1, 1])
    #expect(PublicKey.derSignature([]) == nil)
  }

  @Test func `Keys that are too short, on another curve or of another type are refused`() throws {
    let short = try TokenIssuer(.rsa, rsaBits: 1024)
    #expect(throws: PublicKeyFault.wrongSize) { try PublicKey(subjectPublicKeyInfo: try der(short)) }
    let other = try TokenIssuer(.p256, curve: "secp384r1")
    #expect(throws: PublicKeyFault.unsupported) { try PublicKey(subjectPublicKeyInfo: try der(other)) }
    let bitcoin = try TokenIssuer(.p256, curve: "secp256k1")
    #expect(throws: PublicKeyFault.unsupported) { try PublicKey(subjectPublicKeyInfo: try der(bitcoin)) }
  }

  @Test func `Bytes that are not a key are refused, and so are bytes after a key`() throws {
    let whole = try der(try Self.p256.get())
    for bytes in [[], [0x30], Array(whole.dropLast()), whole + [0], Array(whole.reversed())] {
      #expect(throws: PublicKeyFault.malformed) { try PublicKey(subjectPublicKeyInfo: bytes) }
    }
  }

  @Test func `An exponent of 1, an even one and an endless one are refused; 3 and 65537 are fine`() throws {
    var modulus = [UInt8](repeating: 0xAB, count: 256)
    modulus[255] = 0x01
    for exponent in [[], [0], [1], [0, 1], [2], [1, 0], [UInt8](repeating: 0xFF, count: 9)] as [[UInt8]] {
      #expect(throws: PublicKeyFault.malformed) { try PublicKey(rsaModulus: modulus, exponent: exponent) }
    }
    for exponent in [[3], [1, 0, 1], [0, 1, 0, 1]] as [[UInt8]] {
      let key = try PublicKey(rsaModulus: modulus, exponent: exponent)
      #expect(!key.verifies([UInt8](repeating: 1, count: 256), of: Self.message))
    }
    for size in [0, 1, 255, 1025, 100_000] {
      let other = [UInt8](repeating: 0xFF, count: size)
      #expect(throws: PublicKeyFault.wrongSize) { try PublicKey(rsaModulus: other, exponent: [1, 0, 1]) }
    }
  }

  @Test func `A point that is not on the curve is refused`() throws {
    let point = try der(try Self.p256.get()).suffix(64)
    let (x, y) = (Array(point.prefix(32)), Array(point.suffix(32)))
    #expect(try PublicKey(p256X: x, y: y).kind == .p256)
    #expect(throws: PublicKeyFault.malformed) { try PublicKey(p256X: y, y: x) }
    let zero = [UInt8](repeating: 0, count: 32)
    #expect(throws: PublicKeyFault.malformed) { try PublicKey(p256X: zero, y: zero) }
    #expect(throws: PublicKeyFault.malformed) { try PublicKey(p256X: x, y: Array(y.dropFirst())) }
  }
}
