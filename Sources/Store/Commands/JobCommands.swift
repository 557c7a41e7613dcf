// Starts, pauses, resumes and cancels jobs.

public import Domain

/// Creates a job in one short transaction, whatever its size: the job runner chooses the receipts and
/// releases them later (`JobWork`). Must be wrapped in `Audited`, with the job's id as subject.
public struct StartJob: StoreCommand {
  public var request: JobRequest

  public init(_ request: JobRequest) { self.request = request }

  /// The new job.
  public func apply(to store: StoreSession) throws(StoreFault) -> Job {
    var request = request
    if case .filter(var filter, let limit) = request.source {
      // Receipts made from now on are not part of the job.
      let end = store.now.advanced(by: .milliseconds(1))
      filter.until = min(filter.until ?? end, end)
      filter.after = nil
      request.source = .filter(filter, limit: limit)
    }
    let row = try store.jobs.nextRow()
    let job = Job(
      row: row, id: store.jobIdentifier(row: row), state: .preparing, request: request, total: 0,
      pace: Pace(ratePerSecond: request.ratePerSecond), createdAt: store.now, updatedAt: store.now)
    try store.jobs.insert(job)
    store.changes.hasJobs = true
    return job
  }
}

/// Pauses, resumes or cancels a job, or changes its rate.
public struct ChangeJob: StoreCommand {
  /// What the operator wants.
  public enum Change: Sendable {
    case pause, resume, cancel
    /// Receipts per second; nil for no limit.
    case rate(Double?)
  }

  public enum Outcome: Sendable, Equatable {
    /// The job, and whether it was changed; false if it already was in that state.
    case done(Job, isChanged: Bool)
    case notFound
    /// The job's state does not allow the change.
    case notAllowed(JobState)
  }

  public var id: JobID
  public var change: Change

  public init(id: JobID, _ change: Change) {
    self.id = id
    self.change = change
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard var job = try store.jobs.find(id: id) else { return .notFound }
    let state = job.state
    switch (change, state) {
    case (.pause, .paused), (.resume, .running), (.resume, .preparing), (.cancel, .cancelled):
      return .done(job, isChanged: false)
    case (.pause, .running): job.state = .paused
    case (.resume, .paused):
      job.state = .running
      job.pace.nextAtNanoseconds = nil
    case (.rate(let rate), .preparing), (.rate(let rate), .running), (.rate(let rate), .paused):
      let pace = Pace(ratePerSecond: rate)
      guard pace.perThousandSeconds != job.pace.perThousandSeconds else {
        return .done(job, isChanged: false)
      }
      // The new rate begins now.
      job.pace = pace
      job.request.ratePerSecond = pace.ratePerSecond
    case (.cancel, .preparing), (.cancel, .running), (.cancel, .paused):
      job.state = .cancelled
      if job.count(.released) == 0 { job.endedAt = store.now }
    case (_, let state): return .notAllowed(state)
    }
    job.updatedAt = store.now
    try store.jobs.update(job, from: state)
    store.changes.hasJobs = true
    return .done(job, isChanged: true)
  }
}
