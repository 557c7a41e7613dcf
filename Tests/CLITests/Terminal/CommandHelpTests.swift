import Testing

@testable import Terminal

@Suite struct CommandHelpTests {
  typealias Samples = CommandSamples

  private func shown(_ line: String, _ program: ProgramSpec = Samples.program) throws -> String {
    guard case .show(let text) = try Samples.parse(line, program) else {
      throw UsageError("not help: \(line)")
    }
    return text
  }

  @Test(arguments: ["--help", "-h", "help", "--json --help"])
  func theProgramsHelp(line: String) throws {
    #expect(
      try shown(line) == """
        relayctl - Look into a relay

        Usage: relayctl [OPTIONS] GROUP VERB …

        Reads the database of the relay on this machine.

        Commands:
          receipts  Messages to the destination
          events    Webhooks
          stats     Show numbers

        Options:
          -c, --config PATH  The configuration file
              --json         One JSON object per line
          -h, --help         Show this help
              --version      Show the version

        Examples:
          # The newest receipts
          relayctl receipts list

        Help on a command: relayctl help GROUP [VERB]

        """)
  }

  @Test(arguments: ["receipts --help", "-h receipts", "help receipts"])
  func aGroupsHelp(line: String) throws {
    #expect(
      try shown(line) == """
        relayctl receipts - Messages to the destination

        Usage: relayctl receipts VERB …

        Verbs:
          list    List receipts, newest first
          replay  Deliver receipts again
          show    Show one receipt

        Options of every command:
          -c, --config PATH  The configuration file
              --json         One JSON object per line
          -h, --help         Show this help
              --version      Show the version

        Examples:
          # Receipts that need attention
          relayctl receipts list --state failed
          # Try all failed ones again
          relayctl receipts replay --state failed --yes
          # Its story
          relayctl receipts show rcp_1

        Help on a verb: relayctl receipts VERB --help

        """)
  }

  @Test(arguments: [
    "receipts replay --help", "receipts --help replay x", "help receipts replay", "receipts replay --why -h",
  ])
  func aVerbsHelp(line: String) throws {
    #expect(
      try shown(line) == """
        relayctl receipts replay - Deliver receipts again

        Usage: relayctl receipts replay [OPTIONS] [ID…]

        Puts receipts back to pending, due now, with a fresh retry budget and their
        history kept.

        Arguments:
          [ID…]  the receipts

        Options:
          -y, --yes       Do not ask
          -w, --wait      Follow
              --rate N    Spread them
              --why TEXT  Why

        Options of every command:
          -c, --config PATH  The configuration file
              --json         One JSON object per line
          -h, --help         Show this help
              --version      Show the version

        Examples:
          # Try all failed ones again
          relayctl receipts replay --state failed --yes

        """)
  }

  @Test func theHelpOfAProgramWithoutVerbs() throws {
    let text = try shown("--help", Samples.daemon)
    #expect(text.hasPrefix("relayd - Run the relay\n\nUsage: relayd [OPTIONS]\n\nOptions:\n"))
    #expect(text.contains("      --check        Check the configuration and end\n"))
    #expect(text.contains("Examples:\n"))
    #expect(CommandHelp(Samples.daemon).text == text)
  }

  @Test func everyHelpHasAnExampleAndFitsEightyColumns() throws {
    let help = CommandHelp(Samples.program)
    let texts =
      [help.text] + Samples.program.groups.compactMap { help.text(ofGroup: $0.name) }
      + Samples.program.commands.map { help.text(of: $0) }
    for text in texts {
      #expect(text.contains("\nExamples:\n  # "))
      for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
  }

  @Test func choicesAndRepetitionAreSaid() throws {
    let text = try shown("receipts list --help")
    #expect(text.contains("(waiting, pending,"))
    #expect(text.contains("Only those of this app; may be given several times"))
  }
}
