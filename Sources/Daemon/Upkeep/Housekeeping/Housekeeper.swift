// The housekeeper: does what is due by time. It ends waits, completes long polls and starts retention. One
// thread; it makes all changes through the committer's queue.

public import Config
public import Domain
internal import Formats
public import Platform
internal import Reports
public import Service
public import Store

/// Does what is due by time. Thread-safe.
public final class Housekeeper: Sendable {
  /// The longest time between two passes of retention.
  static let retentionInterval: Duration = .hours(1)
  private static let retentionIntervalMin: Duration = .seconds(60)
  /// How long retention pauses after the wall clock was set forward by more than that interval, so that an
  /// operator can notice a wrong clock.
  static let retentionRest: Duration = .days(1)
  /// Between two slices, so that the writer is free for other commands most of the time.
  static let slicePause: Duration = .milliseconds(50)
  static let faultPause: Duration = .seconds(1)

  private struct Inbox: WorkerInbox {
    var isStopping = false
    /// When the next wait ends, as far as known.
    var waitUntil: Timestamp? = Timestamp(unixMilliseconds: 0)
    var retention: Configuration.Retention
    /// Slices of receipts to decide again, one app after the other.
    var reconsiderations: [ReconsiderReceipts] = []
    /// Whether one of them is in the committer's queue.
    var isReconsidering = false
    /// Clock steps that could not be applied yet.
    var unfollowed: [FollowClock] = []
  }

  private let worker: Worker<Inbox>
  private let committer: Committer
  private let completeLongPolls: @Sendable () -> MonotonicInstant?
  private let dependencies: Dependencies
  private let onLook: @Sendable () -> Void
  private let ownership: any Ownership
  /// Whether planned times move along with a step of this machine's clock. If the database's clock decides,
  /// an instance says when that was set.
  private let followsClock: Bool
  private let faultLines = LogLimiter(pause: LogLimiter.faultPause)

