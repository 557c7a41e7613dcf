// The published vectors of FIPS 180-4 and RFC 4231, and the edges of the wrapper.

import Cryptography
import Platform
import Testing

private func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite("Cryptography")
struct CryptographyTests {
  @Test(arguments: [
    (bytes(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (bytes("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 gives the digests that FIPS 180-4 publishes`(message: [UInt8], digest: String) {
    #expect(Hex.encode(SHA256.digest(message)) == digest)
  }

  @Test("SHA-256 of a million times \"a\" has the digest that FIPS 180-4 publishes")
  func longDigest() {
    let digest = Hex.encode(SHA256.digest(repeated(UInt8(ascii: "a"), 1_000_000)))
    #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(
    "HMAC-SHA256 gives the codes that RFC 4231 publishes",
    arguments: [
      (
        repeated(0x0b, 20), bytes("Hi There"),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        bytes("Jefe"), bytes("what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        repeated(0xaa, 20), repeated(0xdd, 50),
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
      ),
      (
        Array(1...25), repeated(0xcd, 50),
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
      ),
      (
        repeated(0xaa, 131), bytes("Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
      (
        repeated(0xaa, 131),
        bytes(
          "This is a test using a larger than block-size key and a larger than block-size data. "
            + "The key needs to be hashed before being used by the HMAC algorithm."),
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
      ),
    ])
  func codes(key: [UInt8], message: [UInt8], code: String) throws {
    let hmac = try HMACSHA256(key: key)
    #expect(Hex.encode(hmac.authenticationCode(for: message)) == code)
    #expect(Hex.encode(hmac.authenticationCode(for: message)) == code, "and again")
  }

  @Test func `A message in parts has the code of the whole`() throws {
    let hmac = try HMACSHA256(key: bytes("secret"))
    let whole = hmac.authenticationCode(for: bytes("1533204620.{}"))
    #expect(hmac.authenticationCode(for: bytes("1533204620"), bytes("."), [], bytes("{}")) == whole)
  }

  @Test func `An empty key and an empty message have the code that RFC 2104 defines`() throws {
    let code = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
    #expect(try Hex.encode(HMACSHA256(key: []).authenticationCode(for: [])) == code)
    #expect(try Hex.encode(HMACSHA256(key: []).authenticationCode()) == code)
  }

  @Test func `Equal secrets compare equal; another byte or length does not`() {
    #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
    #expect(constantTimeEqual([], []))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    #expect(!constantTimeEqual([], [0]))
  }

  @Test func `Every byte survives hexadecimal and back`() {
    let all = Array(UInt8.min...UInt8.max)
    let text = Hex.encode(all)
    #expect(text.hasPrefix("000102"))
    #expect(text.hasSuffix("fdfeff"))
    #expect(Hex.decodeLowercase(text) == all)
    #expect(Hex.decodeLowercase("x=00ff".dropFirst(2)) == [0x00, 0xff])
    #expect(Hex.decodeLowercase(bytes("00ff")[2...]) == [0xff])
    #expect(Hex.decodeLowercase("") == [])
  }

  @Test(arguments: ["0", "0A", "AA", "0g", " 00", "00 ", "0x00", "00\n", "０0", "é", "-1", "`0", ":0", "/0"])
  func `Anything except pairs of lower-case hexadecimal digits is refused`(text: String) {
    #expect(Hex.decodeLowercase(text) == nil)
  }
}

@Suite struct SecretRandomnessTests {
  @Test func `Random numbers do not repeat, also across the system's calls`() {
    let one = SecretRandomness()
    let other = SecretRandomness()
    let numbers = (0..<1000).flatMap { _ in [one.next(), other.next()] }
    #expect(Set(numbers).count == numbers.count)
    #expect(!numbers.contains(0))
  }

  @Test func `Concurrent threads get different random numbers`() throws {
    let source = SecretRandomness()
    let taken = Monitor<[UInt64]>([])
    let threads = try (1...4).map { number in
      try WorkerThread(name: "taker-\(number)") {
        let mine = (0..<500).map { _ in source.next() }
        taken.update { $0 += mine }
      }
    }
    for thread in threads { thread.join() }
    let all = taken.withLock { $0 }
    #expect(all.count == 2000)
    #expect(Set(all).count == 2000)
  }
}

@Suite struct AuthenticationCodeTests {
  private static func code(_ digits: String) -> AuthenticationCode? {
    AuthenticationCode(lowercaseHex: digits.utf8.span)
  }

  @Test func `A code is 64 lower-case hexadecimal digits and nothing else`() throws {
    let text = String(repeating: "0f", count: 32)
    let code = try #require(Self.code(text))
    #expect(code.bytes == [UInt8](repeating: 0x0f, count: 32))
    let wrong = [
      "", String(text.dropLast()), String(text.dropLast(2)), text + "0", text + "00", text.uppercased(),
    ]
    for text in wrong { #expect(Self.code(text)?.bytes == nil, "\(text)") }
  }

  @Test func `Codes are equal exactly when all bytes are`() throws {
    let hmac = try HMACSHA256(key: [1])
    let (two, three, four): ([UInt8], [UInt8], [UInt8]) = ([2], [3], [4])
    let code = hmac.authenticationCode(of: two.span, (three + four).span)
    #expect(code.bytes == hmac.authenticationCode(for: [2, 3, 4]))
    let other = hmac.authenticationCode(of: (two + three).span, four.span)
    #expect(code.isEqual(to: other))
    for index in 0..<32 {
      var bytes = code.bytes
      bytes[index] ^= 1
      let altered = try #require(Self.code(Hex.encode(bytes)))
      #expect(!code.isEqual(to: altered))
    }
  }
}
