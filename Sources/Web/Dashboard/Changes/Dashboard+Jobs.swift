// Replays of many receipts: each is a job, which continues after the request and after a restart.

internal import Config
internal import Domain
internal import Formats
internal import Service
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

  /// A job with the rate of its apps' deliveries.
  func pacedJob(_ id: JobID, _ reader: StoreReader) throws(StoreFault) -> Job? {
    guard var job = try reader.job(id: id) else { return nil }
    let apps = try reader.plannedApps(ofJob: job.row)
    job.deliveriesPerSecond = health.configuration.deliveryRate(of: apps)
    return job
  }

  func job(_ id: String, _ form: AdminForm, isLive: Bool) throws(Refusal) -> DashboardPage {
    let now = now
    let page = try read { source throws(StoreFault) -> JobPage? in
      guard let job = try pacedJob(JobID(id), source.reader) else { return nil }
      return JobPage(
        job: job, holds: try source.reader.holds(job, now: now), done: form["done"], isLive: isLive, now: now)
    }
    guard let page else { throw .problem(.unknownJob) }
    return page.page
  }
}

extension StoreReader {
  /// The most jobs of one state that pages compare with failures.
  private static let comparedMax = 20

  /// The replays that have not ended.
  func openReplays() throws(StoreFault) -> [Job] {
    guard !(try openJobs().isEmpty) else { return [] }
    var found: [Job] = []
    for state in [JobState.running, .preparing, .paused] {
      var filter = JobFilter()
      filter.state = state
      found += try jobs(filter, limit: Self.comparedMax).filter { $0.request.kind == .replay }
    }
    return found
  }
}

extension Job {
  /// Whether it sends receipts of the group again.
  func replays(_ group: FailureGroup) -> Bool {
    guard request.kind == .replay, case .filter(let filter, _) = request.source else { return false }
    return [nil, group.app].contains(filter.app) && [nil, group.processor].contains(filter.processor)
      && [nil, .failed].contains(filter.state) && [nil, group.reason].contains(filter.reason)
      && [nil, group.cause ?? ""].contains(filter.cause)
  }
}

extension Problem {
  static let unknownJob = Problem(
    slug: "unknown-job", title: "No such job", status: 404,
    detail: "There is no job with this id, or it was deleted.")
}
