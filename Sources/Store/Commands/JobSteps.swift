// The steps of a job. Each is short, so that other writes do not wait long. Each reads the present state
// again, because two programs may run the same job at once and either may stop between two steps.

public import Domain

/// Adds receipts to a job that is being prepared.
public struct ExtendJob: StoreCommand {
  /// The maximum number of receipts in one step.
  public static let slice = 1000

  public var job: JobID
  /// The search position before these receipts; if the job has another one now, another program has extended
  /// it.
  public var from: String?
  /// The search position after these receipts.
  public var to: String?
  /// The newest first.
  public var receipts: [ReceiptID]
  /// Whether these are the last receipts; the job then runs.
  public var isLast: Bool

  public init(job: JobID, from: String?, to: String?, receipts: [ReceiptID], isLast: Bool) {
    self.job = job
    self.from = from
    self.to = to
    self.receipts = receipts
    self.isLast = isLast
  }

  /// Whether the receipts were added; false if the job is not being prepared any more, or another program
  /// extended it.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    guard var job = try store.jobs.find(id: job), job.state == .preparing, job.foundTo == from else {
      return false
    }
    for id in receipts {
      job.total += 1
      try store.jobs.add(id, at: -Int64(job.total), to: job.row)
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

/// Continues a job: records the outcomes of its receipts, and releases the next ones.
public struct StepJob: StoreCommand {
  /// The maximum number of receipts released in one step, which takes a few milliseconds.
  public static let slice = 200
  /// A job whose ids are added one by one is abandoned if none was added for this long.
  static let abandonedAfter: Duration = .seconds(60)

  public var job: JobRowID
  /// Positions of receipts that seem to have ended.
  public var ended: [Int64]
  /// Whether to release the next receipts, too.
  public var releases: Bool
  /// Whose receipts to release; nil for all apps.
  public var apps: Set<AppSlug>?

  public init(
    job: JobRowID, ended: [Int64] = [], releases: Bool = true, apps: Set<AppSlug>? = nil
  ) {
    self.job = job
    self.ended = ended
    self.releases = releases
    self.apps = apps
  }

  /// The job after the step; nil if it no longer exists.
  public func apply(to store: StoreSession) throws(StoreFault) -> Job? {
    guard let old = try store.jobs.find(row: job) else { return nil }
    guard old.endedAt == nil else { return old }
    var step = Step(job: old)
    try step.finish(ended, in: store)
    if step.job.state == .preparing { step.giveUpWhenAbandoned(now: store.now) }
    if step.job.state == .running, releases { try step.release(of: apps, in: store) }
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
      // After the clock was set back, the difference is not the elapsed time.
      guard case .ids = job.request.source,
        now.duration(since: job.updatedAt) >= StepJob.abandonedAfter
      else { return }
      job.state = .cancelled
      job.note = "the program that selected its receipts did not finish"
    }

    mutating func finish(_ positions: [Int64], in store: StoreSession) throws(StoreFault) {
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
        try store.jobs.set(outcome, reason, of: row, from: .released, job: job.row, position: position)
        count(.released, nil, -1)
        count(outcome, reason, 1)
      }
    }

    mutating func release(of apps: Set<AppSlug>?, in store: StoreSession) throws(StoreFault) {
      guard job.count(.planned) > 0 else { return }
      var places: [JobRows.Place] = []
      for app in try store.jobs.plannedApps(job.row) where apps?.contains(app) != false {
        let room = min(StepJob.slice, try room(app, in: store))
        if room > 0 { places += try store.jobs.planned(job.row, app: app, limit: room) }
      }
      places.sort { $0.position < $1.position }
      let room = job.pace.acquire(now: store.now, atMost: min(StepJob.slice, places.count))
      for place in places.prefix(room) {
        let (outcome, reason) = try change(place.purchaseRow, in: store)
        var row = place.purchaseRow
        // The job ends with the receipts that it made.
        if job.request.kind == .correct, outcome == .released {
          row = try store.purchases.find(row: row)?.receipt?.correctedBy?.purchaseRow ?? row
        }
        try store.jobs.set(outcome, reason, of: row, from: .planned, job: job.row, position: place.position)
        count(outcome, reason, 1)
      }
    }

    /// How many receipts of an app may be changed now.
    private func room(_ app: AppSlug, in store: StoreSession) throws(StoreFault) -> Int {
      // A cancellation sends nothing and needs no room, nor does a receipt that is skipped because its app is
      // not configured.
      guard job.request.kind != .cancel, let rules = store.rules(of: app) else { return StepJob.slice }
      return JobRoom(
        store.breakers.byPlace.worst(of: app, now: store.now)?.breaker, store.pauses[app],
        window: rules.replayWindow, now: store.now,
        replaysDue: try store.jobs.replaysDue(app: app, now: store.now, limit: rules.replayWindow),
        hasDue: try store.jobs.hasDue(app: app, now: store.now)
      ).count
    }

    private func change(
      _ row: PurchaseRowID, in store: StoreSession
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
        result = try CompleteReceipt(
          id: id, userID: nil, priceID: job.request.priceID, contextID: nil,
          force: job.request.replacesPrice(of: record.receipt?.reason)
        ).change(record, in: store)
      case .correct:
        result = try CorrectReceipt(
          id: id, userID: job.request.userID, priceID: job.request.priceID, contextID: nil
        ).change(record, in: store)
      }
      return result == .done ? (.released, nil) : (.skipped, result.code)
    }

    /// Whether a receipt has changed since it was chosen. The later decision wins (R3).
    private func hasMovedOn(_ receipt: Receipt, _ record: PurchaseRecord) -> Bool {
      if case .filter(let filter, _) = job.request.source {
        // With several states, one that was cancelled or delivered meanwhile is still among them.
        if let state = filter.state { return receipt.state != state }
        if !filter.states.isEmpty, !filter.states.contains(receipt.state) { return true }
      }
      // Only a delivered one is corrected, and only once, whatever else changed.
      if job.request.kind == .correct { return false }
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
        // A paused job without planned receipts is also done.
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

/// Deletes a slice of a job that ended before the cutoff.
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
