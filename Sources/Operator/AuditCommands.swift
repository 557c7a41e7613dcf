// `receiptctl audit`: lists the operators' changes.

internal import Domain
internal import JSON
internal import Store
internal import Terminal

enum AuditCommands {
  static let spec = CommandGroup("audit", summary: "Every change by an operator: when, who, what, why")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["audit", "list"], summary: "List changes, newest first",
        options: [
          OptionSpec("subject", placeholder: "ID", help: "Only those of this receipt, event or job")
        ] + Page.timeOptions("made") + Page.options(of: "change"),
        examples: [
          ExampleSpec("receiptctl audit list --since 1d", "All changes since yesterday"),
          ExampleSpec(
            "receiptctl audit list --subject rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM", "The changes of one receipt"),
        ]), run: list)
  ]

  private static func list(_ session: Session) throws -> ExitCode {
    let page = try Page(session)
    let configuration = try session.configuration()
    var filter = AuditFilter()
    filter.subject = session.command.options["subject"]
    filter.since = try session.time("since")
    filter.until = try session.time("until")
    if let after = page.after {
      guard let row = Int64(after), row > 0 else {
        throw session.usage("--after must be the number of a change")
      }
      filter.after = row
    }
    let found = try session.reader(configuration).audit(filter, limit: page.fetchLimit)
    let shown = found.prefix(page.limit)
    if session.isJSON {
      for record in shown { session.output.json(json(record)) }
    } else {
      session.output.table(table(shown, session))
    }
    try page.note(fetched: found.count, last: shown.last.map { String($0.row) }, session)
    return .done
  }

  private static func json(_ record: AuditRecord) -> JSONValue {
    let entry = record.entry
    return [
      "number": .integer(record.row), "at": .time(entry.at), "actor": .string(entry.actor),
      "action": .string(entry.action), "app": .optional(entry.app?.text), "subject": .optional(entry.subject),
      "reason": .optional(entry.reason), "details": details(of: entry) ?? [:],
    ]
  }

  private static func details(of entry: AuditEntry) -> JSONValue? {
    try? JSONValue(parsing: Array(entry.details.utf8))  // written by receiptd; edited text is not shown
  }

  private static func table(_ records: some Collection<AuditRecord>, _ session: Session) -> Table {
    var table = Table(
      [
        .init("NUMBER", alignment: .trailing), .init("WHEN"), .init("WHO"), .init("WHAT"), .init("APP"),
        .init("SUBJECT"), .init("REASON", canShrink: true),
      ], emptyMessage: "No changes.")
    for record in records {
      let entry = record.entry
      table.add([
        Table.Cell(String(record.row)), Table.Cell(session.relative(entry.at)), Table.Cell(entry.actor),
        Table.Cell(entry.action), Table.Cell(entry.app?.text ?? "-"), Table.Cell(entry.subject ?? "-"),
        Table.Cell(entry.reason ?? "-"),
      ])
    }
    return table
  }
}
