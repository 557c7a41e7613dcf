@testable import Platform
import Testing

@testable import Relay

@Suite("Percent-decoding") struct PercentEncodingTests {
  @Test(
    "What is encoded rightly is decoded",
    arguments: [
      ("", ""), ("plain", "plain"), ("%41%62", "Ab"), ("%c3%a9", "é"), ("%C3%A9", "é"), ("%F0%9F%A7%BE", "🧾"),
      ("%2F%2f", "//"), ("%25", "%"), ("%2541", "%41"), ("%00", "\u{0}"), ("a+b", "a+b"), ("é", "é"),
      ("%20", " "), ("%7F", "\u{7F}"), ("%EF%BB%BFx", "\u{FEFF}x"),
    ])
  func decoding(text: String, decoded: String) {
    #expect(PercentEncoding.decode(text).map { Array($0.utf8) } == Array(decoded.utf8))
  }

  @Test(
    "A broken escape is none, and neither is what is not UTF-8",
    arguments: [
      "%", "%4", "%zz", "%4g", "%g4", "a%", "a%4", "%%41", "% 41", "%+41", "%-1", "%0x", "%FF", "%C3",
      "%C3%28",
      "%C0%AF", "%ED%A0%80", "%F5%80%80%80", "%E2%82", "%４1", "%é",
    ])
  func broken(text: String) {
    #expect(PercentEncoding.decode(text) == nil)
    #expect(PercentEncoding.decode(text, plusIsSpace: true) == nil)
    #expect(throws: PercentEncoding.Broken.self) {
      try PercentEncoding.value(of: "a", in: Array("a=\(text)".utf8)[...])
    }
  }

  @Test("Bytes that are not UTF-8 are refused as they are, too")
  func rawBytes() {
    #expect(PercentEncoding.decode([0xFF][...], plusIsSpace: false) == nil)
    #expect(PercentEncoding.decode([0xC3, 0xA9][...], plusIsSpace: false) == "é")
  }

  @Test("A plus is a space in forms alone")
  func plus() {
    #expect(PercentEncoding.decode("a+%2B+b", plusIsSpace: true) == "a + b")
    #expect(PercentEncoding.decode("a+%2B+b") == "a+++b")
  }

  @Test(
    "The first field of a name gives its value",
    arguments: [
      ("a=1", "1"), ("a=1&a=2", "1"), ("b=2&a=1", "1"), ("a", ""), ("a=", ""), ("a=b=c", "b=c"),
      ("&&a=1&", "1"),
      ("%61=1", "1"), ("a=%26", "&"), ("a=+", " "), ("A=1", nil), ("", nil), ("=1", nil), ("b", nil),
      ("aa=1", nil),
    ] as [(String, String?)])
  func fields(form: String, value: String?) throws {
    #expect(try PercentEncoding.value(of: "a", in: Array(form.utf8)[...]) == value)
  }

  @Test("A slice of a larger array is read from its own start")
  func slices() throws {
    let bytes = Array("x=9&a=1%20".utf8)
    #expect(try PercentEncoding.value(of: "a", in: bytes[4...]) == "1 ")
    #expect(try PercentEncoding.value(of: "x", in: bytes[4...]) == nil)
  }
}
