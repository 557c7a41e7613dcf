// The list of operators' changes. Pure, but for reading it; called from any thread.

public import Domain
internal import Formats
public import Store

/// Changes by operators, newest first.
public enum AuditResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "audit", one: "change", emptyPage: "There are no changes yet.", fields,
    table: ["number", "at", "actor", "action", "app", "subject", "details", "reason"],
    page: ["at", "actor", "action", "about", "details", "reason"])

  private static let fields: [ListField<AuditRecord>] = [
    .number("number") { $0.row }.titled("Number") { .text(String($0.row)) },
    .time("at") { $0.entry.at }.titled("When") { .moment($0.entry.at) },
    .text("actor") { $0.entry.actor }.titled("Who", .wraps),
    .text("action") { $0.entry.action }.titled("What"), .app { $0.entry.app }.titled("App"),
    .text("subject") { $0.entry.subject }.titled("Subject"),
    .shown("about").titled("About", .wraps) { record in
      record.entry.subject.map(subject) ?? record.entry.app.map { .app($0) }
    },
    .text("reason") { $0.entry.reason }.titled("Why", heading: "REASON", .long),
    // Written by receiptd; edited text is not shown.
    .json("details") { (try? JSONValue(parsing: Array($0.entry.details.utf8))) ?? [:] }
      .titled("Details", .long) { record in
        let details = details(record.entry)
        return details.isEmpty ? nil : .text(details)
      },
  ]

  private static func subject(_ id: String) -> ListCell {
    if ReceiptID(id).isWellFormed { return .id(.receipt(ReceiptID(id))) }
    if JobID(id).isWellFormed { return .id(.job(JobID(id))) }
    return ContextID(id).isWellFormed ? .id(.context(ContextID(id))) : .identifier(id)
  }

  /// What the change was, for people: `rate 2`, `reason http_422, processor NAME`. Empty without details.
  static func details(_ entry: AuditEntry) -> String {
    guard case .object(let members)? = try? JSONValue(parsing: Array(entry.details.utf8)) else { return "" }
    return members.filter { $0.value != .null }.map {
      "\($0.name.replacing("_", with: " ")) \(text($0.value))"
    }
    .joined(separator: ", ")
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .array(let values): values.map(text).joined(separator: " ")
    case .object(let members): members.map { "\($0.name) \(text($0.value))" }.joined(separator: " ")
    default: value.stringValue ?? value.text
    }
  }
}

extension AuditFilter: ListFilter {
  public static var resource: Resource<AuditRecord> { AuditResource.list }

  public func read(
    _ reader: StoreReader, limit: Int, now _: Timestamp
  ) throws(StoreFault) -> ListPage<AuditRecord, Int64> {
    try reader.auditPage(self, limit: limit)
  }

  public static let fields: [FilterField<AuditFilter>] =
    [
      .id("subject", "ID", "Receipt, event or job", "Only those of this receipt, event or job") {
        $0.subject = $1
      },
      .id("who", "NAME", "Who", "Only those by this operator") { $0.actor = $1 },
      .id("what", "COMMAND", "What", "Only those with this command or group, such as 'apps pause' or apps") {
        $0.action = $1
      },
    ] + FilterField.times("made", since: { $0.since = $1 }, until: { $0.until = $1 })
}
