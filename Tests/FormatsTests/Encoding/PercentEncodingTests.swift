// Percent escapes, and the fields of forms.

import Formats
import Testing

// Expectations cannot have spans in them.
private func decode(_ text: String) -> String? { PercentEncoding.decode(text.utf8.span) }

private func decode(_ text: [UInt8]) -> String? { PercentEncoding.decode(text.span) }

private func fields(in form: String) throws -> [FormFields.Field] { try FormFields.all(in: form.utf8.span) }

private func value(of name: String, in form: String) throws -> String? {
  try FormFields.value(of: name, in: form.utf8.span)
}

@Suite("Percent-encoding") struct PercentEncodingTests {
  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("%41%62", "Ab"), ("%c3%a9", "é"), ("%C3%A9", "é"), ("%F0%9F%A7%BE", "🧾"),
    ("%2F%2f", "//"), ("%25", "%"), ("%2541", "%41"), ("%00", "\u{0}"), ("a+b", "a+b"), ("é", "é"),
    ("%20", " "), ("%7F", "\u{7F}"), ("%EF%BB%BFx", "\u{FEFF}x"),
  ])
  func `A correct encoding is decoded`(text: String, decoded: String) {
    #expect(decode(text).map { Array($0.utf8) } == Array(decoded.utf8))
  }

  static let brokenTexts = [
    "%", "%4", "%zz", "%4g", "%g4", "a%", "a%4", "%%41", "% 41", "%+41", "%-1", "%0x", "%FF", "%C3",
    "%C3%28", "%C0%AF", "%ED%A0%80", "%F5%80%80%80", "%E2%82", "%４1", "%é",
  ]

  @Test(arguments: brokenTexts)
  func `A broken escape is not decoded, and neither is what is not UTF-8`(text: String) {
    #expect(decode(text) == nil)
    let form = "a=\(text)"
    #expect(throws: FormFields.Broken.self) { try value(of: "a", in: form) }
    #expect(throws: FormFields.Broken.self) { try fields(in: form) }
  }

  @Test func `Bytes that are not UTF-8 are refused, with an escape and without`() {
    let (raw, escaped, valid) =
      ([0xFF], Array("%41".utf8) + [0xFF], [0xC3, 0xA9]) as ([UInt8], [UInt8], [UInt8])
    #expect(decode(raw) == nil)
    #expect(decode(escaped) == nil)
    #expect(decode(valid) == "é")
  }

  @Test(
    "A percent sign without two digits can be kept, as browsers do",
    arguments: [
      ("%", "%", true), ("a%4", "a%4", true), ("%zz%41", "%zzA", true), ("%%41", "%A", true),
      ("%41", "A", false),
      ("a+b", "a+b", false),
    ])
  func kept(text: String, decoded: String, isBroken: Bool) {
    let found = PercentEncoding.decodeBytes(text.utf8.span)
    #expect(found.bytes == Array(decoded.utf8))
    #expect(found.isBroken == isBroken)
  }

  @Test func `Every byte is encoded unless it is kept, and is decoded as it was`() {
    let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    let component = unreserved.union("!*'()".utf8)
    for byte in UInt8(0)..<128 {
      let text = String(decoding: [byte], as: UTF8.self)
      let digits = String(byte, radix: 16, uppercase: true)
      let escape = "%" + (byte < 16 ? "0" : "") + digits
      #expect(PercentEncoding.encode(text) == (unreserved.contains(byte) ? text : escape))
      #expect(PercentEncoding.encode(text, keeping: .component) == (component.contains(byte) ? text : escape))
      #expect(decode(escape) == text)
    }
    #expect(PercentEncoding.encode("aé🧾 b") == "a%C3%A9%F0%9F%A7%BE%20b")
    #expect(PercentEncoding.encode("") == "")
    for byte in UInt8(128)...255 { #expect(!PercentEncoding.Kept.component.contains(byte)) }
  }
}

@Suite("Forms") struct FormFieldsTests {
  @Test func `A plus is a space in forms alone`() throws {
    let text = "a+%2B+b"
    #expect(try value(of: "x", in: "x=\(text)") == "a + b")
    #expect(decode(text) == "a+++b")
  }

  @Test(
    arguments: [
      ("a=1", "1"), ("a=1&a=2", "1"), ("b=2&a=1", "1"), ("a", ""), ("a=", ""), ("a=b=c", "b=c"),
      ("&&a=1&", "1"), ("%61=1", "1"), ("a=%26", "&"), ("a=+", " "), ("A=1", nil), ("", nil), ("=1", nil),
      ("b", nil), ("aa=1", nil), ("a=1&b=%zz", "1"),
    ] as [(String, String?)])
  func `The first field of a name gives its value`(form: String, expected: String?) throws {
    #expect(try value(of: "a", in: form) == expected)
  }

  @Test func `All fields are read in order, and one that is broken breaks all`() throws {
    let form = "a=1&b&&=2&a=%26+&"
    let found = try fields(in: form).map { "\($0.name)>\($0.value)" }
    #expect(found == ["a>1", "b>", ">2", "a>& "])
    let broken = "a=1&%zz=2"
    #expect(throws: FormFields.Broken.self) { try fields(in: broken) }
  }
}
