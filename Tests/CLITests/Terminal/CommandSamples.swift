// A small program whose table has one of each element.

import Terminal

enum CommandSamples {
  static let states = ["waiting", "pending", "delivered", "failed", "cancelled"]

  static let program = ProgramSpec(
    name: "relayctl", version: "1.2.3", origin: "3fbd2d21, 2026-11-27", summary: "Look into a relay",
    discussion: "Reads the database of the relay on this machine.",
    options: [
      OptionSpec("config", short: "c", placeholder: "PATH", help: "The configuration file"),
      OptionSpec(flag: "json", help: "One JSON object per line"),
    ],
    groups: [
      CommandGroup("receipts", summary: "Messages to the destination"),
      CommandGroup("events", summary: "Webhooks"),
    ],
    commands: [
      CommandSpec(
        ["receipts", "list"], summary: "List receipts, newest first",
        options: [
          OptionSpec("state", placeholder: "STATE", help: "Only those in this state", choices: states),
          OptionSpec("app", placeholder: "APP", help: "Only those of this app", isRepeatable: true),
          OptionSpec("limit", short: "n", placeholder: "N", help: "At most N"),
          OptionSpec("since", placeholder: "TIME", help: "Only those made since"),
        ],
        examples: [ExampleSpec("relayctl receipts list --state failed", "Receipts that need attention")]),
      CommandSpec(
        ["receipts", "replay"], summary: "Deliver receipts again",
        discussion:
          "Puts receipts back to pending, due now, with a fresh retry budget and their history kept.",
        arguments: [ArgumentSpec("ID", help: "the receipts", isRequired: false, isRepeatable: true)],
        options: [
          OptionSpec(flag: "yes", short: "y", help: "Do not ask"),
          OptionSpec(flag: "wait", short: "w", help: "Follow"),
          OptionSpec("rate", placeholder: "N", help: "Spread them"),
          OptionSpec("why", placeholder: "TEXT", help: "Why"),
        ],
        examples: [
          ExampleSpec("relayctl receipts replay --state failed --yes", "Try all failed ones again")
        ]),
      CommandSpec(
        ["receipts", "show"], summary: "Show one receipt",
        arguments: [ArgumentSpec("ID", help: "the receipt")],
        examples: [ExampleSpec("relayctl receipts show rcp_1", "Its story")]),
      CommandSpec(
        ["events", "list"], summary: "List events",
        // The same name is a flag elsewhere; here it has a value.
        options: [OptionSpec("wait", placeholder: "TIME", help: "How long")],
        examples: [ExampleSpec("relayctl events list", "The newest")]),
      CommandSpec(
        ["stats"], summary: "Show numbers", options: [OptionSpec(flag: "watch", help: "Go on until stopped")],
        examples: [ExampleSpec("relayctl stats --watch", "Look on")]),
    ],
    examples: [ExampleSpec("relayctl receipts list", "The newest receipts")])

  static let daemon = ProgramSpec(
    name: "relayd", version: "1.2.3", summary: "Run the relay",
    options: [OptionSpec("config", placeholder: "PATH", help: "The configuration file")],
    commands: [
      CommandSpec(
        [], summary: "Run the relay",
        options: [OptionSpec(flag: "check", help: "Check the configuration and end")],
        examples: [ExampleSpec("relayd --check", "Is the configuration fine?")])
    ],
    examples: [ExampleSpec("relayd --check", "Is the configuration fine?")])

  /// Splits at spaces; for lines without quotes.
  static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  static func parse(_ line: String, _ program: ProgramSpec = program) throws(UsageError) -> Invocation {
    try CommandParser(program).parse(words(line))
  }

  static func run(_ line: String, _ program: ProgramSpec = program) throws(UsageError) -> ParsedCommand {
    guard case .run(let command) = try parse(line, program) else { throw UsageError("no command: \(line)") }
    return command
  }

  /// The error message for a line; empty when the line is valid.
  static func refusal(_ line: String, _ program: ProgramSpec = program) -> String {
    do {
      _ = try parse(line, program)
      return ""
    } catch {
      return error.message
    }
  }
}
