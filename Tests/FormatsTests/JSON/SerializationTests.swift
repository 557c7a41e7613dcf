// The written JSON: RFC 8259, byte for byte.

import Formats
import Testing

@Suite("Writing JSON") struct SerializationTests {
  @Test(arguments: [
    ("", #""""#), ("plain", #""plain""#), ("a\"b\\c", #""a\"b\\c""#), ("/", #""/""#),
    ("a\nb\rc\td", #""a\nb\rc\td""#), ("\r\n", #""\r\n""#),
    ("\u{0}\u{1}\u{8}\u{B}\u{C}\u{1F}", #""\u0000\u0001\u0008\u000b\u000c\u001f""#),
    ("\u{7F}\u{85}\u{2028}\u{2029}", "\"\u{7F}\u{85}\u{2028}\u{2029}\""),
    ("é 漢 🧾 \u{10FFFF}", "\"é 漢 🧾 \u{10FFFF}\""),
  ])
  func `Texts are escaped where RFC 8259 §7 says so, and nowhere else`(text: String, written: String) {
    #expect(JSONValue.string(text).serialized() == Array(written.utf8))
    let object = JSONValue.object([.init(name: text, value: .null)])
    #expect(object.serialized() == Array("{\(written):null}".utf8))
  }

  @Test(arguments: ["\u{7F}", "\u{9B}", "\u{2028}"])
  func `The path of a key shows control characters escaped`(control: String) {
    let digits = String(control.unicodeScalars.first!.value, radix: 16)
    let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    #expect(JSON5Reader.path("apps", "a\(control)b") == "apps[\"a\(escape)b\"]")
  }

  @Test func `Every control character is escaped, in values and in names`() throws {
    for code in UInt8.min..<0x20 {
      let text = String(Unicode.Scalar(code))
      for value: JSONValue in [.string(text), .object([.init(name: text, value: 1)])] {
        #expect(value.serialized().allSatisfy { $0 >= 0x20 })
        #expect(try JSONValue(parsing: value.serialized()) == value)
      }
    }
  }

  @Test(
    arguments: [
      (.integer(0), "0"), (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"),
      (.number(0.5), "0.5"), (.number(-2.25), "-2.25"), (.number(1e300), "1e+300"),
      (.number(.leastNonzeroMagnitude), "5e-324"),
      (.number(.infinity), "null"), (.number(-.infinity), "null"), (.number(.nan), "null"),
    ] as [(JSONValue, String)])
  func `Numbers are written as JSON and read back the same`(value: JSONValue, written: String) throws {
    #expect(value.text == written)
    let read = try JSONValue(parsing: value.serialized())
    #expect(written == "null" ? read == .null : read == value)
  }

  @Test func `Members keep their order, also with a duplicate name`() {
    let value: JSONValue = ["z": 1, "a": [true, false, .null], "z": ["m": "n"]]
    #expect(value.text == #"{"z":1,"a":[true,false,null],"z":{"m":"n"}}"#)
    #expect(value["z"] == 1)
    #expect(value["y"] == nil && JSONValue.string("z")["z"] == nil)
  }

  @Test func `Pretty text indents by two spaces, and keeps empty containers on one line`() {
    let value: JSONValue = ["a": [1, [], .object([])], "b": ["c": "d\ne"]]
    #expect(
      value.prettyText == """
        {
          "a": [
            1,
            [],
            {}
          ],
          "b": {
            "c": "d\\ne"
          }
        }
        """)
  }

  @Test func `An absent member is null, and only a string has a text`() {
    #expect(JSONValue.optional(String?.none) == .null && JSONValue.optional(Int64?.none) == .null)
    #expect(JSONValue.optional("") == "" && JSONValue.optional(Int64(7)) == 7)
    #expect(JSONValue.string("x").stringValue == "x" && JSONValue.integer(1).stringValue == nil)
  }
}
