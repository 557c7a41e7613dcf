// Jobs, which work on many receipts, and their progress. Pure; called from any thread.

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
        .init("Job"), .init("What"), .init("State"), .init("Receipts", isNumber: true),
        .init("By", isLong: true),
        .init("Begun"),
      ])
    table.rows = jobs.map { job in
      [
        Tag.a(.href(Link("jobs", job.id.text))) { PageParts.identifier(job.id) },
        HTML(text: job.request.kind.rawValue),
        JobPage.badge(job), HTML(text: PageParts.number(Int64(job.total))),
        PageParts.untrusted(job.request.actor), PageParts.time(job.createdAt, now: now),
      ]
    }
    return table.html
  }
}

struct JobPage {
  static let refreshSeconds = 5

  let job: Job
  /// The apps whose stopped deliveries delay the job.
  let holds: [(place: AppDestination, breaker: Breaker)]
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(
      title: "Job \(job.id)", place: .jobs, refreshSeconds: job.endedAt == nil ? Self.refreshSeconds : nil
    ) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link("jobs"))) { "Jobs" } }
      Tag.h1(.class("id")) { PageParts.identifier(job.id) }
      Tag.p(.class("lead")) {
        Self.badge(job)
        " "
        sentence
      }
      for (place, breaker) in holds {
        PageParts.notice("pending") {
          Tag.p {
            "No receipt of "
            PageParts.untrusted(place.app)
            " is released while its deliveries to \(place.destination) are stopped, except one as the probe "
            "when nothing else of the app is due. "
            BreakerText(breaker, app: place.app.text, now: now, advice: nil).map { "They \($0.sentence)" }
              ?? ""
          }
        }
      }
      Tag.section(.class("card"), .labelledBy("facts")) {
        Tag.h2(.id("facts")) { "Request" }
        Tag.dl {
          row("what", HTML(text: job.request.kind.rawValue))
          if let rate = job.request.ratePerSecond { row("rate", HTML(text: "\(Self.text(rate)) a second")) }
          row("by", PageParts.untrusted(job.request.actor))
          if let reason = job.request.reason { row("why", PageParts.untrusted(reason)) }
          row("begun", PageParts.time(job.createdAt, now: now))
          if let ended = job.endedAt { row("ended", PageParts.time(ended, now: now)) }
        }
      }
      if !job.counts.isEmpty { table }
    }
  }

  private func row(_ name: String, _ value: HTML) -> HTML {
    Tag.div {
      Tag.dt { name }
      Tag.dd { value }
    }
  }

  /// Whole numbers are written without a fraction.
  private static func text(_ rate: Double) -> String {
    Int64(exactly: rate).map { PageParts.number($0) } ?? String(rate)
  }

  private var sentence: String {
    switch job.state {
    case .preparing: "Its receipts are being chosen."
    case .running: "It continues when this page is closed."
    case .paused: "It is paused. To resume it: receiptctl jobs resume \(job.id)"
    case .done: "Every receipt was processed."
    case .cancelled: "It was cancelled; receipts that it released before are still delivered."
    }
  }

  static func badge(_ job: Job) -> HTML {
    let kind =
      switch job.state {
      case .preparing, .running: "pending"
      case .paused: "waiting"
      case .done: "delivered"
      case .cancelled: "cancelled"
      }
    return Tag.span(.class("badge \(kind)")) { job.state.rawValue }
  }

  private var table: HTML {
    var table = DataTable(
      "Outcomes of its \(PageParts.counted(Int64(job.total), "receipt"))",
      [.init("Outcome"), .init("Reason"), .init("Receipts", isNumber: true)])
    table.rows = job.counts.map { count in
      [
        HTML(text: count.outcome.rawValue),
        count.reason.map(PageParts.untrusted) ?? Tag.span(.class("none")) { "–" },
        HTML(text: PageParts.number(Int64(count.count))),
      ]
    }
    return table.html
  }
}
