// What persons do with jobs: start one, pause it, go on, stop it.

internal import Domain

/// Begins a job, in one short transaction whatever it is about: whoever runs jobs chooses the receipts and
/// gives each its turn (`JobWork`). To be wrapped in `Audited`, with the job's id as subject.
public struct StartJob: StoreCommand {
  public var request: JobRequest

  public init(_ request: JobRequest) { self.request = request }

  /// The job as it was made.
  public func apply(to store: StoreSession) throws(StoreFault) -> Job {
    var request = request
    if case .filter(var filter, let limit) = request.source {
      // What is made from now on is not meant.
      let end = store.now.advanced(byMilliseconds: 1)
      filter.until = min(filter.until ?? end, end)
      filter.after = nil
      request.source = .filter(filter, limit: limit)
    }
    let row = try store.jobs.nextRow()
    // Clamped to what a rate may be: from one in 1000 s to a million a second.
    let rate = request.ratePerSecond.map { Int64(max(1, min($0 * 1000, 1e9)).rounded()) }
    let job = Job(
      row: row, id: store.jobIdentifier(row: row), state: .preparing, request: request, total: 0,
      pace: Pace(perThousandSeconds: rate), createdAt: store.now, updatedAt: store.now)
    try store.jobs.insert(job)
    store.changes.hasJobs = true
    return job
  }
}

/// Pauses, resumes or stops a job.
public struct ChangeJob: StoreCommand {
  public enum Change: Sendable {
    case pause, resume, cancel
  }

  public enum Outcome: Sendable, Equatable {
    /// The job, and whether it was changed; it may have been so already.
    case done(Job, isChanged: Bool)
    case notFound
    /// Its state does not allow it.
    case notAllowed(JobState)
  }

  public var id: String
  public var change: Change

  public init(id: String, _ change: Change) {
    self.id = id
    self.change = change
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard let row = Identifier.number(in: id, prefix: Identifier.jobPrefix),
      var job = try store.jobs.find(row: row), job.id == id
    else { return .notFound }
    let state = job.state
    switch (change, state) {
    case (.pause, .paused), (.resume, .running), (.resume, .preparing), (.cancel, .cancelled):
      return .done(job, isChanged: false)
    case (.pause, .running): job.state = .paused
    case (.resume, .paused):
      job.state = .running
      job.pace.nextAtNanoseconds = nil
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
