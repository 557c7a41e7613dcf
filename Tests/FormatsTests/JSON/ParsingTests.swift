// Which input is read and which is refused; no input traps.

import Formats
import Platform
import Testing

@Suite("Reading JSON") struct ParsingTests {
  private static func parse(_ text: String, json5: Bool = false) throws(JSONSyntaxError) -> JSONValue {
    try JSONValue(parsing: Array(text.utf8), json5: json5)
  }

  @Test(
    "Every kind of value is read",
    arguments: [
      ("null", .null), ("true", true), ("false", false), ("0", 0), ("-1", -1), ("1.5", .number(1.5)),
      ("1e3", 1000), ("1.0", 1), ("-0", 0), ("9223372036854775807", .integer(.max)),
      ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .number(9_223_372_036_854_775_808)),
      (#""""#, ""), (#""\u00e9\uD83E\uDDFE\/\b\f\n\r\t\\\"""#, "é🧾/\u{8}\u{C}\n\r\t\\\""), ("[]", []),
      ("{}", .object([])), (" [ 1 , \"a\" ] \n", [1, "a"]),
      (#"{"b":1,"a":{"c":[null]}}"#, ["a": ["c": [.null]], "b": 1]),
    ] as [(String, JSONValue)])
  func kinds(text: String, value: JSONValue) throws { #expect(try Self.parse(text) == value) }

  @Test(arguments: [
    "", " ", "nul", "tru", "+1", "01", ".5", "1.", "1e", "--1", "0x10", "NaN", "Infinity", "'a'", "\"",
    "\"a", "\"\n\"", #""\x""#, #""\u12""#, #""\uD800""#, "[", "]", "[,]", "[1,,]", "[1 2]", "{", "{\"a\"}",
    "{\"a\":}", "{,}", "{a:1}", "{\"a\":1 \"b\":2}", "// c\n1", "1 2", "{}{}", "[1]x",
  ])
  func `Text that is not JSON is refused with a reason`(text: String) {
    let error = #expect(throws: JSONSyntaxError.self) { try Self.parse(text) }
    #expect(error?.description.isEmpty == false)
  }

  @Test func `A comma after the last element is JSON5, and not JSON`() throws {
    for text in ["[1,]", #"{"a":1,}"#, "[[],]", #"{"a":{},}"#] {
      #expect(throws: JSONSyntaxError.self) { try Self.parse(text) }
    }
    #expect(try Self.parse("[1,]", json5: true) == [1])
    #expect(try Self.parse(#"{"a":1,}"#, json5: true) == ["a": 1])
  }

  @Test func `An error names the position of the first invalid byte`() {
    for (text, words) in [
      ("{\n  \"a\": 1,\n}", "line 3, byte 1"), ("[1 2]", "line 1, byte 4"), ("[\"\u{1}\"]", "line 1, byte 3"),
      ("{\"a\":", "ends too early"), ("", "ends too early"), (#""\ud800""#, "surrogate"),
    ] {
      let error = #expect(throws: JSONSyntaxError.self) { try Self.parse(text) }
      #expect(error?.description.contains(words) == true, "\(text): \(error?.description ?? "")")
    }
  }

  @Test func `JSON5 is read only on request`() throws {
    let text = """
      // a comment
      { unquoted: 'single', "list": [1, 2,], hex: 0x1F, plus: +1, half: .5, /* more */ nested: { a: null, }, }
      """
    #expect(throws: JSONSyntaxError.self) { try Self.parse(text) }
    let value: JSONValue = [
      "half": .number(0.5), "hex": 31, "list": [1, 2], "nested": ["a": .null], "plus": 1,
      "unquoted": "single",
    ]
    #expect(try Self.parse(text, json5: true) == value)
  }

  @Test(
    "Every form of JSON5's numbers, strings and names is read, and the first of two members with one name")
  func json5Forms() throws {
    let text = """
      \u{FEFF}// one\r
      { 'a': .5, "b": +3, $c: 0X1f, _d: -1e3, e: 5., f: [1, 'x\\'y', "\\u0041\\x42\\uD83E\\uDDFE\\
      z\\v",],
        /* two */ g: { h: null, }, i: true, j: -0x10, k: 5.e2, l: -Infinity, "\\u006D": 1, m: 2, }
      """
    let value: JSONValue = [
      "$c": 31, "_d": -1000, "a": .number(0.5), "b": 3, "e": 5, "f": [1, "x'y", "AB🧾z\u{B}"],
      "g": ["h": .null], "i": true, "j": -16, "k": 500, "l": .number(-.infinity), "m": 1,
    ]
    #expect(try Self.parse(text, json5: true) == value)
  }

  @Test(arguments: [
    #"'\q'"#, #"'\0'"#, #"'\1'"#, #"'\x4'"#, #"'\u12'"#, #"'\uD83E'"#, #"'\uD83Ex'"#, #"'\uDDFE'"#,
    #"'\uD83E\u0041'"#, "'a\nb'", "'a\tb'", "'\0'", "'a", "0xFFFFFFFFFFFFFFFF", "1e400",
  ])
  func `A string or a number that means nothing in JSON5 is refused`(text: String) {
    #expect(throws: JSONSyntaxError.self) { try Self.parse(text, json5: true) }
  }

  @Test(arguments: [10_000, 4 * 1024 * 1024])
  func `A text nested too deeply is an error, not a crash (R8)`(count: Int) {
    for opening in ["[", "{\"a\":"] {
      let text = Array(String(repeating: opening, count: count / opening.utf8.count).utf8)
      for json5 in [false, true] {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text, json5: json5) }
      }
    }
    let half = count / 2
    let closed = String(repeating: "[", count: half) + String(repeating: "]", count: half)
    #expect(throws: JSONSyntaxError.self) { try Self.parse(closed) }
  }

  @Test func `A text nested to the decoder's limit is read`() throws {
    let depth = 500
    var value = try Self.parse(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    var seen = 0
    while case .array(let elements) = value {
      seen += 1
      guard let first = elements.first else { break }
      value = first
    }
    #expect(seen == depth)
  }

  @Test func `Of two members with one name always the same one is read`() throws {
    let first = try Self.parse(#"{"a":1,"b":0,"a":2}"#)
    guard case .object(let members) = first else {
      Issue.record("no object")
      return
    }
    #expect(members.map(\.name) == ["a", "b"])
    for _ in 0..<50 { #expect(try Self.parse(#"{"a":1,"b":0,"a":2}"#) == first) }
  }

  @Test func `Numbers too large for any type are an error or a double, not a crash`() throws {
    #expect(try Self.parse("1e308") == .number(1e308))
    #expect(try Self.parse("123456789012345678901234567890") == .number(1.2345678901234568e29))
    for text in ["1e400", "-1e400", String(repeating: "9", count: 400), "1e99999999999999999999"] {
      #expect(throws: JSONSyntaxError.self) { try Self.parse(text) }
    }
    // Underflow: zero and an error are both right, a trap is not.
    _ = try? Self.parse("1e-400")
  }

  @Test func `Bytes that are not UTF-8 are refused, in values and in names`() {
    let broken: [[UInt8]] = [
      [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82],
    ]
    for bytes in broken {
      let quoted: [UInt8] = [0x22] + bytes + [0x22]
      #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: quoted) }
      #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: [0x7B] + quoted + Array(":1}".utf8)) }
      #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: quoted, json5: true) }
    }
  }

  @Test func `A name that is not UTF-8 does not end the process, in JSON5 without quotes`() {
    let text = Array("{a".utf8) + [0xFF, 0xFF] + Array(": 1}".utf8)
    #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text, json5: true) }
  }

  @Test(arguments: [
    "0x0xFF", "0x", "0xG", "3epo", "3e", "1e+", "1.2.3", ".", "+.", "1-2", "01", "1_000", "0x1p3", "+true",
    "--1", "１", "0x１", "1\u{301}", "0x-1", "1..2", "..5", ".e5",
  ])
  func `An invalid number in JSON5 does not end the process`(text: String) {
    for text in [text, "[\(text)]", "{a: \(text) }"] {
      #expect(throws: JSONSyntaxError.self) { try Self.parse(text, json5: true) }
    }
  }

  @Test(arguments: [false, true])
  func `A text with a NUL is not read as UTF-16 or UTF-32`(json5: Bool) {
    for text in [[0x5B, 0, 0x5D, 0], [0, 0x5B, 0, 0x5D], [0, 0, 0, 0x33], [0x33, 0, 0, 0]] as [[UInt8]] {
      #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text, json5: json5) }
    }
  }

  @Test func `A number at the end of a text ends there, with any bytes after it in memory`() throws {
    for digits in 1...64 {
      let text = String(repeating: "9", count: digits)
      let value = try Self.parse(text, json5: true)
      #expect(try value == Self.parse("[\(text)]", json5: true).element)
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `Written JSON is read back the same`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<5 {
      let value = random.value(levels: 5)
      #expect(try JSONValue(parsing: value.serialized()) == value, "seed \(seed)")
      #expect(try Self.parse(value.prettyText) == value, "seed \(seed)")
    }
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `Nonsense of any kind is a value or an error, not a crash`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bytes = random.value(levels: 4).serialized()
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    for json5 in [false, true] {
      // Both results are allowed.
      if let value = try? JSONValue(parsing: bytes, json5: json5) { #expect(!value.serialized().isEmpty) }
    }
  }
}

extension JSONValue {
  /// The only element of a list.
  fileprivate var element: JSONValue? {
    guard case .array(let elements) = self, elements.count == 1 else { return nil }
    return elements[0]
  }
}
