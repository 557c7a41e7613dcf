// Which keys are read and which are refused.

import Formats
import TestSupport
import Testing

@testable import Cryptography

@Suite("Key sets") struct KeySetTests {
  private func read(_ text: String) throws(KeySetFault) -> KeySet { try KeySet(reading: Array(text.utf8)) }

  private func flaw(_ jwk: JSONValue) throws -> KeyFlaw? { try read(jwk.text).flaws.first?.flaw }

  @Test("Keys for other uses, of other types and with flaws are skipped, and the others are used")
  func flaws() throws {
    let (rsa, p256) = (try Issuers.rsa.get(), try Issuers.p256.get())
    func member(_ name: String, _ value: JSONValue) -> [JSONValue.Member] {
      [.init(name: name, value: value)]
    }
    #expect(try flaw(try rsa.jwk(member("use", "enc"))) == .otherUse)
    #expect(try flaw(try rsa.jwk(member("use", "sig"))) == nil)
    #expect(try flaw(try rsa.jwk(member("key_ops", ["encrypt"]))) == .otherUse)
    #expect(try flaw(try rsa.jwk(member("key_ops", ["verify"]))) == nil)
    #expect(try flaw(try rsa.jwk(member("key_ops", "verify"))) == .malformed)
    #expect(try flaw(try rsa.jwk(member("alg", "RS256"))) == nil)
    #expect(try flaw(try rsa.jwk(member("alg", "PS256"))) == .otherUse)
    #expect(try flaw(try rsa.jwk(member("alg", "ES256"))) == .otherUse)
    #expect(try flaw(["kty": "OKP", "crv": "Ed25519", "x": "AA"]) == .unsupported)
    #expect(try flaw(["kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"]) == .unsupported)
    #expect(try flaw(["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"]) == .malformed)
    #expect(try flaw(["kty": "RSA", "n": "AQAB", "e": "AQAB"]) == .wrongSize)
    #expect(try flaw(["kty": "RSA", "n": "AQ==", "e": "AQAB"]) == .malformed)
    #expect(try flaw(["kty": 1]) == .malformed)
    let short = [UInt8](repeating: 7, count: 31)
    #expect(try flaw(["kty": "oct", "k": .string(Base64.encodeURL(short))]) == .shortSecret)
    #expect(try flaw(["kty": "oct", "k": .string(Base64.encodeURL(short + [7]))]) == nil)
    let mixed: JSONValue = ["keys": [["kty": "OKP"], try p256.jwk(), [:]]]
    let set = try read(mixed.text)
    #expect(set.keys.count == 1)
    #expect(set.flaws.map(\.index) == [0, 2])
  }

  @Test func `A set that is invalid, has a duplicate name, or is too large is refused as a whole`() throws {
    let key = try Issuers.p256.get().jwk().text
    for text in [
      "", "{}", "[]", "[\(key)]", #"{"keys":{}}"#, #"{"keys":[1]}"#, #"{"keys":[],"keys":[]}"#,
      #"{"keys":[{"kty":"oct","kty":"RSA"}]}"#, "-----BEGIN PUBLIC KEY-----\nAAAA\n", "\u{0}",
      "-----BEGIN PUBLIC KEY-----\n-----BEGIN PUBLIC KEY-----\n",
      "-----BEGIN PUBLIC KEY-----\n-----END KEY-----",
    ] {
      #expect(throws: KeySetFault.malformed, "\(text)") { try read(text) }
    }
    for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "CERTIFICATE", "RSA PUBLIC KEY", "EC PARAMETERS"] {
      #expect(throws: KeySetFault.otherBlock) { try read("-----BEGIN \(label)-----\nAAAA\n") }
    }
    let crowd = "{\"keys\":[" + Array(repeating: #"{"kty":"x"}"#, count: 101).joined(separator: ",") + "]}"
    #expect(throws: KeySetFault.tooMany) { try read(crowd) }
    #expect(throws: KeySetFault.tooLong) { try read(String(repeating: " ", count: KeySet.bytesMax + 1)) }
    #expect(try read(#"{"keys":[]}"#).keys.isEmpty)
    let broken = try read("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    #expect(broken.keys.isEmpty)
    #expect(broken.flaws.first?.flaw == .malformed)
  }

  @Test func `A fetched key set keeps no secret keys`() throws {
    let set = try read(TokenIssuer.keySet(try Issuers.all()))
    #expect(set.withoutSecrets.keys.map(\.algorithm) == [.rs256, .es256])
  }
}
