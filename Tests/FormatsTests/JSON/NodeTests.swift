// Fields read in place equal those of Foundation's decoder, and every input has a result.

import Formats
import FoundationEssentials
import Platform
import Testing

@Suite("Reading JSON in place") struct NodeTests {
  private static func read<Result>(_ text: String, _ body: (JSONNode) -> Result) -> Result? {
    JSONDocument.read(Array(text.utf8), body)
  }

  private static func isRead(_ text: String) -> Bool { read(text) { _ in true } ?? false }

  @Test func `Values are read as their own type only`() {
    let words = #""t":true,"f":false,"z":null"#
    let text =
      #"{"s":"é\n\u00e9\ud83e\uddfe","i":-7,"n":1.5,\#(words),"a":[1,[2],{}],"o":{"s":"in"}}"#
    let isRead = Self.read(text) { root in
      #expect(root.isObject)
      #expect(!root.isArray)
      #expect(root.string == nil)
      #expect(root.int64 == nil)
      #expect(root.bool == nil)
      #expect(root.member("s")?.string == "é\né🧾")
      #expect(root.member("s")?.isString == true)
      #expect(root.member("s")?.isString("é\né🧾") == true)
      #expect(root.member("s")?.isString("é") == false)
      #expect(root.member("i")?.int64 == -7)
      #expect(root.member("i")?.string == nil)
      #expect(root.member("i")?.double == -7)
      #expect(root.member("n")?.int64 == nil)
      #expect(root.member("n")?.double == 1.5)
      #expect(root.member("t")?.bool == true)
      #expect(root.member("f")?.bool == false)
      #expect(root.member("z")?.isNull == true)
      #expect(root.member("z")?.bool == nil)
      #expect(root.member("o")?.member("s")?.string == "in")
      #expect(root.member("o")?.member(named: "s")?.string == "in")
      #expect(root.member("a")?.isArray == true)
      #expect(root.member("a")?.member("s") == nil)
      #expect(root.member("none") == nil)
      #expect(root.member("") == nil)
      var numbers: [Int64?] = []
      root.member("a")?.forEachElement { numbers.append($0.int64) }
      #expect(numbers == [1, nil, nil])
      var names: [String?] = []
      root.forEachMember { name, _ in names.append(name.string) }
      #expect(names == ["s", "i", "n", "t", "f", "z", "a", "o"])
      return true
    }
    #expect(isRead == true)
  }

