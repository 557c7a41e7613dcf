// The list of jobs, which work on many receipts. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// The jobs, newest first.
struct JobListPage {
  static let pageSize = 50

  let search: ListSearch<JobFilter>
  let page: ListPage<Job, JobID>
  let now: Timestamp

  var html: DashboardPage {
    DashboardPage(title: "Jobs", place: .jobs) {
      Tag.h1 { "Jobs" }
      FilterForm(search: search).html
      if page.entries.isEmpty {
        Tag.p(.class("empty")) {
          search.isFiltered
            ? "No job matches." : "There are no jobs. Replaying a group of failed receipts starts one."
        }
      } else {
        Tag.p(.class("summary")) { ListParts.exports(search) }
        table
      }
      ListParts.pages(search, page) { $0.text }
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
    table.rows = page.entries.map { job in
      [
        NamedID.job(job.id).html,
        PageParts.untrusted(JobDescription.asked(job)),
        JobPage.badge(job), HTML(text: PageParts.number(Int64(job.processed))),
        HTML(text: PageParts.number(Int64(job.total))),
        PageParts.untrusted(job.request.actor), PageParts.time(job.createdAt, now: now),
      ]
    }
    return table.html
  }
}
