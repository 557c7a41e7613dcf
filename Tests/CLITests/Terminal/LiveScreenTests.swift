// A live screen fits its terminal.

import Testing

@testable import Terminal

@Suite struct LiveScreenTests {
  @Test func `A line is cut to the width, and its style ends with it`() {
    #expect(LiveScreen.cut("abcdef", to: 3) == "abc")
    #expect(LiveScreen.cut("abc", to: 3) == "abc")
    #expect(LiveScreen.cut("\u{1B}[31mabcdef\u{1B}[0m", to: 3) == "\u{1B}[31mabc\u{1B}[0m")
    #expect(LiveScreen.cut("\u{1B}[31mab\u{1B}[0mcd", to: 4) == "\u{1B}[31mab\u{1B}[0mcd")
    #expect(LiveScreen.cut("日本語", to: 5) == "日本")
    #expect(LiveScreen.cut("", to: 0) == "")
  }

  @Test func `A sentence is wrapped at its words, and keeps its indent`() {
    #expect(LiveScreen.wrapped("  one two three", columns: 9) == ["  one two", "  three"])
    #expect(LiveScreen.wrapped("one", columns: 2) == ["one"])
    #expect(LiveScreen.wrapped("", columns: 2) == [""])
  }

  @Test func `The first lines are kept where the terminal is too small, with the footer below`() {
    let drawn = LiveScreen.drawing(["first", "second", "third"], footer: "q ends", columns: 4, rows: 3)
    #expect(drawn == "\u{1B}[H\u{1B}[2Kfirs\r\n\u{1B}[2Kseco\r\n\u{1B}[Jq en")
    #expect(LiveScreen.drawing(["a"], footer: "q", columns: 80, rows: 0).hasPrefix("\u{1B}[H\u{1B}[2Ka"))
  }
}
