// `receiptctl audit`: lists the operators' changes.

internal import Domain
internal import Reports
internal import Store
internal import Terminal

enum AuditCommands {
  static let spec = CommandGroup("audit", summary: "Every change by an operator: when, who, what, why")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["audit", "list"], summary: "List changes, newest first",
        options: AuditFilter.options + Page.options(of: "change"),
        examples: [
          ExampleSpec("receiptctl audit list --since 1d", "All changes since yesterday"),
          ExampleSpec(
            "receiptctl audit list --subject rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM", "The changes of one receipt"),
        ]), run: list)
  ]

  private static func list(_ session: Session) throws -> ExitCode {
    let page = try Page(session)
    let configuration = try session.configuration()
    var filter: AuditFilter = try session.filter(configuration)
    if let after = page.after {
      guard let row = Int64(after), row > 0 else {
        throw session.usage("--after must be the number of a change")
      }
      filter.after = row
    }
    let reader = try session.reader(configuration)
    return try page.show(session, AuditExport.fields) {
      table($0, session)
    } word: { (last: Int64) in
      String(last)
    } fetch: { after, limit in
      filter.after = after ?? filter.after
      return ListPage(try reader.audit(filter, limit: limit + 1), limit: limit) { $0.row }
    }
  }

  private static func table(_ records: some Collection<AuditRecord>, _ session: Session) -> Table {
    var table = Table(
      [
        .init("NUMBER", alignment: .trailing), .init("WHEN"), .init("WHO"), .init("WHAT"), .init("APP"),
        .init("SUBJECT"), .init("DETAILS", canShrink: true), .init("REASON", canShrink: true),
      ], emptyMessage: "No changes.")
    for record in records {
      let entry = record.entry
      let details = AuditExport.details(entry)
      table.add([
        Table.Cell(String(record.row)), Table.Cell(session.relative(entry.at)), Table.Cell(entry.actor),
        Table.Cell(entry.action), Table.Cell(entry.app?.text ?? "-"), Table.Cell(entry.subject ?? "-"),
        Table.Cell(details.isEmpty ? "-" : details), Table.Cell(entry.reason ?? "-"),
      ])
    }
    return table
  }
}
