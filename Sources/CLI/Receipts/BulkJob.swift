// A bulk command as a job: this program selects the receipts and releases them as far as it can without
// waiting, so that it works while receiptd is down; receiptd does the rest.

internal import Domain
internal import Formats
internal import Store
internal import Terminal

struct BulkJob {
  private let bulk: BulkChange
  private let session: Session
  private let writer: StoreWriter

  init(_ bulk: BulkChange) throws {
    self.bulk = bulk
    session = bulk.session
    writer = try session.writer(bulk.configuration)
  }

  func run() throws -> ExitCode {
    let started = try start()
    // At once, so that the operator has the id whatever happens; on stderr, so that the result is one JSON
    // object.
    session.output.note("Job \(started.id); it continues without this program.")
    do {
      try prepare(started)
      if bulk.rate == nil { try release(started) }
    } catch let error as StoreFault {
      let fault = OperatorFault(error)
      throw OperatorFault(
        fault.code,
        "\(fault.message); changes that the job made stay, and the rest continues: receiptctl jobs watch "
          + started.id.text)
    }
    session.wakeDaemon(bulk.configuration)
    var failed = false
    if session.command.flag("wait") {
      var follow = JobFollow(session, bulk.configuration, bulk.reader, started.id)
      guard let job = try follow.run() else { return .tryAgain }
      failed = job.missed.contains { $0.outcome != .skipped } || job.state == .cancelled
    }
    let job = try bulk.reader.job(id: started.id) ?? started
    try addRefusals(job)
    let isPaced = job.endedAt == nil && (bulk.rate != nil || job.count(.planned) > 0)
    if isPaced, !session.command.flag("wait") { try noteContinuation(started) }
    let code = try bulk.conclude(ids: try ids(job), paced: isPaced ? job : nil)
    return failed ? .partly : code
  }

  private func start() throws -> Job {
    let command = session.command
    var source = bulk.plan.choice.source
    if case .ids = source { source = .ids(count: bulk.plan.count) }
    let request = JobRequest(
      kind: bulk.plan.kind, source: source, force: command.flag("force"), ratePerSecond: bulk.rate,
      priceID: bulk.price, userID: bulk.user, actor: session.dependencies.actor, reason: bulk.why)
    var app: AppSlug?
    if case .filter(let filter, _) = source { app = filter.app }
    let rate = bulk.rate.map { JSONValue.number($0) } ?? .null
    let entry = session.auditEntry(
      app: app, reason: bulk.why,
      details: ["receipts": .integer(Int64(bulk.plan.count)), "rate": rate, "force": .bool(request.force)])
    return try writer.apply(
      Audited(StartJob(request)) { job in
        var entry = entry
        entry.subject = job.id.text
        return entry
      }, now: session.moment)
  }

  /// Selects the receipts.
  private func prepare(_ job: Job) throws {
    guard case .ids = job.request.source else {
      try work(on: job, "choosing", total: bulk.plan.count) { $0.state == .preparing ? $0.total : nil }
      return
    }
    // The newest first, as a filter finds them.
    var rest = bulk.plan.receipts.reversed().map(\.id)[...]
    var mark: String?
    repeat {
      let slice = Array(rest.prefix(ExtendJob.slice))
      rest = rest.dropFirst(slice.count)
      let next = String(rest.count)
      let extend = ExtendJob(job: job.id, from: mark, to: next, receipts: slice, isLast: rest.isEmpty)
      guard try writer.apply(extend, now: session.moment) else {
        throw OperatorFault(.failed, "the job \(job.id) was cancelled while it was prepared")
      }
      mark = next
    } while !rest.isEmpty
  }

  /// Releases receipts, as many as there is room for now; receiptd continues with the rest.
  private func release(_ job: Job) throws {
    try work(on: job, bulk.plan.kind.doing, total: bulk.plan.count, waits: false) { job in
      let planned = job.count(.planned)
      return job.state == .running && planned > 0 ? job.total - planned : nil
    }
  }

  /// Runs the job's steps as long as `done` returns the progress.
  private func work(
    on job: Job, _ label: String, total: Int, waits: Bool = true, while done: (Job) -> Int?
  ) throws {
    var work = try session.work(on: job, bulk.configuration)
    var bar = ProgressBar(
      label, total: total, on: session.output.notes, clock: session.dependencies.clock)
    defer { bar.finish() }
    while let now = try bulk.reader.job(id: job.id), let count = done(now) {
      if count > 0 { bar.update(done: count) }
      switch try work.next(bulk.reader, now: session.moment) {
      case .apply(let step):
        try writer.apply(step, now: session.moment)
        if now.state == .running { session.wakeDaemon(bulk.configuration) }
      case .wait(let pause):
        guard waits else { return }
        session.dependencies.pause(min(pause, .milliseconds(100)))
      case .over: return
      }
    }
    if total > StepJob.slice { bar.update(done: total) }
  }

  private func noteContinuation(_ job: Job) throws(StoreFault) {
    let watch = "receiptctl jobs watch \(job.id)"
    if try !session.isServed(bulk.configuration, bulk.reader) {
      session.output.note("No receiptd seems to serve this database; the job begins once one does. \(watch)")
    } else {
      session.output.note("Watch it with: \(watch)")
    }
  }

  /// Adds the receipts that the job left unchanged.
  private func addRefusals(_ job: Job) throws {
    let skipped = job.count(.skipped) + job.count(.gone)
    guard skipped > 0 else { return }
    let shown = try bulk.reader.receipts(ofJob: job.row, outcome: .skipped, limit: Refusals.shownMax)
    for receipt in shown {
      guard let id = receipt.receiptID else { continue }
      let result = receipt.reason.flatMap(OperatorResult.init(code:))
      bulk.refusals.add(id.text, result?.explanation(id: id.text) ?? "is of an app that is not configured")
    }
    bulk.refusals.add(more: skipped - shown.count)
  }

  /// The ids of the receipts that the job changes, in the order of their release.
  private func ids(_ job: Job) throws -> [ReceiptID] {
    var ids: [ReceiptID] = []
    var after: Int64?
    while true {
      let page = try bulk.reader.receipts(ofJob: job.row, after: after, limit: 5000)
      for receipt in page where receipt.outcome != .skipped && receipt.outcome != .gone {
        if receipt.outcome == .planned, job.state == .cancelled { continue }
        if let id = receipt.receiptID { ids.append(id) }
      }
      guard page.count == 5000, let last = page.last else { return ids }
      after = last.position
    }
  }
}
