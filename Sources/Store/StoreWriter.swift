// The one writer: applies batches of commands, each batch in one synced transaction, and answers after it
// (R1). One thread at a time; its owner sees to that.

public import Domain
public import SQLite

/// What came of a batch.
public struct BatchResult: Sendable {
  /// What changed.
  public var changes: StoreChanges
  /// Why something of it could not be stored, whoever submitted that was told; or why the log could not be
  /// moved.
  public var fault: SQLiteError?
}

/// The writing side of the store.
public final class StoreWriter {
  /// How long the log may grow before the writer moves what is left of it and begins it anew: 16 MiB, which a
  /// start after a crash reads in a moment.
  public static let checkpointPages = 4096

  private let connection: Connection
  private let checkpointPages: Int
  private let background: (any BackgroundCheckpoints)?
  private let isInPlace: (@Sendable () -> Bool)?
  private var isPassUnderWay = false
  /// How much of the log the last pass found or left in the database.
  private var movedPages = 0
  private let session: StoreSession

  /// - Parameters:
  ///   - role: `owner` for receiptd, `guest` for receiptctl.
  ///   - rules: what each configured app's configuration means for the store.
  ///   - checkpointPages: how long the log may grow before it is moved into the database.
  ///   - background: who moves most of it beside the writer; without it the writer moves all.
  ///   - onDamage: called whenever SQLite meets damage.
  ///   - isInPlace: whether the database is still at its path; asked before each commit of a batch.
  public init(
    path: String, role: DatabaseRole, rules: [String: AppRules],
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    checkpointPages: Int = checkpointPages, background: (any BackgroundCheckpoints)? = nil,
    onDamage: (@Sendable (SQLiteError) -> Void)? = nil, isInPlace: (@Sendable () -> Bool)? = nil
  ) throws(StoreError) {
    connection = try Database.open(path: path, role: role, onDamage: onDamage)
    self.isInPlace = isInPlace
    self.checkpointPages = checkpointPages
    self.background = background
    do throws(SQLiteError) {
      session = try StoreSession(connection, rules: rules, random: random)
    } catch {
      throw .sqlite(error)
    }
  }

  /// New rules, from the next batch on.
  public func use(rules: [String: AppRules]) { session.rules = rules }

  /// Applies a batch: one transaction, one sync, then every answer.
  ///
  /// When a command fails, all is undone and each is tried alone, so that one that cannot be stored takes no
  /// other with it. When the database fails, nothing of the batch is on disk and all are told so.
  public func apply(_ batch: [Submission], now: Timestamp) -> BatchResult {
    var result = commitAll(batch, now: now)
    do throws(SQLiteError) {
      // After the answers, so that nobody waits for it. SQLite's own checkpoints would keep their errors to
      // themselves.
      try keepLogShort()
    } catch {
      if error.kind == .syncFailed || result.fault == nil { result.fault = error }
    }
    return result
  }

  private func keepLogShort() throws(SQLiteError) {
    let pages = connection.logPages
    guard let background else {
      if pages >= checkpointPages { try moveLog() }
      return
    }
    // A shorter log than what was moved of it: it has begun anew.
    if pages < movedPages { movedPages = 0 }
    // Little at a time, for the sync of a commit waits in the disk's queue behind that of a pass.
    if !isPassUnderWay, pages - movedPages >= checkpointPages / 4 {
      isPassUnderWay = true
      background.begin()
    }
    guard isPassUnderWay, let result = background.takeResult() else { return }
    isPassUnderWay = false
    switch result {
    case .success(let moved): movedPages = moved
    case .failure(let error) where error.kind == .syncFailed: throw error
    // Tried again with the next batch, and by the writer if the log is long.
    case .failure: break
    }
    // As long as commits go on, a pass never catches up with them; the log begins anew only when nothing of
    // it is left to be moved, so the little that came meanwhile is moved here.
    if pages >= checkpointPages { try moveLog() }
  }

  private func commitAll(_ batch: [Submission], now: Timestamp) -> BatchResult {
    switch commit(batch, now: now) {
    case .success(let changes): return BatchResult(changes: changes, fault: nil)
    case .failure(let error) where batch.count > 1 && error.kind.mayConcernOneStatement:
      var result = BatchResult(changes: StoreChanges(), fault: nil)
      for submission in batch {
        if let fault = result.fault, !fault.kind.mayConcernOneStatement {
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
  ) throws(SQLiteError) -> Command.Outcome {
    try session.transaction(now: now) { () throws(SQLiteError) in try command.apply(to: session) }
  }

  private func commit(_ batch: [Submission], now: Timestamp) -> Result<StoreChanges, SQLiteError> {
    do throws(SQLiteError) {
      let answers = try session.transaction(now: now) { () throws(SQLiteError) in
        var answers: [@Sendable () -> Void] = []
        answers.reserveCapacity(batch.count)
        for submission in batch { answers.append(try submission.apply(session)) }
        // As late as can be: nothing is acknowledged that goes into a file which nobody finds again.
        if let isInPlace, !isInPlace() { throw SQLiteError.moved }
        return answers
      }
      for answer in answers { answer() }
      return .success(session.changes)
    } catch {
      return .failure(error)
    }
  }

  /// Moves as much of the log into the database file as no reader still needs where it is; the log is then
  /// written from its beginning again.
  public func moveLog() throws(SQLiteError) { try connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }

  /// Moves the log into the database file and cuts it, at a clean stop.
  public func checkpoint() throws(SQLiteError) {
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}
