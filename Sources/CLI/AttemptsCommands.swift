// `receiptctl attempts`: every attempt to deliver a receipt, with its answer and how long it took.

internal import Reports
internal import Store
internal import Terminal

enum AttemptsCommands {
  static let spec = CommandGroup("attempts", summary: "Attempts to deliver receipts")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["attempts", "list"], summary: "List attempts, newest first",
        discussion: """
          Each attempt with the destination's answer and how long it took. An attempt without an answer has \
          an error instead of a status. The answer's body is in receiptctl receipts show.
          """,
        options: AttemptFilter.options + Page.options(of: "attempt"),
        examples: [
          ExampleSpec("receiptctl attempts list --failed --since 1h", "What failed in the last hour"),
          ExampleSpec("receiptctl attempts list --app shop --since 1h --slower 1s", "Slow answers"),
          ExampleSpec("receiptctl attempts list --status 5xx", "Errors of the destination"),
        ]), run: { try $0.list(AttemptFilter.self) })
  ]
}
