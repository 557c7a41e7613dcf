// The one writer: applies batches of commands, each batch in one synced transaction, and answers after it
// (R1). One thread at a time; its owner sees to that.

public import Domain

/// What came of a batch.
public struct BatchResult: Sendable {
  /// What changed.
  public var changes: StoreChanges
  /// Why something of it could not be stored, which was reported to whoever submitted it; or why the upkeep
  /// after it failed.
  public var fault: StoreFault?
}

/// What an engine does on the writer's thread beside the writer's transactions.
public protocol StoreUpkeep: AnyObject {
  /// Called as late as possible before each commit of a batch. Throws when nothing may be stored.
  func beforeCommit() throws(StoreFault)
  /// Called after the answers of each batch, so that nobody waits for it.
  func afterBatch() throws(StoreFault)
  /// Frees as much of the disk space beside the database as it can now.
  func freeSpace() throws(StoreFault)
  /// Called once, at a clean stop.
  func finish() throws(StoreFault)
}

/// The writing side of the store.
public final class StoreWriter {
  private let session: StoreSession
  private let upkeep: any StoreUpkeep

  /// - Parameters:
  ///   - rules: what each configured app's configuration means for the store.
  ///   - upkeep: of the same connection.
  public init(
    _ connection: StoreConnection, rules: [String: AppRules],
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(), upkeep: any StoreUpkeep
  ) throws(StoreFault) {
    session = try StoreSession(connection, rules: rules, random: random)
    self.upkeep = upkeep
  }

  /// New rules, from the next batch on.
  public func use(rules: [String: AppRules]) { session.rules = rules }

  /// Applies a batch: one transaction, one sync, then every answer.
  ///
  /// When a command fails, all is undone and each is tried alone, so that one that cannot be stored takes no
  /// other with it. When the database fails, nothing of the batch is on disk and all are told so.
  public func apply(_ batch: [Submission], now: Timestamp) -> BatchResult {
    var result = commitAll(batch, now: now)
    do throws(StoreFault) {
      try upkeep.afterBatch()
    } catch {
      if error.kind == .syncFailed || result.fault == nil { result.fault = error }
    }
    return result
  }

  private func commitAll(_ batch: [Submission], now: Timestamp) -> BatchResult {
    switch commit(batch, now: now) {
    case .success(let changes): return BatchResult(changes: changes, fault: nil)
    case .failure(let error) where batch.count > 1 && error.kind.mayConcernOneCommand:
      var result = BatchResult(changes: StoreChanges(), fault: nil)
      for submission in batch {
        if let fault = result.fault, !fault.kind.mayConcernOneCommand {
          submission.fail(fault)
          continue
        }
        switch commit([submission], now: now) {
        case .success(let more): result.changes.formUnion(more)
        case .failure(let error):
          submission.fail(error)
          result.fault = error
        }
      }
      return result
    case .failure(let error):
      for submission in batch { submission.fail(error) }
      return BatchResult(changes: StoreChanges(), fault: error)
    }
  }

  /// Applies one command and waits for the disk.
  public func apply<Command: StoreCommand>(
    _ command: Command, now: Timestamp
  ) throws(StoreFault) -> Command.Outcome {
    try session.transaction(now: now) { () throws(StoreFault) in try command.apply(to: session) }
  }

  private func commit(_ batch: [Submission], now: Timestamp) -> Result<StoreChanges, StoreFault> {
    do throws(StoreFault) {
      let answers = try session.transaction(now: now) { () throws(StoreFault) in
        try session.readAhead(batch)
        var answers: [@Sendable () -> Void] = []
        answers.reserveCapacity(batch.count)
        for submission in batch { answers.append(try submission.apply(to: session)) }
        try upkeep.beforeCommit()
        return answers
      }
      for answer in answers { answer() }
      return .success(session.changes)
    } catch {
      return .failure(error)
    }
  }

  /// Frees as much of the disk space beside the database as the engine can now.
  public func freeSpace() throws(StoreFault) { try upkeep.freeSpace() }

  /// To be called at a clean stop, after the last batch.
  public func finish() throws(StoreFault) { try upkeep.finish() }
}
