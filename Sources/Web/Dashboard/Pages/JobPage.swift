// A job: what it was asked to do, how far it is, and what an operator can do with it. Pure; called from any
// thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct JobPage {
  let job: Job
  /// What delays the job.
  let holds: [JobHold]
  let mayChange: Bool
  /// The change that has just been made.
  var done: String?
  let isLive: Bool
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Job \(job.id)", place: .jobs) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link("jobs"))) { "Jobs" } }
      Tag.h1(.class("id")) { PageParts.identifier(job.id) }
      Tag.p(.class("lead")) { sentence }
      if let done = done.flatMap(JobChange.init) { PageParts.notice("good") { Tag.p { done.outcome } } }
      for hold in holds { notice(hold) }
      LiveBlock(
        title: "Progress, renewed every \(Dashboard.liveJobSeconds) seconds", name: "job",
        source: Link("live", "jobs", job.id.text), content: JobProgress(job: job).html
      ).html(isLive: isLive && job.endedAt == nil)
      if mayChange { actions }
      Tag.section(.class("card"), .labelledBy("facts")) {
        Tag.h2(.id("facts")) { "Request" }
        Tag.dl {
          PageParts.fact("what", PageParts.untrusted(JobDescription.asked(job)))
          PageParts.fact("rate", HTML(text: JobDescription.pace(job)))
          PageParts.fact("by", PageParts.untrusted(job.request.actor))
          if let reason = job.request.reason { PageParts.fact("why", PageParts.untrusted(reason)) }
          PageParts.fact("begun", PageParts.exact(job.createdAt, now: now))
          if let ended = job.endedAt { PageParts.fact("ended", PageParts.exact(ended, now: now)) }
        }
      }
      if !job.counts.isEmpty { table }
    }
  }

  private func notice(_ hold: JobHold) -> HTML {
    PageParts.notice("pending") {
      Tag.p {
        "No receipt of "
        Tag.a(.href(Link("apps", hold.app.text))) { PageParts.untrusted(hold.app) }
        switch hold {
        case .pause(_, let pause):
          " is released while its deliveries are paused. They "
          PageParts.untrusted(PauseText(pause, app: hold.app.text, now: now)?.sentence ?? "are paused.")
        case .breaker(let place, let breaker):
          " is released while its deliveries to \(place.destination) are stopped, except one as the probe "
          "when nothing else of the app is due. "
          BreakerText(breaker, app: place.app.text, now: now, advice: nil).map { "They \($0.sentence)" } ?? ""
        }
      }
    }
  }

  private var actions: HTML {
    let changes = JobChange.allCases.filter { $0.isPossible(in: job.state) }
    guard !changes.isEmpty else { return HTML() }
    return Tag.div(.class("actions")) {
      for change in changes {
        Tag.a(
          .class(change == .cancel ? "button quiet danger" : "button quiet"),
          .href(Link("jobs", job.id.text, change.rawValue))
        ) { change.label }
      }
    }
  }

  private var sentence: String {
    switch job.state {
    case .preparing: "Its receipts are being chosen."
    case .running: "It continues when this page is closed."
    case .paused: "It is paused: no further receipt is released."
    case .done:
      job.missed.isEmpty
        ? "It is done." : "It is \(JobDescription.state(job)); the table says why."
    case .cancelled: "It was cancelled; receipts that it released before are still delivered."
    }
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

/// The state of a job, and how much is done. The bar only repeats the text.
struct JobProgress {
  let job: Job

  var html: HTML {
    HTML {
      Tag.p {
        PageParts.badge(JobDescription.state(job), job.tone)
        " \(PageParts.number(Int64(job.processed))) of \(PageParts.counted(Int64(job.total), "receipt")): "
        JobDescription.outcomes(job)
        "."
      }
      if job.total > 0, job.endedAt == nil {
        Tag.progress(
          .value(String(job.processed)), Attribute("max", String(job.total)), .label("Receipts processed")
        ) { "" }
      }
    }
  }
}
