// Replays of many receipts: each is a job, which continues after the request and after a restart.

internal import Domain
internal import HTML
internal import HTTPService
internal import Store

extension Dashboard {
  /// Starts the job, then redirects to its page.
  /// - Parameter rate: receipts per second.
  func replay(
    _ group: FailureGroup, rate: Double, _ words: String?, _ visitor: String, _ exchange: Exchange
  ) {
    var filter = ReceiptFilter()
    filter.app = group.app
    filter.processor = group.processor
    filter.state = .failed
    filter.reason = group.reason
    filter.cause = group.cause ?? ""
    let request = JobRequest(
      kind: .replay, source: .filter(filter, limit: nil), ratePerSecond: rate, actor: visitor, reason: words)
    let now = now
    let command = Audited(StartJob(request)) { job in
      AuditEntry(
        at: now, actor: visitor, action: "receipts replay", app: group.app, subject: job.id.text,
        reason: words)
    }
    apply(command, app: group.app, exchange) { job in .success(Link("jobs", job.id.text)) }
  }

  func job(_ id: String, _ form: AdminForm, isLive: Bool) throws(Refusal) -> DashboardPage {
    let now = now
    let page = try read { source throws(StoreFault) -> JobPage? in
      guard let job = try source.reader.job(id: JobID(id)) else { return nil }
      return JobPage(
        job: job, holds: try source.reader.holds(job, now: now), done: form["done"], isLive: isLive, now: now)
    }
    guard let page else { throw .problem(.unknownJob) }
    return page.page
  }
}

extension Problem {
  static let unknownJob = Problem(
    slug: "unknown-job", title: "No such job", status: 404,
    detail: "There is no job with this id, or it was deleted.")
}
