import Testing

@testable import Formats

@Suite("CSV")
struct CSVTests {
  @Test func `Fields with separators, quotes and line breaks are quoted (RFC 4180)`() {
    let fields: [CSV.Field] = [
      .plain("a"), .text("b,c"), .text("say \"no\""), .text("two\r\nlines"), .text(""), .text("ü"),
    ]
    #expect(CSV.record(fields) == "a,\"b,c\",\"say \"\"no\"\"\",\"two\r\nlines\",,ü\r\n")
  }

  @Test(
    "A text that a spreadsheet would calculate gets an apostrophe; a number does not",
    arguments: [
      ("=HYPERLINK(\"http://evil.example\")", "\"'=HYPERLINK(\"\"http://evil.example\"\")\""),
      ("+SUM(1)", "'+SUM(1)"), ("-2+3", "'-2+3"), ("@cmd", "'@cmd"), ("\tx", "'\tx"), ("\rx", "\"'\rx\""),
      ("\nx", "\"'\nx\""), ("=1", "'=1"), ("-", "'-"), ("+.", "'+."), ("-1.2.3", "'-1.2.3"),
      ("-5", "-5"), ("+46.5", "+46.5"), ("a=b", "a=b"), ("'x", "'x"),
    ])
  func formulas(text: String, written: String) {
    #expect(CSV.record([.text(text)]) == written + "\r\n")
  }

  @Test func `The program's own words stay as they are`() {
    #expect(CSV.record([.plain("-5"), .plain("=x")]) == "-5,=x\r\n")
  }
}
