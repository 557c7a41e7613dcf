// What whoever runs jobs does, a little at a time, so that nobody is kept from writing for long. Each step
// looks again at what stands there: two programs may run the same job at once, and either may end between any
// two steps.

public import Domain

/// Adds receipts to a job that is being prepared.
public struct ExtendJob: StoreCommand {
  /// Receipts in one step.
  public static let slice = 1000

  public var job: Int64
  /// Where the search stood when these were found; if it stands elsewhere, somebody else went on.
  public var from: String?
  /// Where it stands now.
  public var to: String?
  /// Rows of purchases, the newest first.
  public var rows: [Int64]
  /// Whether there are no more: the job runs from then on.
  public var isLast: Bool

  public init(job: Int64, from: String?, to: String?, rows: [Int64], isLast: Bool) {
    self.job = job
    self.from = from
    self.to = to
    self.rows = rows
    self.isLast = isLast
  }

  /// Whether they were added; not so when the job is not prepared any more, or by somebody else.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    guard var job = try store.jobs.find(row: job), job.state == .preparing, job.foundTo == from else {
      return false
    }
    for row in rows {
      job.total += 1
      try store.jobs.add(row, at: -Int64(job.total), to: job.row)
    }
    job.foundTo = to
    job.updatedAt = store.now
    if isLast {
      job.state = job.total == 0 ? .done : .running
      if job.total == 0 { job.endedAt = store.now }
    }
    try store.jobs.update(job, from: .preparing)
    if isLast { store.changes.hasJobs = true }
    return true
  }
}

/// Takes a job on: notes what came of its receipts, and gives the next ones their turn.
public struct StepJob: StoreCommand {
  /// Receipts that get their turn in one step: a few milliseconds.
  public static let slice = 200
  /// Who hands over ids one by one is gone when nothing came for so long.
  static let abandonedMilliseconds: Int64 = 60_000

  public var job: Int64
  /// Positions of receipts that seem to have ended.
  public var ended: [Int64]
  /// Whether the next receipts get their turn, too.
  public var releases: Bool

  public init(job: Int64, ended: [Int64] = [], releases: Bool = true) {
    self.job = job
    self.ended = ended
    self.releases = releases
  }

  /// The job afterwards; nil when there is none any more.
  public func apply(to store: StoreSession) throws(StoreFault) -> Job? {
    guard let old = try store.jobs.find(row: job) else { return nil }
    guard old.endedAt == nil else { return old }
    var step = Step(job: old)
    try step.settle(ended, in: store)
    if step.job.state == .preparing { step.giveUpWhenAbandoned(now: store.now) }
    if step.job.state == .running, releases { try step.release(in: store) }
    return try step.save(in: store)
  }

  private struct Step {
    var job: Job
    private let old: Job
    private var counts: [JobCount] = []

    init(job: Job) {
      self.job = job
      old = job
    }

    mutating func giveUpWhenAbandoned(now: Timestamp) {
      // A clock that was set back says nothing of how long it was.
      guard case .ids = job.request.source,
        now.milliseconds(since: job.updatedAt) >= StepJob.abandonedMilliseconds
      else { return }
      job.state = .cancelled
      job.note = "whoever named its receipts did not finish"
    }

    mutating func settle(_ positions: [Int64], in store: StoreSession) throws(StoreFault) {
      for position in positions {
        guard let row = try store.jobs.released(job.row, at: position) else { continue }
        let receipt = try store.purchases.find(row: row)?.receipt
        let outcome: JobOutcome
        switch receipt?.state {
        case .pending, .waiting: continue
        case .delivered: outcome = .delivered
        case .failed: outcome = .failed
        case .cancelled: outcome = .cancelled
        case nil: outcome = .gone
        }
        let reason = outcome == .delivered ? nil : receipt?.reason?.text
        try store.jobs.set(outcome, reason, from: .released, job: job.row, position: position)
        count(.released, nil, -1)
        count(outcome, reason, 1)
      }
    }

