import Testing

@testable import Terminal

@Suite struct TableTests {
  private func sample() -> Table {
    var table = Table(
      [.init("ID"), .init("ATTEMPTS", alignment: .trailing), .init("REASON", canShrink: true)],
      emptyMessage: "No receipts.")
    table.add(["rcp_1", "2", Table.Cell("the destination did not know the key", .red)])
    table.add([Table.Cell("rcp_22"), "11"])
    return table
  }

  @Test func columnsArePaddedAndAligned() {
    #expect(
      sample().text() == """
        ID      ATTEMPTS  REASON
        rcp_1          2  the destination did not know the key
        rcp_22        11

        """)
  }

  @Test func colourIsShownOnlyWhenAsked() {
    #expect(!sample().text().contains("\u{1B}"))
    let text = sample().text(inColour: true)
    #expect(text.contains("\u{1B}[31mthe destination did not know the key\u{1B}[0m"))
    #expect(text.hasPrefix("\u{1B}[1mID\u{1B}[0m      \u{1B}[1mATTEMPTS"))
  }

  @Test func whatDoesNotFitTheTerminalIsCut() {
    #expect(
      sample().text(terminalColumns: 30) == """
        ID      ATTEMPTS  REASON
        rcp_1          2  the destina…
        rcp_22        11

        """)
  }

  @Test func idsAreNeverCutAndTheWidestColumnGivesWayFirst() {
    var table = Table(
      [.init("ID"), .init("A", canShrink: true), .init("B", canShrink: true)], emptyMessage: "")
    table.add([
      "identifier", Table.Cell(String(repeating: "a", count: 40)),
      Table.Cell(String(repeating: "b", count: 12)),
    ])
    let wide = table.text(terminalColumns: 50).split(separator: "\n")
    #expect(wide[1] == "identifier  \(String(repeating: "a", count: 23))…  bbbbbbbbbbbb")
    let narrow = table.text(terminalColumns: 5).split(separator: "\n")
    #expect(narrow[1] == "identifier  aaaaaaa…  bbbbbbb…")
  }

  @Test func columnsThatMatterLessAreLeftOutWhereCuttingDoesNotDo() {
    var table = Table(
      [
        .init("ID"), .init("APP", canDrop: true), .init("USER", canShrink: true),
        .init("LAST", alignment: .trailing, canDrop: true),
      ], emptyMessage: "")
    table.add(["identifier", "ios", "a-rather-long-user", "422"])
    func second(_ columns: Int?) -> Substring? {
      table.text(terminalColumns: columns).split(separator: "\n").last
    }
    #expect(second(nil) == "identifier  ios  a-rather-long-user   422")
    #expect(second(35) == "identifier  ios  a-rather-lo…   422")
    #expect(second(30) == "identifier  ios  a-rather-lon…")
    #expect(second(22) == "identifier  a-rather-…")
    #expect(second(10) == "identifier  a-rathe…", "what may not be left out stays")
    #expect(table.dropped(terminalColumns: nil) == [])
    #expect(table.dropped(terminalColumns: 35) == [])
    #expect(table.dropped(terminalColumns: 30) == ["LAST"])
    #expect(table.dropped(terminalColumns: 22) == ["APP", "LAST"])
  }

  @Test func anEmptyTableSaysSo() {
    let table = Table([.init("ID")], emptyMessage: "No receipts.")
    #expect(table.isEmpty)
    #expect(table.text() == "No receipts.\n")
  }

  @Test func nothingThatATerminalObeysGetsThrough() {
    var table = Table([.init("USER")], emptyMessage: "")
    table.add([Table.Cell("a\u{1B}]0;owned\u{7}b\nc\u{9B}31m\u{202E}d\u{2028}e\u{7F}")])
    let text = table.text(inColour: true)
    let row = text.split(separator: "\n")[1]
    #expect(row == "a\u{FFFD}]0;owned\u{FFFD}b c\u{FFFD}31m\u{FFFD}d e\u{FFFD}")
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("👩‍👩‍👧", 2), ("❤️", 2), ("한", 2), ("…", 1),
  ])
  func widthIsThatOfATerminal(text: String, width: Int) { #expect(DisplayText.width(of: text) == width) }

  @Test(arguments: [
    ("abcdef", 4, "abc…"), ("abcd", 4, "abcd"), ("日本語", 4, "日…"), ("abc", 0, ""), ("abc", 1, "…"),
  ])
  func aCutTextFits(text: String, width: Int, cut: String) {
    #expect(DisplayText.truncated(text, to: width) == cut)
    #expect(DisplayText.width(of: cut) <= width)
  }
}
