// SQLite as a program's database engine: one file with its log, and the background work on it. Thread-safe.

public import Domain
public import Platform
public import Store

/// An SQLite database.
public final class SQLiteEngine: StoreEngine {
  /// What a daemon runs beside its connections. Tests and simulations leave it out.
  public struct Services: Sendable {
    /// Whether a separate thread moves the log into the database; otherwise the writer does.
    public var movesLogInBackground = false
    /// The time limit of the damage check at the start; nil for no check.
    public var checkTime: Duration?
    /// Whether the database is a file of the operating system and can be moved.
    public var watchesFile = false
    /// When keys are moved.
    public var keySizes = KeySizes()

    public init() {}
  }

  /// The space kept back for a full disk: the longest log between two checkpoints, because a checkpoint may
  /// need as much again.
  public static let reserveBytes = StoreWriter.checkpointPages * 4096

  /// The database file; symbolic links are resolved if the engine serves it.
  public let path: String
  public let reserve: any SpaceReserve
  private let role: DatabaseRole
  private let services: Services
  private let memory = KeyMemory()
  private let health: DatabaseHealth?
  private let checker: DatabaseChecker?
  private let checkpointer: Checkpointer?
  /// Nil for a program that does not serve the database.
  private let lock: DatabaseLock?

  /// For a program that writes to the database occasionally, beside the daemon or while it is down.
  public init(guest path: String) {
    self.path = path
    role = .guest
    services = Services()
    reserve = FileReserve(path: Self.reservePath(of: path), bytes: Self.reserveBytes)
    (health, checker, checkpointer, lock) = (nil, nil, nil, nil)
  }

  /// For the program that owns the database. A daemon uses `serve`, which locks the database first.
  /// - Parameters:
  ///   - lock: of a daemon.
  ///   - reserve: used by tests; nil for a file beside the database.
  ///   - onSyncFailure: called when a write outside the writer's transactions could not be made durable.
  public init(
    owner path: String, services: Services = Services(), lock: DatabaseLock? = nil,
    reserve: (any SpaceReserve)? = nil, log: Log,
    onSyncFailure: @escaping @Sendable (StoreFault) -> Void
  ) {
    self.path = path
    self.services = services
    self.lock = lock
    role = .owner
    self.reserve =
      reserve ?? FileReserve(path: Self.reservePath(of: path), bytes: Self.reserveBytes)
    let health = DatabaseHealth(log: log)
    let checker = services.checkTime.map { limit in
      DatabaseChecker(path: path, limit: limit, health: health, log: log)
    }
    (self.health, self.checker) = (health, checker)
    checkpointer =
      services.movesLogInBackground
      ? Checkpointer(
        path: path, onSyncFailure: onSyncFailure, onDamage: { health.note($0) },
        onHeldBack: { checker?.giveWay() })
      : nil
  }

  /// For a daemon: locks the database for this process until it ends.
  /// - Parameters:
  ///   - makesNew: whether to create an empty database although files of an earlier one exist.
  ///   - acceptsLostLog: whether to go on without the log of a run that did not end cleanly.
  ///   - onMigration: called when opening the writer will bring the schema up to date.
  public static func serve(
    _ path: String, makesNew: Bool, acceptsLostLog: Bool = false, log: Log, now: Timestamp,
    onMigration: () -> Void,
    onSyncFailure: @escaping @Sendable (StoreFault) -> Void
  ) throws(DatabaseRefusal) -> SQLiteEngine {
    let lock = try DatabaseLock.serve(path, makesNew: makesNew, acceptsLostLog: acceptsLostLog, now: now)
    lock.keep()
    for path in lock.setAside {
      log.warning("moved the remaining files of the lost database aside", ["file": path])
    }
    if let file = FileIdentity(path: lock.path), file.links > 1 {
      log.warning(
        "the database file has more than one name (hard links); its log has only one, so to open it by "
          + "another name destroys it: remove the other names. They are found with: "
          + "find / -xdev -samefile PATH",
        ["file": lock.path, "names": String(file.links)])
    }
    if let kind = FileSystemKind.remote(at: lock.path) {
      log.warning(
        "the database file is on a network file system, whose locks and syncs cannot be relied on, so it can "
          + "be damaged: move it to a local disk", ["file": lock.path, "file_system": kind])
    }
    let hasEndedWell = forgetUnsynced(lock.path)
    // Only after the lock: opening a database under another name creates a second log.
    if Database.isMigrationDue(path: lock.path) { onMigration() }
    var services = Services()
    services.movesLogInBackground = true
    services.watchesFile = true
    services.checkTime =
      hasEndedWell ? DatabaseChecker.timeAfterStop : DatabaseChecker.timeAfterCrash
    return SQLiteEngine(
      owner: lock.path, services: services, lock: lock, log: log, onSyncFailure: onSyncFailure)
  }

  /// Drops the kernel's cached pages of the database. The previous run may have ended because a sync failed,
  /// and then cached pages may not be on the disk. Only a clean stop leaves no log, and then the cache is
  /// valid.
  /// - Returns: whether the previous run ended cleanly.
  private static func forgetUnsynced(_ path: String) -> Bool {
    guard FileCache.forget(path + "-wal") else { return true }
    FileCache.forget(path)
    return false
  }

  private static func reservePath(of path: String) -> String { path + ".reserve" }

  public func openWriter(
    rules: [AppSlug: AppRules], random: any RandomNumberGenerator & Sendable
  ) throws(StoreError) -> StoreWriter {
    let writer = try StoreWriter(
      path: path, role: role, rules: rules, random: random, background: checkpointer, memory: memory,
      keySizes: services.keySizes, onDamage: onDamage, isInPlace: isInPlace, refusesCopied: true,
      lock: lock)
    if services.watchesFile { health?.watch(path) }
    return writer
  }

  public func openReader() throws(StoreError) -> StoreReader {
    role == .owner
      ? try StoreReader(path: path, memory: memory, onDamage: onDamage)
      : try StoreReader(path: path, role: role, onDamage: onDamage)
  }

  private var onDamage: (@Sendable (StoreFault) -> Void)? {
    guard let health else { return nil }
    return { health.note($0) }
  }

  private var isInPlace: (@Sendable () -> Bool)? {
    guard let health else { return nil }
    return { health.isInPlace() }
  }

  public func start() throws(SystemError) {
    try checkpointer?.start()
    try checker?.start()
  }

  public func stop() {
    checker?.stop()
    checkpointer?.stop()
  }

  public func poll() {
    // Also checks when nothing is stored. `DatabaseHealth` logs what it finds.
    _ = health?.isInPlace()
    if services.watchesFile {
      health?.checkLockFile(lock)
      // A released reserve is an empty file.
      if FileIdentity(path: Self.reservePath(of: path)) == nil { _ = reserve.acquire() }
    }
    checker?.endWhenOver()
  }

  public var troubles: [StoreTrouble] { health?.troubles ?? [] }

  public var space: StoreSpace {
    let files = [("database", ""), ("wal", "-wal")].compactMap { name, suffix in
      DiskSpace.fileBytes(at: path + suffix).map { StoreSpace.Part(name: name, bytes: $0) }
    }
    return StoreSpace(parts: files, freeBytes: DiskSpace.availableBytes(at: path))
  }
}
