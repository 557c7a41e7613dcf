// The only writer: applies each batch of commands in one synced transaction, and answers after the commit
// (R1). One thread at a time; the owner ensures this.

public import Domain

/// The result of a batch.
public struct BatchResult: Sendable {
  /// What changed.
  public var changes: StoreChanges
  /// How many of the commands were completed, from the first on.
  public var appliedCount: Int
  /// Why a command could not be stored, which its completion also received; or why the upkeep after the batch
  /// failed.
  public var fault: StoreFault?
  /// What the engine did for it.
  public var work = EngineWork()
}

/// How long a transaction takes more commands of a batch.
public struct BatchLimit {
  /// Called when the first command is applied: what was read before does not count. The result is asked after
  /// every few commands; once it returns true, the transaction is committed without the others.
  let begin: (() -> () -> Bool)?
  /// Asked while the database cannot be reached: true after a pause, to try again; false to give up. Most
  /// failovers end before a sender's patience does.
  let waits: () -> Bool

  public init(_ begin: @escaping () -> () -> Bool, waits: @escaping () -> Bool = { false }) {
    self.begin = begin
    self.waits = waits
  }

  private init() { (begin, waits) = (nil, { false }) }

  /// The whole batch.
  public static var none: Self { Self() }
}

/// The writing side of the store.
public final class StoreWriter {
  /// Reading the clock takes as long as a small part of a command.
  static let commandsPerClockCheck = 16
  /// How often a batch is tried again after a conflict with another program.
  static let conflictsMax = 5
  /// For how many commands one transaction reads ahead.
  static let plannedMin = 64
  static let plannedMax = 1024

  private let session: StoreSession
  private let upkeep: any StoreUpkeep
  private var planned = plannedMin

  /// - Parameters:
  ///   - rules: each configured app's rules.
  ///   - upkeep: of the same connection.
  public init(
    _ connection: StoreConnection, rules: [AppSlug: AppRules],
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(), upkeep: any StoreUpkeep
  ) throws(StoreFault) {
    session = try StoreSession(connection, rules: rules, random: random)
    self.upkeep = upkeep
  }

  /// Sets new rules, used from the next batch on.
  public func use(rules: [AppSlug: AppRules]) { session.rules = rules }

  /// Applies a batch: one transaction, one sync, then all completions.
  ///
  /// If a command fails, the transaction is rolled back and each command is tried alone, so that one invalid
  /// command does not fail the others. If the database fails, nothing of the batch is on disk and every
  /// command fails.
  /// - Parameter limit: the commands that the transaction does not get to are left, and the caller must
  ///   apply them later.
  public func apply(_ batch: [Submission], now: Timestamp, limit: BatchLimit = .none) -> BatchResult {
    let before = upkeep.work
    var result = commitAll(batch, now: now, limit)
    result.work = upkeep.work - before
    do throws(StoreFault) {
      try upkeep.afterBatch()
    } catch {
      if error.kind == .syncFailed || result.fault == nil { result.fault = error }
    }
    return result
  }

  private func commitAll(_ batch: [Submission], now: Timestamp, _ limit: BatchLimit) -> BatchResult {
    switch commitAgain(batch, now: now, limit) {
    case .success(let count):
      return BatchResult(changes: session.changes, appliedCount: count, fault: nil)
    case .failure(let error) where batch.count > 1 && error.kind.mayConcernOneCommand:
      var result = BatchResult(changes: StoreChanges(), appliedCount: batch.count, fault: nil)
      for submission in batch {
        if let fault = result.fault, !fault.kind.mayConcernOneCommand {
          submission.fail(fault)
          continue
        }
        switch commitAgain([submission], now: now, .none) {
        case .success: result.changes.formUnion(session.changes)
        case .failure(let error):
          submission.fail(error)
          result.fault = error
        }
      }
      return result
    case .failure(let error):
      for submission in batch { submission.fail(error) }
      return BatchResult(changes: StoreChanges(), appliedCount: batch.count, fault: error)
    }
  }

  /// Commits a batch, again after conflicts: then nothing of it was stored.
  private func commitAgain(
    _ batch: [Submission], now: Timestamp, _ limit: BatchLimit
  ) -> Result<Int, StoreFault> {
    var result = commit(batch, now: now, limit)
    var conflicts = 0
    while case .failure(let error) = result {
      switch error.kind {
      case .conflict where conflicts < Self.conflictsMax: conflicts += 1
      case .unreachable where limit.waits(): break
      default: return result
      }
      result = commit(batch, now: now, limit)
    }
    return result
  }

  /// Applies one command and waits for the sync.
  public func apply<Command: StoreCommand>(
    _ command: Command, now: Timestamp
  ) throws(StoreFault) -> Command.Outcome {
    let plan = BatchPlan([(command.reads, command.scope)])
    for _ in 0..<Self.conflictsMax {
      do throws(StoreFault) {
        return try session.transaction(plan, now: now) { () throws(StoreFault) in
          try command.apply(to: session)
        }
      } catch {
        guard error.kind == .conflict else { throw error }
      }
    }
    return try session.transaction(plan, now: now) { () throws(StoreFault) in try command.apply(to: session) }
  }

  /// - Returns: how many of the commands were applied.
  private func commit(
    _ batch: [Submission], now: Timestamp, _ limit: BatchLimit
  ) -> Result<Int, StoreFault> {
    do throws(StoreFault) {
      let batch = session.readAhead == nil || limit.begin == nil ? batch[...] : batch.prefix(planned)
      let plan =
        session.readAhead == nil ? BatchPlan([]) : BatchPlan(batch.map { ($0.reads, $0.scope) })
      let answers = try session.transaction(plan, now: now) { () throws(StoreFault) in
        let isLate = limit.begin?()
        var answers: [@Sendable () -> Void] = []
        answers.reserveCapacity(batch.count)
        for submission in batch {
          answers.append(try submission.apply(to: session))
          guard answers.count.isMultiple(of: Self.commandsPerClockCheck) else { continue }
          session.forgetIfLarge()
          if isLate?() ?? false { break }
        }
        try upkeep.beforeCommit()
        return answers
      }
      for answer in answers { answer() }
      // What was read for commands that the transaction did not get to is read again.
      planned = max(Self.plannedMin, answers.count == batch.count ? planned * 2 : answers.count * 2)
      planned = min(planned, Self.plannedMax)
      return .success(answers.count)
    } catch {
      return .failure(error)
    }
  }

  /// Frees as much as possible of the disk space used beside the database, such as its log.
  public func freeSpace() throws(StoreFault) { try upkeep.freeSpace() }

  /// Must be called at a clean stop, after the last batch.
  public func finish() throws(StoreFault) { try upkeep.finish() }
}