    mutating func release(in store: StoreSession) throws(StoreFault) {
      guard job.count(.planned) > 0 else { return }
      var places: [JobRows.Place] = []
      for app in try store.jobs.plannedApps(job.row) {
        let room = min(StepJob.slice, try room(app, in: store))
        if room > 0 { places += try store.jobs.planned(job.row, app: app, limit: room) }
      }
      places.sort { $0.position < $1.position }
      let now = job.pace.take(now: store.now, atMost: min(StepJob.slice, places.count))
      for place in places.prefix(now) {
        let (outcome, reason) = try change(place.purchaseRow, in: store)
        try store.jobs.set(outcome, reason, from: .planned, job: job.row, position: place.position)
        count(outcome, reason, 1)
      }
    }

    /// How many receipts of an app may be changed now.
    private func room(_ app: String, in store: StoreSession) throws(StoreFault) -> Int {
      // What is not sent needs no room: a cancellation, or a receipt that is skipped without its app.
      guard job.request.kind != .cancel, let rules = store.rules(of: app) else { return StepJob.slice }
      return JobRoom(
        store.breakers.byApp[app], window: rules.replayWindow, now: store.now,
        replaysDue: try store.jobs.replaysDue(app: app, now: store.now, limit: rules.replayWindow),
        hasDue: try store.jobs.hasDue(app: app, now: store.now)
      ).count
    }

    private func change(
      _ row: Int64, in store: StoreSession
    ) throws(StoreFault) -> (JobOutcome, reason: String?) {
      guard let record = try store.purchases.find(row: row), let id = record.receipt?.id else {
        return (.gone, nil)
      }
      guard job.request.kind == .cancel || store.rules(of: record.app) != nil else {
        return (.skipped, OperatorResult.appCode)
      }
      if let receipt = record.receipt, hasMovedOn(receipt, record) {
        let result = receipt.state == .delivered ? .delivered : OperatorResult.notAllowed(receipt.state)
        return (.skipped, result.code)
      }
      let result: OperatorResult
      switch job.request.kind {
      case .replay:
        result = try ReplayReceipt(id: id, force: job.request.force, dueAt: store.now)
          .change(record, in: store)
      case .cancel:
        result = try CancelReceipt(id: id, note: job.request.reason ?? "").change(record, in: store)
        if result == .done { return (.cancelled, Reason.byOperator.text) }
      case .complete:
        result = try CompleteReceipt(id: id, userID: nil, priceID: job.request.priceID, contextID: nil)
          .change(record, in: store)
      }
      return result == .done ? (.released, nil) : (.skipped, result.code)
    }

    /// Whether a receipt is not what it was when it was chosen: somebody has decided about it since, and that
    /// is the later word (R3).
    private func hasMovedOn(_ receipt: Receipt, _ record: PurchaseRecord) -> Bool {
      if case .filter(let filter, _) = job.request.source, let state = filter.state {
        return receipt.state != state
      }
      let isDecided = receipt.state == .cancelled || receipt.state == .delivered
      return isDecided && record.updatedAt > job.createdAt
    }

    mutating func save(in store: StoreSession) throws(StoreFault) -> Job {
      try store.jobs.count(counts, job: job.row)
      for change in counts {
        if let index = job.counts.firstIndex(where: {
          $0.outcome == change.outcome && $0.reason == change.reason
        }) {
          job.counts[index].count += change.count
        } else {
          job.counts.append(change)
        }
      }
      job.counts.removeAll { $0.count == 0 }
      if job.count(.released) == 0 {
        // Of a paused one nothing is left to pause, either.
        if job.state == .running || job.state == .paused, job.count(.planned) == 0 { job.state = .done }
        if job.state == .done || job.state == .cancelled { job.endedAt = store.now }
      }
      guard job != old else { return job }
      job.updatedAt = store.now
      try store.jobs.update(job, from: old.state)
      return job
    }

    private mutating func count(_ outcome: JobOutcome, _ reason: String?, _ change: Int) {
      if let index = counts.firstIndex(where: { $0.outcome == outcome && $0.reason == reason }) {
        counts[index].count += change
      } else {
        counts.append(JobCount(outcome: outcome, reason: reason, count: change))
      }
    }
  }
}

/// Deletes a slice of a job that ended long ago.
public struct RetainJobs: StoreCommand, Equatable {
  static let slice: Int64 = 1000

  public var cutoff: Timestamp

  public init(cutoff: Timestamp) { self.cutoff = cutoff }

  /// Whether there may be more to delete.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    guard let job = try store.jobs.ended(before: cutoff) else { return false }
    _ = try store.jobs.delete(job, limit: Self.slice)
    return true
  }
}
