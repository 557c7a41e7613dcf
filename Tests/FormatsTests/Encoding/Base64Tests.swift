// Base64, with the test vectors of RFC 4648 §10.

import Formats
import Testing

// Expectations cannot have spans in them.
private func decode(_ text: String, _ form: Base64.Form) -> [UInt8]? { Base64.decode(text.utf8.span, form) }

private func decode(_ text: [UInt8], _ form: Base64.Form) -> [UInt8]? { Base64.decode(text.span, form) }

@Suite("Base64") struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `The vectors of RFC 4648 are encoded and decoded`(text: String, encoded: String) {
    let bytes = Array(text.utf8)
    #expect(Base64.encode(bytes) == encoded)
    #expect(decode(encoded, .standard) == bytes)
    #expect(decode(encoded, .lenient) == bytes)
    let bare = String(encoded.prefix { $0 != "=" })
    #expect(Base64.encodeURL(bytes) == bare)
    #expect(decode(bare, .url) == bytes)
    #expect(decode(bare, .lenient) == bytes)
  }

  @Test func `Every byte is encoded in either alphabet, in each place of a group, and decoded as it was`() {
    for byte in UInt8(0)...255 {
      for count in 1...5 {
        let bytes = [UInt8](repeating: byte, count: count)
        let (standard, url) = (Base64.encode(bytes), Base64.encodeURL(bytes))
        #expect(standard.utf8.count == (count + 2) / 3 * 4)
        #expect(standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") == url)
        #expect(decode(standard, .standard) == bytes)
        #expect(decode(url, .url) == bytes)
      }
    }
    #expect(Base64.encode([0xFB, 0xFF, 0xBF]) == "+/+/")
    #expect(Base64.encodeURL([0xFB, 0xFF, 0xBF]) == "-_-_")
  }

  @Test(arguments: [
    "a", "_x", "_w==", "_w=", "-_-_a", "+/+/", " _w", "_w\n", "_/", "ä", "=", "Zm9vYmF=", "-_-9-_9",
  ])
  func `Of each value there is one text in base64url`(text: String) {
    #expect(decode(text, .url) == nil)
  }

  @Test(arguments: [
    "/w", "/w=", "/x==", "====", "/w==/w==", "/w===", "//9=", "-_-_", "=", "//8=\n", " //8=", "/w==A",
    "A===",
  ])
  func `Of each value there is one text in padded base64`(text: String) {
    #expect(decode(text, .standard) == nil)
  }

  @Test(
    "What is forwarded may have either alphabet, padding or none, and unused bits",
    arguments: [("/x==", [0xFF]), ("/x", [0xFF]), ("-_+/", [0xFB, 0xFF, 0xBF]), ("//9", [0xFF, 0xFF])]
      as [(String, [UInt8])])
  func lenient(text: String, bytes: [UInt8]) {
    #expect(decode(text, .lenient) == bytes)
  }

  @Test func `Every other byte is refused in every place, and by every form`() {
    let shared = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    for byte in UInt8(0)...255 where byte != UInt8(ascii: "=") {
      for position in 0..<8 {
        var text = Array("AAAAAAAA".utf8)
        text[position] = byte
        let isStandard = shared.contains(byte) || "+/".utf8.contains(byte)
        let isURL = shared.contains(byte) || "-_".utf8.contains(byte)
        #expect((decode(text, .standard) != nil) == isStandard, "\(byte) at \(position)")
        #expect((decode(text, .url) != nil) == isURL, "\(byte) at \(position)")
        #expect((decode(text, .lenient) != nil) == (isStandard || isURL), "\(byte) at \(position)")
      }
      #expect(Base64.isURLCharacter(byte) == (shared.contains(byte) || "-_".utf8.contains(byte)))
    }
  }
}
