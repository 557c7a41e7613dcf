import Platform
import Terminal
import Testing

@testable import CLI

@Suite struct HelpTests {
  @Test func theTableIsWhole() {
    #expect(OperatorProgram.spec.flaws == [])
  }

  @Test func theProgramsHelp() throws { Snapshot.check(try OperatorHarness().run("--help").out, "help") }

  @Test func `The help fits on a small terminal, and is what the program prints without a command`() throws {
    let help = try OperatorHarness().run("--help").out
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count <= 24)
    #expect(lines.allSatisfy { DisplayText.width(of: String($0)) <= 80 })
    let bare = try OperatorHarness().run()
    #expect(bare.code == .done)
    #expect(bare.out == help)
    let whole = try OperatorHarness().run("help", "all").out
    for topic in CommandHelp(OperatorProgram.spec).topics { #expect(whole.contains("\n  \(topic.name) ")) }
  }

  @Test(arguments: OperatorProgram.spec.groups.map(\.name))
  func aGroupsHelp(group: String) throws {
    Snapshot.check(try OperatorHarness().run("help", group).out, "help-\(group)")
  }

  @Test(arguments: OperatorProgram.spec.commands.map(\.path))
  func aCommandsHelp(path: [String]) throws {
    let help = CommandHelp(OperatorProgram.spec)
    let command = try #require(OperatorProgram.spec.commands.first { $0.path == path })
    Snapshot.check(help.text(of: command), "help-" + path.joined(separator: "-"))
    // Every example must parse.
    for example in command.examples {
      let words = example.line.split(separator: " | ").first?.split(separator: " ").dropFirst().map(
        String.init)
      #expect(try CommandParser(OperatorProgram.spec).parse(Self.unquoted(words ?? [])) != .show(""))
    }
  }

  /// Joins words in single quotes and in `$(…)`, as a shell does.
  private static func unquoted(_ words: [String]) -> [String] {
    var joined: [String] = []
    var isOpen = false
    for word in words {
      let text = word.filter { $0 != "'" }
      if isOpen { joined[joined.count - 1] += " \(text)" } else { joined.append(text) }
      if word.count(where: { $0 == "'" }) == 1 { isOpen.toggle() }
      if word.contains("$(") || word.contains(")") { isOpen.toggle() }
    }
    return joined
  }

  @Test(
    arguments: [
      ["receipts", "lst"], ["receipts"], ["recipts", "list"], ["receipts", "list", "--stat", "failed"],
      ["receipts", "list", "--state", "broken"], ["receipts", "list", "--limit", "0"], ["receipts", "show"],
      ["receipts", "list", "--since", "yesterday"], ["receipts", "list", "--after", "sub_1"],
      ["receipts", "replay"], ["receipts", "replay", "rcp_1", "--state", "failed"],
      ["receipts", "replay", "--app", "ios"], ["receipts", "replay", "--state", "failed", "--rate", "fast"],
      ["receipts", "cancel", "rcp_1"], ["receipts", "cancel", "rcp_1", "--why", " "],
      ["receipts", "complete", "rcp_1", "--user", "a\u{7}b"],
      ["receipts", "complete", "rcp_1", "rcp_2", "--user", "ann"],
      ["receipts", "complete", "rcp_1", "rcp_2"],
      ["receipts", "complete", "--price", "price_1"], ["receipts", "replay", "-", "rcp_1"],
      ["receipts", "cancel", "--why", "w"], ["jobs", "list", "--after", "rcp_1"],
    ])
  func aSlipIsUsageAndSaysWhereHelpIs(arguments: [String]) throws {
    let harness = try OperatorHarness()
    let (result, notes) = (Record(), Record())
    let output = Output(
      program: "receiptctl", result: OutputChannel(isTerminal: false) { result.add($0) },
      notes: OutputChannel(isTerminal: false) { notes.add($0) }, environment: .init([:]),
      isInputTerminal: false,
      answer: { nil })
    let all = ["--config", harness.configurationPath] + arguments
    #expect(OperatorProgram.run(all, in: OperatorDependencies(output: output)) == .usage)
    #expect(result.text == "")
    #expect(notes.text.hasPrefix("receiptctl: "))
    #expect(notes.text.contains("\nSee: receiptctl"))
  }
}
