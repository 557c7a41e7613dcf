// The modules of QR codes (ISO/IEC 18004). That cameras read them is a test of the return page.

import Testing
import Web

@Suite("QR codes") struct QRCodeTests {
  /// The rows as text: `#` for a dark module.
  private static func rows(_ code: QRCode) -> [String] {
    var rows = Array(repeating: Array(repeating: Character("."), count: code.width), count: code.width)
    for run in code.runs { for x in run.x..<run.x + run.length { rows[run.y][x] = "#" } }
    return rows.map { String($0) }
  }

  @Test func `A code has its finder and timing patterns, and no module outside`() throws {
    let code = try #require(QRCode("https://pay.example.com/v1/ios/return"))
    let rows = Self.rows(code)
    let finder = ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"]
    for (index, row) in finder.enumerated() {
      #expect(rows[index].prefix(7) == row, "top left")
      #expect(rows[index].suffix(7) == row, "top right")
      #expect(rows[code.width - 7 + index].prefix(7) == row, "bottom left")
    }
    let timing = Array(rows[6])[8..<code.width - 8]
    for (index, module) in timing.enumerated() { #expect(module == (index % 2 == 0 ? "#" : ".")) }
    for run in code.runs {
      #expect(run.length > 0)
      #expect(run.x + run.length <= code.width)
    }
  }

  @Test(
    "A code is as small as its text allows: bytes of level M (ISO/IEC 18004, table 7)",
    arguments: [(1, 21), (14, 21), (15, 25), (26, 25), (27, 29), (84, 37), (85, 41), (106, 41), (213, 57)])
  func sizes(bytes: Int, width: Int) {
    #expect(QRCode(String(repeating: "a", count: bytes))?.width == width)
  }

  @Test func `A text that fits no code has none`() {
    #expect(QRCode("") == nil)
    #expect(QRCode(String(repeating: "a", count: QRCode.byteCountMax)) != nil)
    #expect(QRCode(String(repeating: "a", count: QRCode.byteCountMax + 1)) == nil)
    #expect(QRCode(String(repeating: "é", count: QRCode.byteCountMax / 2 + 1)) == nil, "bytes count")
  }

  @Test func `The same text gives the same code, and another text another`() throws {
    let text = "https://pay.example.com/v1/ios/return?context_id=ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
    let code = try #require(QRCode(text))
    #expect(QRCode(text) == code)
    #expect(QRCode(text.replacing("4TD", with: "4TE")) != code)
  }
}
