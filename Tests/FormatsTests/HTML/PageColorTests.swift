// Colours, and their contrast as WCAG defines it.

import Formats
import Testing

@Suite("Colours of pages") struct PageColorTests {
  private static func color(_ text: String) throws -> PageColor { try #require(PageColor(text)) }

  @Test func `A colour is # and six digits`() throws {
    #expect(try Self.color("#0B57b0").text == "#0b57b0")
    #expect(try Self.color("#000000").text == "#000000")
    for text in [
      "", "#", "#fff", "#1234567", "0b57b0", "#0b57bg", "#+b57b0", "#-b57b0", "#-00000", "red", "#0b57b0;",
    ] {
      #expect(PageColor(text) == nil, "\(text)")
    }
  }

  @Test(arguments: [
    ("#000000", "#ffffff", 21.0), ("#ffffff", "#ffffff", 1.0), ("#767676", "#ffffff", 4.54),
    ("#777777", "#ffffff", 4.48), ("#ff0000", "#ffffff", 4.0), ("#0000ff", "#ffffff", 8.59),
  ])
  func `The contrast is that of WCAG's formula`(one: String, two: String, ratio: Double) throws {
    let (one, two) = (try Self.color(one), try Self.color(two))
    #expect(abs(one.contrast(to: two) - ratio) < 0.005)
    #expect(one.contrast(to: two) == two.contrast(to: one))
  }

  @Test(arguments: PageMode.allCases)
  func `The nearest readable tone of any colour has the contrast that text needs`(mode: PageMode) throws {
    for text in ["#ffffff", "#000000", "#ff9900", "#00ff00", "#7f7f7f", "#0b57b0", "#84b9ff"] {
      let color = try Self.color(text)
      let tone = mode.readable(color)
      #expect(mode.leastContrast(of: tone).ratio >= PageMode.contrastMin, "\(text)")
      let isReadable = mode.leastContrast(of: color).ratio >= PageMode.contrastMin
      #expect((tone == color) == isReadable, "\(text)")
    }
  }

  @Test func `An e-mail link has its subject, and nothing can be added to it`() {
    #expect(
      Link(mailTo: "help@example.com", subject: "Q&A · 1?").text
        == "mailto:help@example.com?subject=Q%26A%20%C2%B7%201%3F")
    #expect(
      Link(mailTo: "a?bcc=b@example.com", subject: "").text == "mailto:a%3Fbcc%3Db@example.com?subject=")
  }
}
