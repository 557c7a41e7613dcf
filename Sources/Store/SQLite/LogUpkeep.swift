// Keeps SQLite's write-ahead log short, between the writer's transactions. The writer's thread.

public import Domain
public import Store

/// Checkpoints of the writer's connection (https://www.sqlite.org/wal.html#ckpt).
///
/// SQLite's automatic checkpoints do not report their errors.
final class LogUpkeep: StoreUpkeep {
  private let connection: Connection
  private let checkpointPages: Int
  private let background: (any BackgroundCheckpoints)?
  private let isInPlace: (@Sendable () -> Bool)?
  /// Nil for a program that does not serve the database.
  private let lock: DatabaseLock?
  private var isPassUnderWay = false
  /// How many of the log's pages were in the database after the last pass.
  private var movedPages = 0

  /// - Parameters:
  ///   - checkpointPages: how long the log may grow before it is moved into the database.
  ///   - background: runs most of each checkpoint beside the writer; without it the writer runs all of it.
  ///   - isInPlace: whether the database is still at its path; called before each commit of a batch.
  ///   - lock: learns of the clean end; nil for a program that does not serve the database.
  init(
    _ connection: Connection, checkpointPages: Int, background: (any BackgroundCheckpoints)?,
    isInPlace: (@Sendable () -> Bool)?, lock: DatabaseLock? = nil
  ) {
    self.lock = lock
    self.connection = connection
    self.checkpointPages = checkpointPages
    self.background = background
    self.isInPlace = isInPlace
  }

  var work: EngineWork {
    EngineWork(statements: connection.statementCount, logPages: connection.addedLogPages)
  }

  func beforeCommit() throws(StoreFault) {
    // The next start would not find data in a moved file, so it must not be acknowledged.
    if let isInPlace, !isInPlace() { throw StoreFault(SQLiteError.moved) }
  }

  func afterBatch() throws(StoreFault) {
    let pages = connection.logPages
    guard let background else {
      if pages >= checkpointPages { try freeSpace() }
      return
    }
    // The log is shorter than after the last pass, because SQLite restarted it.
    if pages < movedPages { movedPages = 0 }
    // Passes are small, because a commit's sync waits in the disk's queue behind a pass's sync.
    if !isPassUnderWay, pages - movedPages >= checkpointPages / 4 {
      isPassUnderWay = true
      background.begin()
    }
    guard isPassUnderWay, let result = background.popResult() else { return }
    isPassUnderWay = false
    switch result {
    case .success(let moved): movedPages = moved
    case .failure(let fault) where fault.kind == .syncFailed: throw fault
    // Retried with the next batch, and by the writer if the log is long.
    case .failure: break
    }
    // A pass never catches up while commits go on, and the log restarts only when all of it is moved. So the
    // writer moves the remaining pages here.
    if pages >= checkpointPages { try freeSpace() }
  }

  /// Moves the part of the log that no reader needs into the database file. If that is all of the log, SQLite
  /// next writes it from its start.
  func freeSpace() throws(StoreFault) {
    try translated { () throws(SQLiteError) in try connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
  }

  /// Moves the log into the database file and truncates it.
  func finish() throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      if lock != nil { try CleanEnd.end(connection) }
      // Before the log is empty: a start that finds no log needs both marks removed.
      lock?.noteEnd()
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      if lock == nil { try CleanEnd.keepLog(connection) }
    }
  }
}

extension StoreWriter {
  /// How many pages the log may have before the writer moves the rest: 16 MiB, which a start after a crash
  /// reads quickly.
  public static let checkpointPages = 4096

