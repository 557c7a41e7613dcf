// The storage side of a relay's life, step by step: commands from clients, Stripe, the destination and
// operators, in batches as the committer makes them, with checkpoints and restarts in between. A step depends
// only on its seed, its number and the database, so it can be repeated on any copy of the disk. One thread.

import Domain
import Formats
import Platform
import SQLiteStore
import Store
import TestSupport

/// A relay's store that runs the steps of a life.
final class Life {
  static let start = Timestamp(unixMilliseconds: 1_800_000_000_000)
  static let rules: [AppSlug: AppRules] = [
    "ios": AppRules(join: JoinPolicy(), processors: .askedStripe, compose: compose),
    "held": AppRules(join: JoinPolicy(withoutContext: .hold), processors: .stripe, compose: compose),
  ]

  /// The kinds of steps.
  enum Step {
    case batch
    /// Another connection moves the log into the database, so that the log is written from its start again.
    case checkpointAside
    /// The writer truncates the log.
    case checkpoint
    /// A clean stop and a start.
    case restart

    init(_ number: Int) {
      switch number % 12 {
      case 4: self = .checkpointAside
      case 7: self = .checkpoint
      case 10: self = .restart
      default: self = .batch
      }
    }
  }

  /// So that keys are moved on every few steps.
  static let keySizes = KeySizes(generation: 8, recentPart: 1)

  let path: String
  let seed: UInt64
  let ledger: Ledger
  /// Whether incoming bodies are short, for a fixture that people read.
  private let isTerse: Bool
  private var writer: StoreWriter?
  private var reader: StoreReader?

  init(path: String, seed: UInt64, ledger: Ledger, isTerse: Bool = false) {
    self.isTerse = isTerse
    self.path = path
    self.seed = seed
    self.ledger = ledger
  }

  /// The checkpoint threshold in pages: small, so that a checkpoint happens every few batches.
  private static let checkpointPages = 60

  static func compose(_ content: ReceiptContent) -> [UInt8] {
    let words = [
      content.userID.text, content.key.id.text, content.priceID?.text ?? "-", content.context ?? "-",
    ]
    return Array(words.map { "\"\($0)\"" }.joined(separator: ",").utf8)
  }

  /// Steps are twenty minutes apart, so that waits and retention become due.
  static func moment(of step: Int) -> Timestamp { start.advanced(by: .minutes(Int64(step) * 20)) }

  /// Opens the relay's store.
  /// - Parameter step: the current step, which seeds new random numbers.
  func open(at step: Int) throws(StoreError) {
    close()
    let random = SeededGenerator(seed: seed &+ UInt64(step) &* 0x1_0000)
    writer = try StoreWriter(
      path: path, role: .owner, rules: Self.rules, random: random, checkpointPages: Self.checkpointPages,
      background: seed % 2 == 0 ? nil : PassesAtOnce(path: path), keySizes: Self.keySizes)
  }

  func close() {
    reader = nil
    writer = nil
  }

  /// Runs a step.
  /// - Returns: why part of it could not be stored.
  func run(_ number: Int) -> Failure? {
    do {
      switch Step(number) {
      case .batch: return batch(number)
      case .checkpointAside: checkpointAside()
      case .checkpoint: try writer?.finish()
      case .restart:
        try writer?.finish()
        try open(at: number)
      }
      return nil
    } catch let error as StoreFault {
      return .fault(error)
    } catch {
      return .open
    }
  }

  /// Why a step failed.
  enum Failure: Equatable {
    case fault(StoreFault)
    /// The store could not be reopened.
    case open

    var endsTheProcess: Bool {
      switch self {
      case .fault(let error): error.kind == .syncFailed
      case .open: true
      }
    }
  }

  private func batch(_ number: Int) -> Failure? {
    guard let writer else { return .open }
    let now = Self.moment(of: number)
    let known = known(at: now)
    var happening = Happening(seed: seed, step: number, now: now, ledger: ledger, isTerse: isTerse)
    happening.comeIn()
    if let known {
      happening.deliver(known.due)
      happening.operate(known.receipts)
      happening.work(on: known.jobs)
    }
    happening.keepHouse()
    return writer.apply(happening.submissions, now: now).fault.map(Failure.fault)
  }

  /// An error of the other connection does not matter here.
  private func checkpointAside() {
    let aside = try? Connection(path: path, mode: .readWrite, busyTimeout: .seconds(1))
    try? aside?.execute("PRAGMA wal_checkpoint(PASSIVE)")
  }

  /// The values that the dispatcher, an operator and the job runner read.
  private struct Known {
    var due: [(app: AppSlug, receipt: StoreReader.DueReceipt)] = []
    var receipts: [ReceiptID] = []
    var jobs: [(id: JobID, action: JobAction)] = []
  }

  /// - Returns: nil when the database cannot be read now.
  private func known(at now: Timestamp) -> Known? {
    do {
      let reader = try self.reader ?? StoreReader(path: path)
      self.reader = reader
      var known = Known()
      for app in Self.rules.keys.sorted() {
        known.due += try reader.due(app: app, now: now, limit: 4).map { (app, $0) }
      }
      known.receipts = try reader.outlines(ReceiptFilter(), limit: 30).map(\.id)
      for job in try reader.jobs(JobFilter(), limit: 5) {
        var work = JobWork(job: job.row)
        known.jobs.append((job.id, try work.next(reader, now: now)))
      }
      return known
    } catch {
      reader = nil
      return nil
    }
  }
}

/// The checkpointer's passes, run in the middle of the writer's work.
private final class PassesAtOnce: BackgroundCheckpoints {
  private let path: String
  private let result = Monitor<Result<Int, StoreFault>?>(nil)

  init(path: String) { self.path = path }

  func begin() {
    let made: Result<Int, StoreFault>
    do throws(StoreFault) {
      made = .success(try BackgroundCheckpoint(path: path).pass())
    } catch {
      made = .failure(error)
    }
    result.withLock { $0 = made }
  }

  func popResult() -> Result<Int, StoreFault>? {
    result.withLock { result in
      defer { result = nil }
      return result
    }
  }
}