  /// - Parameters:
  ///   - ownership: the apps whose waits it ends, and whether it retains.
  ///   - followsClock: whether planned times move along with a step of this machine's clock.
  ///   - completeLongPolls: answers the long polls that are due; returns when to check the others
  ///     (nil if there are none).
  ///   - onLook: called every few seconds; it must not block.
  public init(
    committer: Committer, retention: Configuration.Retention, dependencies: Dependencies,
    ownership: any Ownership = SoleOwner(), followsClock: Bool = true,
    completeLongPolls: @escaping @Sendable () -> MonotonicInstant?,
    onLook: @escaping @Sendable () -> Void = {}
  ) {
    worker = Worker("housekeeper", inbox: Inbox(retention: retention))
    self.committer = committer
    self.completeLongPolls = completeLongPolls
    self.dependencies = dependencies
    self.onLook = onLook
    self.ownership = ownership
    self.followsClock = followsClock
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in run() }
  }

  /// Notes that a wait ends at that time.
  public func note(waitUntil moment: Timestamp?) {
    guard let moment else { return }
    worker.offer { inbox in
      guard inbox.waitUntil.map({ moment < $0 }) ?? true else { return false }
      inbox.waitUntil = moment
      return true
    }
  }

  /// Wakes the thread, because a long poll may be due.
  public func checkNow() { worker.post { _ in } }

  /// Checks everything, because another process changed the database.
  public func checkAll() { worker.post { $0.waitUntil = Timestamp(unixMilliseconds: 0) } }

  /// Decides all waits and destinations of these apps' receipts again, because their configuration changed.
  public func reconsider(apps: [AppSlug]) {
    let now = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
    worker.post { inbox in
      inbox.reconsiderations.removeAll { apps.contains($0.app) }
      inbox.reconsiderations += apps.map { ReconsiderReceipts(app: $0, startedAt: now) }
    }
  }

  /// Sets how long data is kept. A pass under way starts again with it.
  public func use(retention: Configuration.Retention) { worker.post { $0.retention = retention } }

  public func stop() { worker.stop() }

  private func run() {
    var rounds = Rounds(dependencies.clock)
    followClock(FollowClock(step: nil))
    while !worker.isStopping { worker.wait(until: step(&rounds)) }
  }

  /// The due times of periodic work.
  struct Rounds {
    fileprivate var watch: ClockWatch
    fileprivate var lookAt: MonotonicInstant
    fileprivate var reconsiderAt: MonotonicInstant
    fileprivate var retentionAt: MonotonicInstant
    fileprivate var isRetentionResting = false
    fileprivate var retention: RetentionRun?

    init(_ clock: any Clock) {
      watch = ClockWatch(clock)
      lookAt = clock.monotonic
      reconsiderAt = clock.monotonic
      retentionAt = clock.monotonic
    }
  }

  /// Does what is due now, without waiting.
  /// - Returns: until when nothing is due except notifications.
  func step(_ rounds: inout Rounds) -> MonotonicInstant {
    // Notifications after this are for the next step.
    worker.read { _ in }
    let clock = dependencies.clock
    if let clockStep = rounds.watch.clockStep(clock) {
      if followsClock { followClock(FollowClock(step: clockStep)) }
      // A retention pass uses one clock, so it starts again.
      rounds.retention = nil
      // Rows may only seem old after the clock was set forward. Pause only once: on a machine that sleeps
      // every night, retention would never run.
      let rested = clock.monotonic.advanced(by: Self.retentionRest)
      if clockStep > Self.retentionInterval, !rounds.isRetentionResting {
        rounds.retentionAt = rested
        rounds.isRetentionResting = true
      }
    }
    if clock.monotonic >= rounds.lookAt {
      for command in worker.withInbox({ inbox in
        inbox.waitUntil = Timestamp(unixMilliseconds: 0)
        defer { inbox.unfollowed = [] }
        return inbox.unfollowed
      }) { followClock(command) }
      onLook()
      committer.checkSpace()
      rounds.lookAt = clock.monotonic.advanced(by: dependencies.lookInterval)
    }
    endWaits()
    let reconsiderAt = reconsiderNext(&rounds)
    let nextAnswer = completeLongPolls()
    let now = clock.monotonic
    let wall = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    if now >= rounds.retentionAt, !ownership.doesSharedWork {
      rounds.retention = nil
      rounds.retentionAt = now.advanced(by: Self.retentionIntervalMin)
    }
    if now >= rounds.retentionAt {
      let retention = worker.withInbox { $0.retention }
      // A pass takes hours on a large database, and what a reload keeps longer must not be deleted meanwhile.
      let present = rounds.retention.flatMap { $0.retention == retention ? $0 : nil }
      let current = present ?? RetentionRun(retention, clock)
      let isDone = current.step(
        committer, now: wall, log: dependencies.log,
        onFault: { [self] table, error in
          faultLines.logFault(
            "could not delete data that is older than its retention; the next pass tries again", error,
            ["table": table], to: dependencies.log, now: dependencies.clock.monotonic)
        })
      rounds.retention = isDone ? nil : current
      rounds.isRetentionResting = false
      rounds.retentionAt = now.advanced(
        by: isDone ? Self.interval(of: current.retention) : Self.slicePause)
    }
    var deadline = min(nextAnswer ?? rounds.retentionAt, rounds.retentionAt, rounds.lookAt)
    if let reconsiderAt { deadline = min(deadline, reconsiderAt) }
    // Sleep until the next wait ends; an earlier one wakes the thread.
    let known = worker.withInbox { $0.waitUntil }
    if let known {
      deadline = min(deadline, now.advanced(by: max(.zero, known.duration(since: wall))))
    }
    return deadline
  }

  /// Between two passes of retention. It is shorter for short retention, so that rows stay at most a tenth
  /// longer than configured.
  static func interval(of retention: Configuration.Retention) -> Duration {
    let shortest = min(
      retention.contexts, retention.events, retention.attempts,
      retention.receipts)
    return min(retentionInterval, max(retentionIntervalMin, shortest / 10))
  }

  /// Moves planned times along with the clock that decides what is stored.
  public func followClock(_ command: FollowClock) {
    let log = dependencies.log
    _ = committer.submit(command, from: .internal) { [self] result in
      switch result {
      case .success(0): break
      case .success(let count):
        log.warning(
          "the wall clock was set; due times are adjusted. If you did not set it, check the machine's time",
          ["receipts": String(count)])
        // It wrote waiting receipts, which would look as if they had been decided since the reload.
        let now = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
        worker.post { inbox in
          for index in inbox.reconsiderations.indices { inbox.reconsiderations[index].startedAt = now }
        }
      case .failure(let error):
        logFailure("could not follow the wall clock; trying again", error)
        worker.withInbox { $0.unfollowed.append(command) }
      }
    }
  }

  /// Decides the waits that have ended, and notes when the next one ends.
  private func endWaits() {
    let now = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
    let isDue = worker.withInbox { state in
      guard let until = state.waitUntil, until <= now else { return false }
      state.waitUntil = nil
      return true
    }
    guard isDue else { return }
    let again = now.advanced(by: Self.faultPause)
    _ = committer.submit(EndWaits(ownership.apps), from: .internal) { [self] result in
      switch result {
      case .success(let next): note(waitUntil: next)
      case .failure(let error):
        logFailure("could not end the waits that are over; trying again", error)
        note(waitUntil: again)
      }
    }
  }

  private func logFailure(_ what: String, _ error: StoreFault, app: AppSlug? = nil) {
    faultLines.logFault(what, error, app: app, to: dependencies.log, now: dependencies.clock.monotonic)
  }

  /// Submits the next slice of receipts to decide again.
  /// - Returns: when the next slice is due; nil if there is none, or if one is under way.
  private func reconsiderNext(_ rounds: inout Rounds) -> MonotonicInstant? {
    let now = dependencies.clock.monotonic
    let isDue = now >= rounds.reconsiderAt
    let (next, isMore) = worker.withInbox { state -> (ReconsiderReceipts?, Bool) in
      guard let next = state.reconsiderations.first, !state.isReconsidering else { return (nil, false) }
      if isDue { state.isReconsidering = true }
      return (isDue ? next : nil, true)
    }
    guard let next else { return isMore ? rounds.reconsiderAt : nil }
    rounds.reconsiderAt = now.advanced(by: Self.slicePause)
    let isQueued = committer.submit(next, from: .internal) { [self] result in
      worker.post { state in
        state.isReconsidering = false
        // A reload may have replaced the slice.
        guard let index = state.reconsiderations.firstIndex(of: next) else { return }
        switch result {
        case .success(let place?): state.reconsiderations[index].after = place
        case .success(nil), .failure: state.reconsiderations.remove(at: index)
        }
      }
      if case .failure(let error) = result {
        // Each receipt is decided again when its wait ends, or within an hour.
        logFailure(
          "could not decide the waits of receipts again; each is decided when it ends", error,
          app: next.app)
      }
    }
    if !isQueued { worker.withInbox { $0.isReconsidering = false } }
    return nil
  }
}