  /// The writing side of an SQLite database.
  /// - Parameters:
  ///   - role: `owner` for receiptd, `guest` for receiptctl.
  ///   - rules: what each configured app's configuration means for the store.
  ///   - checkpointPages: how long the log may grow before it is moved into the database.
  ///   - background: runs most of each checkpoint beside the writer; without it the writer runs all of it.
  ///   - memory: where the owner keeps the newest keys, shared with this program's readers.
  ///   - keySizes: when the owner moves keys.
  ///   - onDamage: called whenever SQLite reports damage.
  ///   - isInPlace: whether the database is still at its path; called before each commit of a batch.
  ///   - refusesCopied: whether a database that was copied, or is an unfinished copy, is refused.
  ///   - lock: of a program that serves the database.
  public convenience init(
    path: String, role: DatabaseRole, rules: [AppSlug: AppRules],
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    checkpointPages: Int = checkpointPages, background: (any BackgroundCheckpoints)? = nil,
    memory: KeyMemory = KeyMemory(), keySizes: KeySizes = KeySizes(),
    onDamage: (@Sendable (StoreFault) -> Void)? = nil,
    isInPlace: (@Sendable () -> Bool)? = nil, refusesCopied: Bool = false, lock: DatabaseLock? = nil
  ) throws(StoreError) {
    let connection = try Database.open(path: path, role: role, onDamage: onDamage)
    if refusesCopied { try StoreConnection(SQLiteConnection(connection)).admitWriter() }
    do throws(SQLiteError) {
      try lock?.noteStart(connection)
    } catch {
      throw .fault(StoreFault(error))
    }
    let upkeep = LogUpkeep(
      connection, checkpointPages: checkpointPages, background: background, isInPlace: isInPlace,
      lock: lock)
    do throws(StoreFault) {
      let engine =
        role == .owner
        ? try SQLiteConnection(owner: connection, memory: memory, sizes: keySizes)
        : SQLiteConnection(connection)
      try self.init(StoreConnection(engine), rules: rules, random: random, upkeep: upkeep)
    } catch {
      throw .fault(error)
    }
  }
}

extension StoreReader {
  /// The reading side of an SQLite database.
  /// - Parameters:
  ///   - role: `reader` beside a running daemon; `guest` if the log may have to be recovered first.
  ///   - memory: the newest keys of the database's owner, if that is this program.
  ///   - onDamage: called whenever SQLite reports damage.
  public convenience init(
    path: String, role: DatabaseRole = .reader, memory: KeyMemory? = nil,
    onDamage: (@Sendable (StoreFault) -> Void)? = nil
  ) throws(StoreError) {
    let connection = try Database.open(path: path, role: role, onDamage: onDamage)
    self.init(StoreConnection(SQLiteConnection(connection, memory: memory)))
  }

  /// Makes a running statement of an SQLite database fail with the kind `interrupted`. Called from any
  /// thread.
  /// - Returns: nil for another engine.
  public var interrupt: (@Sendable () -> Void)? {
    guard let engine = connection.engine as? SQLiteConnection else { return nil }
    let interrupter = engine.connection.interrupter
    return { interrupter.interrupt() }
  }

  /// Checks the pages of an SQLite database, and what its rows say about each other. Reads all of it.
  /// - Parameter progress: called with the share that is done, 0…1.
  /// - Returns: one sentence per fault.
  public func integrityFaults(progress: (Double) -> Void) throws(StoreFault) -> [String] {
    guard let engine = connection.engine as? SQLiteConnection else { return try integrityFaults() }
    let pages = try translated { () throws(SQLiteError) in
      try IntegrityCheck(connection: engine.connection).run { progress($0 * 0.85) }.all
        + engine.connection.orphans()
    }
    return try pages + wrongCounts() + unknownDictionaries()
  }

  /// About how large a copy of an SQLite database becomes.
  public func usedBytes() throws(StoreFault) -> Int64 {
    guard let engine = connection.engine as? SQLiteConnection else { return 0 }
    return try translated { () throws(SQLiteError) in try engine.connection.usedBytes() }
  }

  /// Copies a snapshot of the database into a new file.
  public func copy(to path: String) throws(StoreFault) {
    guard let engine = connection.engine as? SQLiteConnection else {
      throw StoreFault(.misuse, operation: "copy database", reason: "the database is not SQLite's")
    }
    try translated { () throws(SQLiteError) in try engine.connection.copy(to: path) }
  }
}
