// Determines a job's next step by reading only: the caller applies the returned command and calls again.
// receiptd does so for every job, receiptctl for a job that it started or watches. One thread at a time.

public import Domain
internal import Formats

/// One step of a job.
public enum JobStep: StoreCommand {
  case extend(ExtendJob)
  case step(StepJob)

  public func apply(to store: StoreSession) throws(StoreFault) {
    switch self {
    case .extend(let command): _ = try command.apply(to: store)
    case .step(let command): _ = try command.apply(to: store)
    }
  }
}

/// What to do next for a job.
public enum JobAction: Sendable {
  /// Apply this and call again.
  case apply(JobStep)
  /// Nothing to do for this long, as far as is known.
  case wait(Duration)
  /// The job has ended.
  case over
}

/// The work on one job.
public struct JobWork {
  /// The maximum number of released receipts checked at once.
  static let window = 1000
  /// The pause between two checks of released receipts: short after some have ended, longer when none has.
  static let lookInterval: Duration = .milliseconds(250)
  static let lookIntervalMax: Duration = .seconds(2)

  /// How many replays of an app may be due at once if its rules are not known.
  public static let windowDefault = 1000
  /// The pause between two checks while there is no room: short, so that fast destinations are kept busy.
  static let fullQueuePause: Duration = .milliseconds(50)

  public let job: JobRowID
  /// How many replays of each app may be due at once.
  public var windows: [AppSlug: Int]
  /// Whether to release receipts; otherwise only the outcomes of released ones are recorded.
  public var releases = true
  /// Whether this program releases receipts of an app.
  public var isMine: @Sendable (AppSlug) -> Bool = { _ in true }
  /// Whether this program also chooses receipts, and records the outcomes of released ones.
  public var doesAll = true
  private var lookedTo = Int64.min
  private var pause = lookInterval

  /// - Parameter job: its row.
  public init(job: JobRowID, windows: [AppSlug: Int] = [:]) {
    self.job = job
    self.windows = windows
  }

  /// What to do next. The job is read from the database each time, so an operator's change counts at once.
  public mutating func next(_ reader: StoreReader, now: Timestamp) throws(StoreFault) -> JobAction {
    guard let job = try reader.job(row: job), job.endedAt == nil else { return .over }
    if job.state == .preparing, doesAll { return try prepare(job, reader, now: now) }
    let looked =
      doesAll
      ? try reader.ended(job: job.row, after: lookedTo, limit: Self.window) : (positions: [], last: nil)
    lookedTo = looked.last ?? Int64.min
    var wait = Duration.longest
    var mine: Set<AppSlug> = []
    if releases, job.state == .running, job.count(.planned) > 0 {
      mine = Set(try reader.plannedApps(ofJob: job.row).filter(isMine))
      let rooms = try rooms(job, mine, reader, now: now)
      if rooms.contains(where: { $0.count > 0 }) {
        wait = max(.zero, job.pace.nextAt(now: now).duration(since: now))
      } else if rooms.contains(.full) {
        wait = Self.fullQueuePause
      }
    }
    let isOver = doesAll && job.count(.released) + job.count(.planned) == 0
    if !looked.positions.isEmpty || wait == .zero || isOver {
      pause = Self.lookInterval
      return .apply(.step(StepJob(job: job.row, ended: looked.positions, releases: releases, apps: mine)))
    }
    // Checks the rest of a long list soon.
    if looked.last != nil { return .wait(min(wait, Self.lookInterval / 10)) }
    defer { pause = min(pause * 2, Self.lookIntervalMax) }
    return .wait(min(wait, pause))
  }

  /// What may be released of each app that has planned receipts.
  private func rooms(
    _ job: Job, _ apps: Set<AppSlug>, _ reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [JobRoom] {
    if job.request.kind == .cancel { return apps.isEmpty ? [] : [.open(StepJob.slice)] }
    let (breakers, pauses) = (try reader.breakers(), try reader.pauses())
    var rooms: [JobRoom] = []
    for app in apps {
      guard let window = windows[app] else {
        // The app is not configured: its receipts are skipped, so its deliveries do not matter.
        rooms.append(.open(StepJob.slice))
        continue
      }
      rooms.append(
        JobRoom(
          breakers.worst(of: app, now: now)?.breaker, pauses[app], window: window, now: now,
          replaysDue: try reader.replaysDue(app: app, now: now, limit: window),
          hasDue: try reader.hasDue(app: app, now: now)))
    }
    return rooms
  }

  private func prepare(_ job: Job, _ reader: StoreReader, now: Timestamp) throws(StoreFault) -> JobAction {
    guard case .filter(var filter, let limit) = job.request.source else {
      let silent = now.duration(since: job.updatedAt)
      if silent < StepJob.abandonedAfter {
        return .wait(StepJob.abandonedAfter - max(.zero, silent))
      }
      return .apply(.step(StepJob(job: job.row)))
    }
    filter.after = job.foundTo.map(ReceiptID.init)
    let room = min(ExtendJob.slice, max(0, (limit ?? Int.max) - job.total))
    let page = try reader.outlinePage(filter, limit: room)
    let found = page.entries
    let isLimit = room < ExtendJob.slice && found.count == room
    return .apply(
      .extend(
        ExtendJob(
          job: job.id, from: job.foundTo, to: page.next?.text ?? found.last?.id.text ?? job.foundTo,
          receipts: found.filter { job.request.concerns($0.state, $0.reason) }.map(\.id),
          isLast: page.next == nil || isLimit)))
  }
}

extension JobRequest {
  /// Whether a filter includes receipts with this state and reason: a replay excludes receipts that cannot be
  /// sent because data is missing, and unpaid ones; a bulk completion includes those that lack a price, and
  /// those that the destination refused with a status if the filter names that: their price is then replaced.
  public func concerns(_ state: ReceiptState, _ reason: Reason?) -> Bool {
    switch kind {
    case .replay: (state != .delivered || force) && reason?.forbidsReplay != true
    case .cancel: state != .delivered && state != .cancelled
    case .complete:
      state != .delivered && state != .pending && (reason == .price || replacesPrice(of: reason))
    case .correct: state == .delivered
    }
  }

  /// Whether receipts with this reason are completed with another price than the one that they have.
  func replacesPrice(of reason: Reason?) -> Bool {
    guard case .filter(let filter, _) = source, let reason, filter.reason == reason.text else { return false }
    return reason.isRefusal
  }
}
