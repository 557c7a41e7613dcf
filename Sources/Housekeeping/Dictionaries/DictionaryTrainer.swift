// The trainer: makes the dictionary with which the bodies of events are compressed. One thread with its own
// read connection; it stores a dictionary through the committer's queue. Training uses the CPU for a tenth of
// a second, so no thread on which others wait may do it.

internal import Domain
internal import Durations
public import Persistence
public import Platform
public import Store
internal import Telemetry

/// Makes dictionaries. Thread-safe.
///
/// Once a day it makes a new dictionary from the newest bodies, and stores it only if that compresses clearly
/// better than the present one (`DictionaryCandidate.gainMin`): bodies change when a processor's API or the
/// merchant's settings do. Until there is a dictionary, it looks every minute whether there are enough
/// events.
public final class DictionaryTrainer: Sendable {
  static let bodiesMin = 500
  static let bodiesMax = 1000
  /// Longer bodies are not learned from, and no more than this is read.
  static let bodyBytesMax = 64 << 10
  static let bytesMax = 8 << 20
  /// How many of the newest events are looked at. Some belong to no purchase.
  static let rowsMax: Int64 = 4000
  static let interval: Duration = .days(1)
  /// From the start to the first comparison with the dictionary that is stored.
  static let firstPause: Duration = .hours(1)
  static let firstInterval: Duration = .minutes(1)

  private struct Inbox: WorkerInbox {
    var isStopping = false
    /// Whether a dictionary is in the committer's queue.
    var isStoring = false
  }

  private let worker = Worker("trainer", inbox: Inbox())
  private let reader: Monitor<StoreReader>
  private let committer: Committer
  private let dependencies: Dependencies
  private let faultLines = LogLimiter(pause: LogLimiter.faultPause)

  public init(reader: sending StoreReader, committer: Committer, dependencies: Dependencies) {
    self.reader = Monitor(reader)
    self.committer = committer
    self.dependencies = dependencies
  }

  /// Makes the committer's packer use the newest stored dictionary. Called once before the threads start.
  public func loadNewest() {
    do throws(StoreFault) {
      let newest = try reader.withLock { reader throws(StoreFault) in try reader.newestDictionary() }
      if let newest { committer.packer.use(newest) }
    } catch {
      logFailure("could not read the dictionary for events; new ones are stored uncompressed", error)
    }
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in run() }
  }

  public func stop() { worker.stop() }

  /// When the next dictionary is made.
  struct Rounds {
    fileprivate var trainsAt: MonotonicInstant

    init(_ clock: any Clock, _ packer: BodyPacker) {
      trainsAt =
        packer.current == nil
        ? clock.monotonic : clock.monotonic.advanced(by: DictionaryTrainer.firstPause)
    }
  }

  private func run() {
    var rounds = Rounds(dependencies.clock, committer.packer)
    while !worker.isStopping { worker.wait(until: step(&rounds)) }
  }

  /// Does what is due now, without waiting.
  /// - Returns: until when nothing is due.
  func step(_ rounds: inout Rounds) -> MonotonicInstant {
    let now = dependencies.clock.monotonic
    let isStoring = worker.read { $0.isStoring }
    guard now >= rounds.trainsAt else { return rounds.trainsAt }
    rounds.trainsAt = now.advanced(by: Self.firstInterval)
    guard !isStoring else { return rounds.trainsAt }
    do throws(StoreFault) {
      let bodies = try newestBodies()
      guard bodies.count >= Self.bodiesMin else { return rounds.trainsAt }
      rounds.trainsAt = now.advanced(by: Self.interval)
      var random = dependencies.random
      let present = committer.packer.current
      let candidate = DictionaryCandidate(from: bodies, present: present, seed: random.next())
      if let candidate, candidate.isWorthStoring { store(candidate, bodies.count) }
    } catch {
      logFailure("could not read events to learn from; the next attempt follows", error)
    }
    return rounds.trainsAt
  }

  private func newestBodies() throws(StoreFault) -> [(body: [UInt8], owner: String)] {
    try reader.withLock { reader throws(StoreFault) in
      guard try reader.eventsAtMost() >= Self.bodiesMin else { return [] }
      var bodies: [(body: [UInt8], owner: String)] = []
      var bytes = 0
      try reader.newestBodies(rows: Self.rowsMax) { body, owner in
        guard StoredBody.bytesMin...Self.bodyBytesMax ~= body.count else { return true }
        bodies.append((body, owner))
        bytes += body.count
        return bodies.count < Self.bodiesMax && bytes < Self.bytesMax
      }
      return bodies
    }
  }

  private func store(_ candidate: DictionaryCandidate, _ count: Int) {
    let madeAt = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
    worker.withInbox { $0.isStoring = true }
    let isQueued = committer.submit(StoreDictionary(candidate.content), from: .internal) { [self] result in
      worker.withInbox { $0.isStoring = false }
      do throws(StoreFault) {
        let number = try result.get()
        // The content was tried before, so it can be used.
        guard let made = try? BodyDictionary(number, madeAt: madeAt, content: candidate.content) else {
          return
        }
        committer.packer.use(made)
        dependencies.log.info(
          "events are compressed with a new dictionary",
          [
            "dictionary": number.description, "learned_from": String(count),
            "bytes": String(candidate.sizes.received), "before": String(candidate.sizes.present),
            "after": String(candidate.sizes.new),
          ])
      } catch {
        logFailure("could not store a dictionary for events; another follows in a day", error)
      }
    }
    if !isQueued { worker.withInbox { $0.isStoring = false } }
  }

  private func logFailure(_ what: String, _ error: StoreFault) {
    faultLines.logFault(what, error, to: dependencies.log, now: dependencies.clock.monotonic)
  }
}
