// The audit page: who changed what, and why. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// The latest changes by operators.
struct AuditPage {
  static let pageSize = 50

  let search: ListSearch<AuditFilter>
  let page: ListPage<AuditRecord, Int64>
  let now: Timestamp

  var html: DashboardPage {
    DashboardPage(title: "Audit", place: .audit) {
      Tag.h1 { "Audit" }
      FilterForm(search: search).html
      if page.entries.isEmpty {
        Tag.p(.class("empty")) { search.isFiltered ? "No change matches." : "There are no changes yet." }
      } else {
        ListParts.summary(search, nil, "change", now: now)
        table
      }
      ListParts.pages(search, page) { String($0) }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Changes by operators, newest first",
      [
        .init("When"), .init("Who", isLong: true), .init("What"), .init("About", isLong: true),
        .init("Details", isLong: true), .init("Why", isLong: true),
      ])
    for record in page.entries {
      let entry = record.entry
      let details = AuditExport.details(entry)
      let none = Tag.span(.class("none")) { "–" }
      let subject = entry.subject.map { subject in
        Self.named(subject)?.html ?? PageParts.identifier(subject)
      }
      let app = entry.app.map { app in Tag.a(.href(Link("apps", app.text))) { PageParts.untrusted(app) } }
      table.rows.append([
        PageParts.exact(entry.at, now: now), PageParts.untrusted(entry.actor),
        PageParts.untrusted(entry.action),
        subject ?? app ?? none, details.isEmpty ? none : PageParts.untrusted(details),
        entry.reason.map(PageParts.untrusted) ?? none,
      ])
    }
    return table.html
  }

  /// What a subject is the id of; nil if that is not known.
  private static func named(_ subject: String) -> NamedID? {
    if ReceiptID(subject).isWellFormed { return .receipt(ReceiptID(subject)) }
    if JobID(subject).isWellFormed { return .job(JobID(subject)) }
    return ContextID(subject).isWellFormed ? .context(ContextID(subject)) : nil
  }
}
