// The job runner: runs all jobs step by step until they are done, including those of an earlier run or
// another program. One thread with its own read connection; it makes all changes through the committer's
// queue. It must submit only one step of a job at once, so that the queue stays free for requests and
// deliveries.

public import Domain
public import Platform
public import Service
public import Store

/// Runs jobs. Thread-safe.
public final class JobRunner: Sendable {
  /// Between two steps of one job, so that the writer is free for other commands most of the time.
  static let pause: Duration = .milliseconds(20)
  static let faultPause: Duration = .seconds(1)

  private struct Inbox: WorkerInbox {
    var isStopping = false
    /// Set when a job was made or changed: read the jobs at once.
    var hasNews = true
    /// Jobs with a step in the committer's queue.
    var underWay: Set<JobRowID> = []
    /// Jobs with a step that could not be stored.
    var refused: Set<JobRowID> = []
    /// How many replays of each app may be due at once.
    var windows: [AppSlug: Int]
  }

  private let worker: Worker<Inbox>
  private let committer: Committer
  private let reader: Monitor<StoreReader>
  private let dependencies: Dependencies
  private let ownership: any Ownership
  private let faultLines = LogLimiter(pause: LogLimiter.faultPause)

  public init(
    reader: sending StoreReader, windows: [AppSlug: Int], committer: Committer, dependencies: Dependencies,
    ownership: any Ownership = SoleOwner()
  ) {
    self.ownership = ownership
    worker = Worker("jobs", inbox: Inbox(windows: windows))
    self.reader = Monitor(reader)
    self.committer = committer
    self.dependencies = dependencies
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in run() }
  }

  /// Sets how many replays of each app may be due at once.
  public func use(windows: [AppSlug: Int]) {
    worker.post { inbox in
      inbox.windows = windows
      inbox.hasNews = true
    }
  }

  /// Wakes the thread, because a job was made or changed.
  public func checkNow() { worker.post { $0.hasNews = true } }

  public func stop() { worker.stop() }

  /// The open jobs, with the due times of their next steps.
  struct Rounds {
    fileprivate var works: [JobRowID: (work: JobWork, nextAt: MonotonicInstant)] = [:]
    fileprivate var lookAt: MonotonicInstant

    init(_ clock: any Clock) { lookAt = clock.monotonic }
  }

  private func run() {
    var rounds = Rounds(dependencies.clock)
    while !worker.isStopping { worker.wait(until: step(&rounds)) }
  }

  /// Does what is due now, without waiting.
  /// - Returns: until when nothing is due except notifications.
  func step(_ rounds: inout Rounds) -> MonotonicInstant {
    let now = dependencies.clock.monotonic
    let (hasNews, underWay, refused) = worker.read { inbox in
      defer {
        inbox.hasNews = false
        inbox.refused = []
      }
      return (inbox.hasNews, inbox.underWay, inbox.refused)
    }
    guard ownership.doesSharedWork || ownership.apps?.isEmpty == false else {
      rounds.works = [:]
      return now.advanced(by: Self.faultPause)
    }
    do throws(StoreFault) {
      if hasNews || now >= rounds.lookAt {
        try readOpenJobs(&rounds, now)
        rounds.lookAt = now.advanced(by: dependencies.lookInterval)
      }
      for row in refused {
        rounds.works[row]?.nextAt = now.advanced(by: Self.faultPause)
      }
    } catch {
      logFailure("could not read the jobs; trying again", error)
      return now.advanced(by: Self.faultPause)
    }
    for (row, entry) in rounds.works where entry.nextAt <= now && !underWay.contains(row) {
      do throws(StoreFault) {
        try step(row, &rounds, now)
      } catch {
        // An unreadable row must not stop other jobs.
        rounds.works[row]?.nextAt = now.advanced(by: Self.faultPause)
        logFailure("could not read a job; trying again", error, row)
      }
    }
    let busy = worker.withInbox { $0.underWay }
    return rounds.works.lazy.filter { !busy.contains($0.key) }.map(\.value.nextAt)
      .reduce(rounds.lookAt) { min($0, $1) }
  }

  private func logFailure(_ what: String, _ error: StoreFault, _ row: JobRowID? = nil) {
    faultLines.logFault(
      what, error, ["row": row?.description], to: dependencies.log, now: dependencies.clock.monotonic)
  }

  /// Reads the open jobs. A notification names no job, so all of them are due soon.
  private func readOpenJobs(_ rounds: inout Rounds, _ now: MonotonicInstant) throws(StoreFault) {
    let open = try reader.withLock { reader throws(StoreFault) in try reader.openJobs() }
    var works: [JobRowID: (work: JobWork, nextAt: MonotonicInstant)] = [:]
    for row in open {
      guard let known = rounds.works[row] else {
        works[row] = (JobWork(job: row), now)
        continue
      }
      works[row] = (known.work, min(known.nextAt, now.advanced(by: Self.pause)))
    }
    rounds.works = works
  }

  private func step(_ row: JobRowID, _ rounds: inout Rounds, _ now: MonotonicInstant) throws(StoreFault) {
    guard var work = rounds.works[row]?.work else { return }
    work.windows = worker.withInbox { $0.windows }
    work.isMine = ownership.releasesJobs
    work.doesAll = ownership.doesSharedWork
    let wall = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
    let action = try reader.withLock { reader throws(StoreFault) in try work.next(reader, now: wall) }
    switch action {
    case .over: rounds.works[row] = nil
    case .wait(let pause):
      rounds.works[row] = (work, now.advanced(by: max(Self.pause, pause)))
    case .apply(let step):
      rounds.works[row] = (work, now.advanced(by: Self.pause))
      worker.withInbox { _ = $0.underWay.insert(row) }
      let isQueued = committer.submit(step, from: .internal) { [self] result in
        if case .failure(let error) = result {
          logFailure("could not store a step of a job; trying again", error, row)
        }
        worker.post { inbox in
          inbox.underWay.remove(row)
          if case .failure = result { inbox.refused.insert(row) }
        }
      }
      // The committer is stopping, and the job runner stops, too.
      if !isQueued { worker.withInbox { _ = $0.underWay.remove(row) } }
    }
  }
}
