// `receiptctl attempts`: every attempt to deliver a receipt, with its answer and how long it took.

internal import Domain
internal import Formats
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
        ]), run: list)
  ]

  private static func list(_ session: Session) throws -> ExitCode {
    let page = try Page(session)
    let configuration = try session.configuration()
    var filter: AttemptFilter = try session.filter(configuration)
    if let after = page.after {
      guard let row = Int64(after), row > 0 else {
        throw session.usage("--after must be the number of an attempt")
      }
      filter.after = row
    }
    let reader = try session.reader(configuration)
    return try page.show(session, AttemptExport.fields, entries: "attempts") {
      table($0, session)
    } word: { (last: Int64) in
      String(last)
    } fetch: { after, limit in
      filter.after = after ?? filter.after
      return try reader.attempts(filter, limit: limit)
    }
  }

  private static func table(_ attempts: some Collection<AttemptSummary>, _ session: Session) -> Table {
    var table = Table(
      [
        .init("RECEIPT"), .init("APP"), .init("DESTINATION", canDrop: true),
        .init("ATTEMPT", alignment: .trailing, canDrop: true), .init("ANSWER", canShrink: true),
        .init("TOOK", alignment: .trailing), .init("WHEN"),
      ], emptyMessage: "No attempts.")
    for attempt in attempts {
      let report = attempt.report
      let isSlow = report.duration >= .seconds(1)
      table.add([
        Table.Cell(attempt.receiptID?.text ?? "-"), Table.Cell(attempt.app.text),
        Table.Cell(attempt.destination.text), Table.Cell(count: attempt.number),
        Table.Cell(report.answerText, report.isAcceptance ? .plain : .red),
        Table.Cell(LatencyText.time(report.duration), isSlow ? .yellow : .plain),
        Table.Cell(session.relative(report.startedAt)),
      ])
    }
    return table
  }
}
