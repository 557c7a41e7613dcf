import Formats
import Platform
import Testing

@testable import Terminal

@Suite struct OutputTests {
  private static func channel(_ record: Record, isTerminal: Bool = false, columns: Int? = nil)
    -> OutputChannel
  {
    OutputChannel(isTerminal: isTerminal, size: { columns.map { ($0, 24) } }, sink: { record.add($0) })
  }

  private static func output(
    result: Record = Record(), notes: Record = Record(), isTerminal: Bool = false, answer: String? = nil,
    environment: [String: String] = [:]
  ) -> Output {
    Output(
      program: "relayctl", result: channel(result, isTerminal: isTerminal, columns: 20),
      notes: channel(notes, isTerminal: isTerminal), environment: Environment(environment),
      isInputTerminal: isTerminal, answer: { answer })
  }

  @Test func resultsAndNotesGoTheirOwnWays() {
    let (result, notes) = (Record(), Record())
    let output = Self.output(result: result, notes: notes)
    output.line("one")
    output.json(["id": "rcp_1", "n": 2])
    output.note("by the way")
    output.error("no such receipt")
    #expect(result.text == "one\n{\"id\":\"rcp_1\",\"n\":2}\n")
    #expect(notes.text == "by the way\nrelayctl: no such receipt\n")
  }

  @Test func aTableIsCutAndColouredOnATerminalOnly() {
    var table = Table([.init("REASON", canShrink: true)], emptyMessage: "")
    table.add([Table.Cell("a reason that is quite long", .yellow)])
    let (terminal, pipe, plain) = (Record(), Record(), Record())
    Self.output(result: terminal, isTerminal: true).table(table)
    Self.output(result: pipe).table(table)
    Self.output(result: plain, isTerminal: true, environment: ["NO_COLOR": "1"]).table(table)
    #expect(terminal.text.contains("\u{1B}[33ma reason that is qu…\u{1B}[0m"))
    #expect(pipe.text == "REASON\na reason that is quite long\n")
    #expect(plain.text == "REASON\na reason that is qu…\n")
  }

  @Test func `Columns that a terminal is too narrow for are named below the table, and shown in a pipe`() {
    var table = Table([.init("ID"), .init("APP", canDrop: true)], emptyMessage: "")
    table.add(["rcp_0123456789", "an-app"])
    let (terminal, pipe) = (Record(), Record())
    Self.output(result: terminal, isTerminal: true, environment: ["NO_COLOR": "1"]).table(table)
    Self.output(result: pipe).table(table)
    #expect(terminal.text == "ID\nrcp_0123456789\nToo wide for this terminal: APP; see --json.\n")
    #expect(pipe.text == "ID              APP\nrcp_0123456789  an-app\n")
    let live = Record()
    Self.output(result: live, isTerminal: true, environment: ["NO_COLOR": "1"])
      .table(table, namesDropped: false)
    #expect(live.text == "ID\nrcp_0123456789\n")
  }

  @Test(
    arguments: [
      (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false),
      (true, ["NO_COLOR": ""], true),
      (true, ["TERM": "dumb"], false), (true, ["TERM": "xterm"], true),
    ] as [(Bool, [String: String], Bool)])
  func colourIsForTerminalsWhoseOwnerDoesNotMind(
    isTerminal: Bool, environment: [String: String], isWanted: Bool
  ) {
    #expect(Style.isColourWanted(isTerminal: isTerminal, environment: Environment(environment)) == isWanted)
  }

  @Test(
    arguments: [
      ("y", true), ("Yes", true), (" YES ", true), ("", false), ("n", false), ("yess", false), (nil, false),
    ] as [(String?, Bool)])
  func onlyYesAgrees(answer: String?, agreed: Bool) {
    let notes = Record()
    #expect(
      Self.output(notes: notes, isTerminal: true, answer: answer).confirm("Replay 3 receipts?") == agreed)
    #expect(notes.text.hasPrefix("Replay 3 receipts? [y/N] "))
  }

  @Test func aReaderThatGoesAwayIsNoError() {
    let channel = OutputChannel(isTerminal: false) { _ throws(SystemError) in
      throw SystemError(code: 32, operation: "write")
    }
    channel.write("one")
    channel.write("two")
    #expect(channel.isClosed)
    #expect(channel.failure == nil)
  }

  @Test func aFullDiskIsOne() {
    let full = SystemError(code: 28, operation: "write")
    let channel = OutputChannel(isTerminal: false) { _ throws(SystemError) in throw full }
    channel.write("one")
    #expect(channel.failure == full)
  }

  @Test func theBarShowsCountRateAndTimeLeft() {
    #expect(
      ProgressBar.text("replaying", done: 50, total: 100, elapsedSeconds: 2, columns: 80)
        == "replaying [############------------] 50/100  25/s  2 s left")
    #expect(
      ProgressBar.text("replaying", done: 3, total: 3, elapsedSeconds: 2, columns: 80)
        == "replaying [########################] 3/3  1.5/s")
    #expect(
      ProgressBar.text("replaying", done: 0, total: 0, elapsedSeconds: 0, columns: 80)
        == "replaying [########################] 0/0")
    #expect(
      ProgressBar.text("replaying", done: 50, total: 100, elapsedSeconds: 2, columns: 12) == "replaying …")
  }

  @Test func theBarIsDrawnOnATerminalOnlyAndNotTooOften() {
    let (terminal, pipe) = (Record(), Record())
    let clock = ManualClock()
    var bar = ProgressBar(
      "work", total: 10, on: Self.channel(terminal, isTerminal: true, columns: 60), clock: clock)
    var silent = ProgressBar("work", total: 10, on: Self.channel(pipe), clock: clock)
    for done in 0...9 {
      bar.update(done: done)
      silent.update(done: done)
      clock.advance(.milliseconds(50))
    }
    bar.finish()
    silent.finish()
    #expect(terminal.text.split(separator: "\r").count == 6)
    #expect(terminal.text.hasSuffix("\u{1B}[K\n"))
    #expect(pipe.text == "")
  }
}