  @Test func `The range of a value is what is written of it, so a text can be changed in place`() {
    let text = #" {"s" : "é\n\"", "n":-1.50e2 ,"t":true,"z":null,"a":[1, "x"],"o":{},"é":""} "#
    let bytes = Array(text.utf8)
    let written = JSONDocument.read(bytes) { root in
      var written: [String] = []
      func add(_ node: JSONNode) { written.append(String(decoding: bytes[node.textRange], as: UTF8.self)) }
      root.forEachMember { name, value in
        add(name)
        add(value)
        value.forEachElement(add)
      }
      add(root)
      return written
    }
    #expect(
      written == [
        #""s""#, #""é\n\"""#, #""n""#, "-1.50e2", #""t""#, "true", #""z""#, "null", #""a""#, #"[1, "x"]"#,
        "1",
        #""x""#, #""o""#, "{}", #""é""#, #""""#, String(text.dropFirst().dropLast()),
      ])
  }

  @Test func `Of a duplicate name the first counts, as for the toolchain's decoder`() throws {
    struct Twice: Decodable { var a: Int? }
    let text = #"{"a":1,"\u0061":2,"a":"x"}"#
    #expect(try JSONDecoder().decode(Twice.self, from: Data(text.utf8)).a == 1)
    #expect(Self.read(text) { $0.member("a")?.int64 } == 1)
    #expect(Self.read(#"{"\u0061":2,"a":1}"#) { $0.member("a")?.int64 } == 2)
  }

  @Test func `A part that has no value leaves the rest readable`() {
    for part in [#""\ud800""#, #""\ude00""#, #""\ud800\u0041""#, "1e999", "99999999999999999999999999"] {
      let read = Self.read("{\"before\":1,\"odd\":\(part),\"after\":2}") { root in
        let odd = root.member("odd")
        return (root.member("before")?.int64, odd?.string, odd?.int64, root.member("after")?.int64)
      }
      #expect(read?.0 == 1, "\(part)")
      #expect(read?.3 == 2, "\(part)")
      #expect(read != nil, "\(part)")
      #expect(read?.1 == nil, "\(part)")
      #expect(read?.2 == nil, "\(part)")
    }
    #expect(Self.read(#"{"\ud800":1,"a":2}"#) { $0.member("a")?.int64 } == 2)
  }

  /// Strings and numbers outside of the grammar (RFC 8259 §6, §7).
  private static let notJSON = [
    #""\x""#, #""\uZZZZ""#, #""\u12""#, #""\u00g0""#, "\"\u{1}\"", "\"\u{0}\"", "\"\n\"", "\"\t\"", "-", "01",
    "-01", "1.", "1.e3", "1e", "1e+", "1-2", "-.5", "1.2.3", "+1", "0x1", "1_0", "--1",
  ]

  @Test(arguments: notJSON)
  func `A text with a part that is not JSON is not JSON, even if that part is not read`(part: String) {
    #expect(!Self.isRead(part))
    #expect(!Self.isRead("[\(part)]"))
    #expect(!Self.isRead("{\"read\":1,\"unread\":\(part)}"))
    #expect(!Self.isRead("{\"read\":1,\"read\":\(part)}"))
    if part.hasPrefix("\"") { #expect(!Self.isRead("{\(part):1}")) }
  }

  @Test("A text that is not UTF-8 is not JSON, even if that part is not read (RFC 8259 §8.1, RFC 3629)")
  func unreadPartThatIsNotUTF8() {
    let broken: [[UInt8]] = [
      [0xFF], [0x80], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xC3, 0x5C, 0x6E],
    ]
    for bytes in broken {
      for (head, tail) in [
        (#"{"a":1,"b":""#, #""}"#), (#"{"a":1,"a":""#, #""}"#), (#"{""#, #"":1}"#), ("[", "]"),
      ] {
        for padding in [0, 7, 8, 40] {
          let blank = [UInt8](repeating: UInt8(ascii: " "), count: padding)
          let text = Array(head.utf8) + blank + bytes + blank + Array(tail.utf8)
          #expect(JSONDocument.read(text) { _ in true } == nil, "\(text)")
        }
      }
    }
    // The first and the last scalar of each encoded length are valid.
    let text = #"["\#u{80}\#u{7FF}\#u{800}\#u{D7FF}\#u{E000}\#u{FFFF}\#u{10000}\#u{10FFFF}"]"#
    #expect(Self.isRead(text))
  }

  @Test func `Names that only look alike are two names`() throws {
    let text = "{\"e\u{301}\":1,\"\u{E9}\":2}"
    #expect(Self.read(text) { $0.member(named: "\u{E9}")?.int64 } == 2)
    let value = try JSONValue(parsing: Array(text.utf8))
    #expect(value["e\u{301}"] == 1)
    #expect(value["\u{E9}"] == 2)
  }

  @Test(arguments: [
    "0", "-0", "7", "-1", "1.0", "1e3", "1.5e1", "100e-2", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "-9223372036854775809", "1.5", "1e-1", "1e19", "9e18", "0.0", "-0.0", "0e0",
    "00",
    "+1", "1e400", "0e99999999", "120e-1",
  ])
  func `Whole numbers are read in every form that the toolchain's decoder accepts`(text: String) {
    let decoded = try? JSONDecoder().decode([Int64].self, from: Data("[\(text)]".utf8)).first
    var read: Int64?
    _ = Self.read("[\(text)]") { $0.forEachElement { read = $0.int64 } }
    #expect(read == decoded)
  }

  @Test(arguments: ["4503599627370497.50", "1e-400"])
  func `A number that is not whole is not read as an integer`(text: String) {
    let read = Self.read(text) { ($0.int64, $0.double) }
    #expect(read?.0 == nil)
    #expect(read?.1 != nil)
  }

  @Test func `Depth is limited as it is for the toolchain's decoder`() {
    struct Anything: Decodable { init(from decoder: any Decoder) {} }
    for levels in [1, 511, 512, 513, 100_000] {
      for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
        let text =
          String(repeating: open, count: levels) + (open == "[" ? "" : "1")
          + String(repeating: close, count: levels)
        let decodes = (try? JSONDecoder().decode(Anything.self, from: Data(text.utf8))) != nil
        #expect(Self.isRead(text) == decodes, "\(levels)")
        #expect(decodes == (levels <= 512), "\(levels)")
        #expect(!Self.isRead(String(text.dropLast())))
      }
    }
  }

  @Test func `Text that is not JSON is refused, and whitespace around JSON is accepted`() {
    let broken = [
      "", " ", "nul", "nulL", "tru", "+1", ".5", "'a'", "\"", "\"a", #""\""#, #""\u12"}"#, "[", "]", "[,]",
      "[1,,]", "[1 2]",
      "{", "{\"a\"}", "{\"a\":}", "{,}", "{a:1}", "{\"a\":1 \"b\":2}", "{1:2}", "{\"a\":1]", "[1}", "// c\n1",
      "1 2", "{}{}",
      "[1]x", "{\"a\" 1}", "\u{0}", "[\u{0}]", "{\"a\":1,,}", "{\"a\":1,]", "[1,]", "{\"a\":1,}", "[1, ]",
      "{\"a\":{},}", "[[],]",
    ]
    for text in broken { #expect(!Self.isRead(text), "\(text.debugDescription)") }
    for text in [
      " [ ] \n", "\u{FEFF}{}", "\t\r\n null ", "1", "\"a\"", "{\"a\":{},\"b\":[]}",
    ] {
      #expect(Self.isRead(text), "\(text.debugDescription)")
    }
    #expect(JSONDocument.read([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) { _ in true } == nil)
  }

  @Test func `Strings of every length and content end correctly`() {
    for count in 0...70 {
      for mark in ["", "\\\"", "\\\\", "é", "\u{7F}", "~ "] {
        let plain = String(repeating: "x", count: count)
        let text = "[\"\(plain)\(mark)\(plain)\",\"after\"]"
        let wanted = plain + mark.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\") + plain
        var strings: [String?] = []
        _ = Self.read(text) { $0.forEachElement { strings.append($0.string) } }
        #expect(strings == [wanted, "after"])
      }
    }
  }

  @Test func `Random values are read as they were written, compact and indented`() {
    for seed in UInt64(1)...500 {
      var generator = SeededGenerator(seed: seed)
      let value = generator.value(levels: 4)
      for bytes in [value.serialized(), Array(value.prettyText.utf8)] {
        let read = JSONDocument.read(bytes) { Self.value(of: $0) }
        #expect((read ?? nil)?.text == value.text, "seed \(seed)")
      }
    }
  }

  /// The whole value; nil when a part cannot be read.
  private static func value(of node: JSONNode) -> JSONValue? {
    if node.isNull { return .null }
    if let flag = node.bool { return .bool(flag) }
    if let number = node.int64 { return .integer(number) }
    if let number = node.double { return .number(number) }
    if let text = node.string { return .string(text) }
    var isWhole = true
    if node.isArray {
      var elements: [JSONValue] = []
      node.forEachElement { element in
        if let value = value(of: element) { elements.append(value) } else { isWhole = false }
      }
      return isWhole ? .array(elements) : nil
    }
    guard node.isObject else { return nil }
    var members: [JSONValue.Member] = []
    node.forEachMember { name, node in
      guard let name = name.string, let value = value(of: node) else { return isWhole = false }
      members.append(.init(name: name, value: value))
    }
    return isWhole ? .object(members) : nil
  }
}
