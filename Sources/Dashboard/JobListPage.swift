// The list of jobs, which work on many receipts. Pure; called from any thread.

internal import Domain
internal import HTML
internal import Presentation
internal import Store

/// The jobs, newest first.
struct JobListPage {
  static let pageSize = 50

  let jobs: [Job]
  let hasMore: Bool
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Jobs", place: .jobs) {
      Tag.h1 { "Jobs" }
      if jobs.isEmpty {
        Tag.p(.class("empty")) {
          "There are no jobs. Replaying a group of failed receipts starts one."
        }
      } else {
        table
      }
      if hasMore, let last = jobs.last {
        Tag.nav(.class("pages"), .label("Pages")) {
          Tag.a(.class("next"), .href(Link("jobs", query: [("after", last.id.text)]))) { "Next page" }
        }
      }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Newest first",
      [
        .init("Job"), .init("What", isLong: true), .init("State"), .init("Done", isNumber: true),
        .init("Of", isNumber: true),
        .init("By", isLong: true),
        .init("Begun"),
      ])
    table.rows = jobs.map { job in
      [
        Tag.a(.href(Link("jobs", job.id.text))) { PageParts.identifier(job.id) },
        PageParts.untrusted(JobDescription.asked(job)),
        JobPage.badge(job), HTML(text: PageParts.number(Int64(job.processed))),
        HTML(text: PageParts.number(Int64(job.total))),
        PageParts.untrusted(job.request.actor), PageParts.time(job.createdAt, now: now),
      ]
    }
    return table.html
  }
}
