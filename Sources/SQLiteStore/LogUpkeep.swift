// Keeps SQLite's write-ahead log short, beside the writer's transactions. The writer's thread.

internal import SQLite
public import Store

/// Checkpoints of the writer's connection (https://www.sqlite.org/wal.html#ckpt).
///
/// SQLite's own automatic checkpoints would keep their errors to themselves.
final class LogUpkeep: StoreUpkeep {
  private let connection: Connection
  private let checkpointPages: Int
  private let background: (any BackgroundCheckpoints)?
  private let isInPlace: (@Sendable () -> Bool)?
  private var isPassUnderWay = false
  /// How many pages of the log the last pass found or left in the database.
  private var movedPages = 0

  /// - Parameters:
  ///   - checkpointPages: how long the log may grow before it is moved into the database.
  ///   - background: makes most of each checkpoint beside the writer; without it the writer makes all of it.
  ///   - isInPlace: whether the database is still at its path; asked before each commit of a batch.
  init(
    _ connection: Connection, checkpointPages: Int, background: (any BackgroundCheckpoints)?,
    isInPlace: (@Sendable () -> Bool)?
  ) {
    self.connection = connection
    self.checkpointPages = checkpointPages
    self.background = background
    self.isInPlace = isInPlace
  }

  func beforeCommit() throws(StoreFault) {
    // Nothing is acknowledged that goes into a file which the next start does not find.
    if let isInPlace, !isInPlace() { throw StoreFault(SQLiteError.moved) }
  }

  func afterBatch() throws(StoreFault) {
    let pages = connection.logPages
    guard let background else {
      if pages >= checkpointPages { try freeSpace() }
      return
    }
    // A shorter log than what was moved of it: it has begun again.
    if pages < movedPages { movedPages = 0 }
    // A little at a time, for the sync of a commit waits in the disk's queue behind that of a pass.
    if !isPassUnderWay, pages - movedPages >= checkpointPages / 4 {
      isPassUnderWay = true
      background.begin()
    }
    guard isPassUnderWay, let result = background.takeResult() else { return }
    isPassUnderWay = false
    switch result {
    case .success(let moved): movedPages = moved
    case .failure(let fault) where fault.kind == .syncFailed: throw fault
    // Tried again with the next batch, and by the writer if the log is long.
    case .failure: break
    }
    // As long as commits go on, a pass never catches up with them; the log begins again only when nothing of
    // it is left to be moved, so the little that came meanwhile is moved here.
    if pages >= checkpointPages { try freeSpace() }
  }

  /// Moves as much of the log into the database file as no reader still needs where it is; the log is then
  /// written from its start again.
  func freeSpace() throws(StoreFault) {
    try translated { () throws(SQLiteError) in try connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
  }

  /// Moves the log into the database file and cuts it.
  func finish() throws(StoreFault) {
    try translated { () throws(SQLiteError) in try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
  }
}

extension StoreWriter {
  /// How many pages the log may have before the writer moves what is left of it: 16 MiB, which a start
  /// after a crash reads in a moment.
  public static let checkpointPages = 4096

  /// The writing side of an SQLite database.
  /// - Parameters:
  ///   - role: `owner` for receiptd, `guest` for receiptctl.
  ///   - rules: what each configured app's configuration means for the store.
  ///   - checkpointPages: how long the log may grow before it is moved into the database.
  ///   - background: makes most of each checkpoint beside the writer; without it the writer makes all of it.
  ///   - onDamage: called whenever SQLite finds damage.
  ///   - isInPlace: whether the database is still at its path; asked before each commit of a batch.
  public convenience init(
    path: String, role: DatabaseRole, rules: [String: AppRules],
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    checkpointPages: Int = checkpointPages, background: (any BackgroundCheckpoints)? = nil,
    onDamage: (@Sendable (StoreFault) -> Void)? = nil, isInPlace: (@Sendable () -> Bool)? = nil
  ) throws(StoreError) {
    let connection = try Database.open(path: path, role: role, onDamage: onDamage)
    let upkeep = LogUpkeep(
      connection, checkpointPages: checkpointPages, background: background, isInPlace: isInPlace)
    do throws(StoreFault) {
      try self.init(
        StoreConnection(SQLiteConnection(connection)), rules: rules, random: random, upkeep: upkeep)
    } catch {
      throw .fault(error)
    }
  }
}

extension StoreReader {
  /// The reading side of an SQLite database.
  /// - Parameters:
  ///   - role: `reader` beside a running daemon; `guest` where the log may have to be recovered first.
  ///   - onDamage: called whenever SQLite finds damage.
  public convenience init(
    path: String, role: DatabaseRole = .reader, onDamage: (@Sendable (StoreFault) -> Void)? = nil
  ) throws(StoreError) {
    let connection = try Database.open(path: path, role: role, onDamage: onDamage)
    do throws(StoreFault) {
      try self.init(StoreConnection(SQLiteConnection(connection)))
    } catch {
      throw .fault(error)
    }
  }

  /// Copies the database, as it is at one moment, into a new file.
  public func copy(to path: String) throws(StoreFault) {
    guard let engine = connection.engine as? SQLiteConnection else {
      throw StoreFault(.misuse, operation: "copy database", reason: "the database is not SQLite's")
    }
    try translated { () throws(SQLiteError) in try engine.connection.copy(to: path) }
  }
}
