// The audit page: who changed what, and why. Pure; called from any thread.

internal import Domain
internal import HTML
internal import Presentation
internal import Store

/// The latest changes by operators.
struct AuditPage {
  static let pageSize = 50

  let records: [AuditRecord]
  /// The row after which the next page begins.
  let next: Int64?
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Audit", place: .audit) {
      Tag.h1 { "Audit" }
      if records.isEmpty {
        Tag.p(.class("empty")) { "There are no changes yet." }
      } else {
        table
      }
      if let next {
        Tag.nav(.class("pages"), .label("Pages")) {
          Tag.a(.class("next"), .href(Link("audit", query: [("after", String(next))]))) { "Next page" }
        }
      }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Changes by operators, newest first",
      [
        .init("When"), .init("Who", isLong: true), .init("What"), .init("Of", isLong: true),
        .init("Why", isLong: true),
      ])
    for record in records {
      let entry = record.entry
      let none = Tag.span(.class("none")) { "–" }
      let isReceipt = entry.subject.map { ReceiptID($0).isWellFormed }
      let subject = entry.subject.map { subject in
        isReceipt == true
          ? Tag.a(.href(Link("receipts", subject))) { PageParts.identifier(subject) }
          : PageParts.identifier(subject)
      }
      table.rows.append([
        PageParts.time(entry.at, now: now), PageParts.untrusted(entry.actor),
        PageParts.untrusted(entry.action),
        subject ?? entry.app.map(PageParts.untrusted) ?? none, entry.reason.map(PageParts.untrusted) ?? none,
      ])
    }
    return table.html
  }
}
