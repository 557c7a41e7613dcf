// The trainer: makes the dictionaries with which bodies are compressed. One thread with its own read
// connection and the lowest priority; it stores a dictionary through the committer's queue. Training uses the
// CPU for some tenths of a second, so no thread on which others wait may do it.

internal import Domain
internal import Formats
public import Platform
public import Service
public import Store

/// Makes dictionaries of each kind. Thread-safe.
///
/// The first is made as soon as enough bodies came, which the packers count. Later ones are made once a day
/// from the newest bodies, and when the packers report that bodies became larger; each is stored only if it
/// compresses clearly better than the present one (`DictionaryCandidate.gainMin`): bodies change when a
/// processor's API or the merchant's settings do.
public final class DictionaryTrainer: Sendable {
  /// How much a dictionary is made from.
  public struct Rules: Sendable {
    public var bodiesMin: Int
    public var ownersMin: Int

    /// A test may need less.
    public init(bodiesMin: Int = 500, ownersMin: Int = 20) {
      (self.bodiesMin, self.ownersMin) = (bodiesMin, ownersMin)
    }
  }

  static let bodiesMax = 1000
  /// Longer bodies are not learned from.
  static let bodyBytesMax = 64 << 10
  /// No more than this is read, even of fewer than `Rules.bodiesMin` bodies.
  static let bytesMax = 8 << 20
  /// How many of the newest rows are looked at. Some have no body, or belong to no purchase.
  static let rowsMax: Int64 = 4000
  static let interval: Duration = .days(1)
  /// From the start to the first comparison with the dictionary that is stored.
  static let firstPause: Duration = .hours(1)
  /// The shortest time between two dictionaries of a kind, and after a search that found too few bodies.
  static let intervalMin: Duration = .hours(1)
  static let searchPause: Duration = .minutes(1)
  /// The last bodies that a packer counted are stored after this.
  static let storeTime: Duration = .milliseconds(200)
  /// The most dictionaries of a kind: bodies need them as long as they exist.
  static let dictionariesMax: Int64 = 64

  private struct Inbox: WorkerInbox {
    var isStopping = false
    /// The kinds that a packer needs a dictionary for.
    var needed: Set<BodyKind> = []
    /// The kinds of which a dictionary is in the committer's queue.
    var storing: Set<BodyKind> = []
  }

  private let worker = Worker("trainer", inbox: Inbox())
  private let reader: Monitor<StoreReader>
  private let committer: Committer
  private let dependencies: Dependencies
  private let ownership: any Ownership
  private let rules: Rules
  private let faultLines = LogLimiter(pause: LogLimiter.faultPause)

  public init(
    reader: sending StoreReader, committer: Committer, dependencies: Dependencies,
    ownership: any Ownership = SoleOwner(), rules: Rules = Rules()
  ) {
    self.ownership = ownership
    self.reader = Monitor(reader)
    self.committer = committer
    self.dependencies = dependencies
    self.rules = rules
  }

  /// Makes the committer's packers use the newest stored dictionaries, and report when they need others.
  /// Called once before the threads start.
  public func connect() {
    for kind in BodyKind.allCases {
      committer.packers[kind].whenNeeded { [weak self] in self?.need(kind) }
      do throws(StoreFault) {
        try useNewest(kind)
      } catch {
        logFailure(
          "could not read the \(kind) dictionary; bodies stay uncompressed until another is made", error)
      }
    }
  }

  private func useNewest(_ kind: BodyKind) throws(StoreFault) {
    let newest = try reader.withLock { reader throws(StoreFault) in try reader.newestDictionary(kind) }
    if let newest { committer.packers[kind].use(newest) }
  }

