// The indexer: makes the index of a search from stored events and payments. One thread with its own read
// connection and the lowest priority; it writes through the committer's queue, in slices. Nothing waits for
// it: a search reads the rows that are not in the index yet.

internal import Domain
internal import Formats
public import Platform
public import Service
public import Store

/// Makes and merges the runs of the index. Thread-safe.
public final class SearchIndexer: Sendable {
  /// After each piece of work it rests this many times as long: so indexing takes a twentieth of one
  /// processor, and of the committer's time, at most. It falls behind only while events come faster than
  /// that allows.
  static let restFactor = 19
  /// The longest rest: one slow commit says little about the next.
  static let restMax: Duration = .seconds(5)
  /// How long it waits when there is nothing to do.
  static let interval: Duration = .seconds(5)

  private struct Inbox: WorkerInbox {
    var isStopping = false
    /// Whether a command is in the committer's queue.
    var isWriting = false
    /// The run that is being written.
    var writing: WriteSearchRun?
    var restsUntil: MonotonicInstant?
  }

  private let worker = Worker("search indexer", inbox: Inbox())
  private let reader: Monitor<StoreReader>
  private let committer: Committer
  private let dependencies: Dependencies
  private let ownership: any Ownership
  private let mentions: MentionReader
  private let sizes: SearchSizes
  private let faultLines = LogLimiter(pause: LogLimiter.faultPause)

  /// - Parameter mentions: reads what events name.
  public init(
    reader: sending StoreReader, committer: Committer, dependencies: Dependencies,
    ownership: any Ownership = SoleOwner(), mentions: @escaping MentionReader,
    sizes: SearchSizes = SearchSizes()
  ) {
    self.reader = Monitor(reader)
    self.committer = committer
    self.dependencies = dependencies
    self.ownership = ownership
    self.mentions = mentions
    self.sizes = sizes
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in
      WorkerThread.yieldToOthers()
      while !worker.isStopping { worker.wait(until: step()) }
    }
  }

  public func stop() { worker.stop() }

  /// Does the next piece of work, if it is due, and submits its change.
  /// - Returns: when the next one is due.
  func step() -> MonotonicInstant {
    let now = dependencies.clock.monotonic
    let (isWriting, writing, rest) = worker.read { ($0.isWriting, $0.writing, $0.restsUntil) }
    if isWriting { return now.advanced(by: Self.interval) }
    if let rest, now < rest { return rest }
    guard ownership.doesSharedWork else {
      worker.withInbox { $0.writing = nil }
      return now.advanced(by: Self.interval)
    }
    if let writing {
      write(writing, since: now)
      return now.advanced(by: Self.interval)
    }
    do throws(StoreFault) {
      let moment = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
      let next = try reader.withLock { reader throws(StoreFault) in
        try reader.searchStep(mentions, now: moment, sizes: sizes)
      }
      switch next {
      case nil: break
      case .begin: submit(BeginSearchIndex(), since: now) { _, _ in }
      case .drop(let runs): submit(DropSearchRuns(runs), since: now) { _, _ in }
      case .delete(let run): submit(DeleteSearchRun(run), since: now) { _, _ in }
      case .write(let draft): write(WriteSearchRun(draft), since: now)
      }
    } catch {
      logFailure("could not read what a search needs; trying again", error)
    }
    return now.advanced(by: Self.interval)
  }

  private func write(_ command: WriteSearchRun, since start: MonotonicInstant) {
    submit(command, since: start) { inbox, outcome in
      // What was void is read again.
      inbox.writing = nil
      if case .written(let progress) = outcome {
        inbox.writing = WriteSearchRun(command.draft, written: progress)
      }
    }
  }

  private func submit<Command: StoreCommand>(
    _ command: Command, since start: MonotonicInstant,
    then note: @escaping @Sendable (inout Inbox, Command.Outcome) -> Void
  ) {
    worker.withInbox { $0.isWriting = true }
    let isQueued = committer.submit(command, from: .internal) { [self] result in
      let now = dependencies.clock.monotonic
      let rest = min(now.duration(since: start) * Self.restFactor, Self.restMax)
      worker.post { inbox in
        inbox.isWriting = false
        inbox.restsUntil = now.advanced(by: rest)
        switch result {
        case .success(let outcome): note(&inbox, outcome)
        case .failure: (inbox.writing, inbox.restsUntil) = (nil, now.advanced(by: Self.interval))
        }
      }
      if case .failure(let error) = result {
        logFailure("could not write what a search needs; trying again", error)
      }
    }
    if !isQueued { worker.withInbox { ($0.isWriting, $0.writing) = (false, nil) } }
  }

  private func logFailure(_ what: String, _ error: StoreFault) {
    faultLines.logFault(what, error, to: dependencies.log, now: dependencies.clock.monotonic)
  }
}
