// The list of attempts to deliver, with filters and pages. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct AttemptsPage {
  static let pageSize = 50

  let search: ListSearch<AttemptFilter>
  let form: FilterForm<AttemptFilter>
  let page: ListPage<AttemptSummary, Int64>
  /// Nil if it is not known without comparing more attempts.
  let total: ListTotal?
  let now: Timestamp

  var html: DashboardPage {
    DashboardPage(title: "Attempts", place: .attempts) {
      Tag.h1 { "Attempts" }
      form.html
      if page.entries.isEmpty {
        if page.compared == nil {
          Tag.p(.class("empty")) { search.isFiltered ? "No attempt matches." : "Nothing was sent yet." }
        }
      } else {
        ListParts.summary(search, total, "attempt", now: now)
        table
      }
      ListParts.pages(search, page, entries: "attempts") { String($0) }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Newest first",
      [
        .init("Receipt"), .init("Answer", isLong: true), .init("Took", isNumber: true), .init("App"),
        .init("Destination"), .init("Attempt", isNumber: true), .init("Begun"),
      ])
    table.rows = page.entries.map { attempt in
      [
        attempt.receiptID.map { NamedID.receipt($0).html } ?? Tag.span(.class("none")) { "–" },
        answer(attempt.report), HTML(text: LatencyText.time(attempt.report.duration)),
        PageParts.untrusted(attempt.app), PageParts.untrusted(attempt.destination),
        HTML(text: PageParts.number(attempt.number)),
        PageParts.time(attempt.report.startedAt, now: now),
      ]
    }
    return table.html
  }

  private func answer(_ report: AttemptReport) -> HTML {
    HTML {
      Tag.span(.class("badge \(report.isAcceptance ? "delivered" : "failed")")) {
        report.status.map { String($0) } ?? "no answer"
      }
      if !report.isAcceptance {
        " "
        Tag.span(.class("reason")) { PageParts.untrusted(report.answerText) }
      }
    }
  }
}