  private func need(_ kind: BodyKind) {
    worker.post { _ = $0.needed.insert(kind) }
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in
      WorkerThread.yieldToOthers()
      run()
    }
  }

  public func stop() { worker.stop() }

  /// When the next dictionary of each kind is made.
  struct Rounds {
    fileprivate var trainsAt: [BodyKind: MonotonicInstant] = [:]
    /// When a dictionary of a kind may be made again.
    fileprivate var restsUntil: [BodyKind: MonotonicInstant] = [:]

    init(_ clock: any Clock, _ packers: BodyPackers) {
      let now = clock.monotonic
      for kind in BodyKind.allCases {
        trainsAt[kind] =
          packers[kind].current == nil ? now : now.advanced(by: DictionaryTrainer.firstPause)
      }
    }
  }

  private func run() {
    var rounds = Rounds(dependencies.clock, committer.packers)
    while !worker.isStopping { worker.wait(until: step(&rounds)) }
  }

  /// Does what is due now, without waiting.
  /// - Returns: until when nothing is due.
  func step(_ rounds: inout Rounds) -> MonotonicInstant {
    let now = dependencies.clock.monotonic
    let (needed, storing) = worker.read { inbox in
      defer { inbox.needed = [] }
      return (inbox.needed, inbox.storing)
    }
    for kind in needed {
      let soon = max(now.advanced(by: Self.storeTime), rounds.restsUntil[kind] ?? now)
      rounds.trainsAt[kind] = min(rounds.trainsAt[kind] ?? soon, soon)
    }
    for kind in BodyKind.allCases {
      guard let due = rounds.trainsAt[kind], now >= due else { continue }
      rounds.trainsAt[kind] = now.advanced(by: Self.interval)
      guard !storing.contains(kind), let pause = train(kind) else { continue }
      rounds.restsUntil[kind] = now.advanced(by: pause)
    }
    return rounds.trainsAt.values.min() ?? now.advanced(by: Self.interval)
  }

  /// - Returns: how long to rest; nil if nothing was read.
  private func train(_ kind: BodyKind) -> Duration? {
    do throws(StoreFault) {
      guard ownership.doesSharedWork else {
        // Another instance makes them.
        try useNewest(kind)
        return Self.searchPause
      }
      guard let bodies = try newestBodies(kind) else { return nil }
      guard bodies.count >= rules.bodiesMin else { return Self.searchPause }
      var random = dependencies.random
      let candidate = DictionaryCandidate(
        from: bodies, present: committer.packers[kind].current, ownersMin: rules.ownersMin,
        seed: random.next())
      if let candidate, candidate.isWorthStoring { store(candidate, kind, bodies.count) }
    } catch {
      logFailure("could not read bodies to make a dictionary from; trying again within a day", error)
    }
    return Self.intervalMin
  }

  /// The bodies to learn from; nil if there are too few rows, or if no more dictionaries may be made.
  private func newestBodies(_ kind: BodyKind) throws(StoreFault) -> [(body: [UInt8], owner: String)]? {
    try reader.withLock { reader throws(StoreFault) in
      guard try reader.rowsAtMost(kind) >= rules.bodiesMin,
        try reader.countDictionaries(kind) < Self.dictionariesMax
      else { return nil }
      var bodies: [(body: [UInt8], owner: String)] = []
      var bytes = 0
      try reader.newestBodies(kind, rows: Self.rowsMax, storedMax: Self.bodyBytesMax) { body, owner in
        bytes += body.count
        if StoredBody.bytesMin...Self.bodyBytesMax ~= body.count { bodies.append((body, owner)) }
        let isEnough = bodies.count >= rules.bodiesMin && bytes >= DictionaryCandidate.bytesWanted
        return !isEnough && bodies.count < Self.bodiesMax && bytes < Self.bytesMax && !worker.isStopping
      }
      return bodies
    }
  }

  private func store(_ candidate: DictionaryCandidate, _ kind: BodyKind, _ count: Int) {
    let madeAt = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
    worker.withInbox { _ = $0.storing.insert(kind) }
    let command = StoreDictionary(candidate.content, for: kind)
    let isQueued = committer.submit(command, from: .internal) { [self] result in
      worker.withInbox { _ = $0.storing.remove(kind) }
      do throws(StoreFault) {
        let number = try result.get()
        // The content was tried before, so it can be used.
        guard let made = try? BodyDictionary(number, madeAt: madeAt, content: candidate.content) else {
          return
        }
        committer.packers[kind].use(made)
        dependencies.log.info(
          "bodies are compressed with a new dictionary",
          [
            "kind": kind.rawValue, "dictionary": number.description, "learned_from": String(count),
            "bytes": String(candidate.sizes.received), "before": String(candidate.sizes.present),
            "after": String(candidate.sizes.new),
          ])
      } catch {
        logFailure("could not store a dictionary; trying again within a day", error)
      }
    }
    if !isQueued { worker.withInbox { _ = $0.storing.remove(kind) } }
  }

  private func logFailure(_ what: String, _ error: StoreFault) {
    faultLines.logFault(what, error, to: dependencies.log, now: dependencies.clock.monotonic)
  }
}
