// A database as a program uses it, for any engine. What only one engine has (files, logs, caches, checks,
// backups) stays in the engine's own target.

public import Domain
public import Platform

/// A database. It opens connections and runs the engine's background work. Thread-safe.
public protocol StoreEngine: AnyObject, Sendable {
  /// Opens the connection that writes; one at a time in a process. The owner of the database creates it if
  /// there is none, and migrates its schema.
  /// - Parameters:
  ///   - rules: what each configured app's configuration means for the store.
  ///   - random: for identifiers.
  func openWriter(
    rules: [AppSlug: AppRules], random: any RandomNumberGenerator & Sendable
  ) throws(StoreError) -> StoreWriter
  /// Opens a connection that only reads.
  func openReader() throws(StoreError) -> StoreReader

  /// Makes this program one of several on the database; nil if the engine has one program only.
  func makeInstance(_ calls: InstanceCalls, log: Log) -> (any StoreInstance)?

  /// The programs that use the database now, and its time; nil if the engine has one program only.
  func instances() throws(StoreFault) -> (now: Timestamp, running: [InstanceDescription])?
  /// Whether there are any, on a reader's connection: another one costs more than the question.
  func hasInstances(_ reader: StoreReader) throws(StoreFault) -> Bool
  /// Notifies the programs that use the database of a change by this one, which is not an instance.
  func notifyInstances() throws(StoreFault)

  /// Reads again how the database is reached. Open connections stay.
  func reload()

  /// Starts the engine's threads. Called once the writer is open.
  func start() throws(SystemError)
  /// Stops the engine's threads. The writer and readers continue to work.
  func stop()
  /// Checks the database. Must be called every few seconds.
  func poll()

  /// The present faults of the database. Each call checks the database and must return quickly.
  var troubles: [StoreTrouble] { get }
  /// Space that the engine reserves for a full disk, so that necessary writes can continue.
  var reserve: any SpaceReserve { get }
  /// The disk space that the database uses now.
  var space: StoreSpace { get }
}

extension StoreEngine {
  public func makeInstance(_ calls: InstanceCalls, log: Log) -> (any StoreInstance)? { nil }
  public func instances() throws(StoreFault) -> (now: Timestamp, running: [InstanceDescription])? { nil }
  public func hasInstances(_ reader: StoreReader) throws(StoreFault) -> Bool { false }
  public func notifyInstances() throws(StoreFault) {}
  public func reload() {}
}

/// A fault of an open database.
public enum StoreTrouble: Sendable, Hashable {
  /// The database is no longer in its place: nothing is stored until it is back.
  case moved
  /// Damage lasts until the next start.
  case damaged
  /// The database is on another machine or in another process, and does not answer.
  case unreachable
  /// The clocks of this machine and of the database differ by so much.
  case clockDiffers(Duration)
}

/// The disk space that a database uses.
public struct StoreSpace: Sendable, Equatable {
  /// A file of the database, or another part that the engine counts separately.
  public struct Part: Sendable, Equatable {
    public var name: String
    public var bytes: Int64

    public init(name: String, bytes: Int64) {
      self.name = name
      self.bytes = bytes
    }
  }

  /// The parts whose size is known.
  public var parts: [Part]
  /// The free space on its disk; nil if unknown.
  public var freeBytes: Int64?

  public init(parts: [Part], freeBytes: Int64?) {
    self.parts = parts
    self.freeBytes = freeBytes
  }
}

// MARK: - StoreUpkeep

// What an engine does on the writer's thread besides transactions.

/// An engine's work on the writer's thread between transactions.
public protocol StoreUpkeep: AnyObject {
  /// The work of the writer's connection so far.
  var work: EngineWork { get }
  /// Called as late as possible before each commit of a batch. Throws if nothing may be stored.
  func beforeCommit() throws(StoreFault)
  /// Called after the answers of each batch, so that no request waits for it.
  func afterBatch() throws(StoreFault)
  /// Frees as much as possible of the disk space used beside the database, such as its log.
  func freeSpace() throws(StoreFault)
  /// Called once, at a clean stop.
  func finish() throws(StoreFault)
}

extension StoreUpkeep {
  /// For an engine that does not count.
  public var work: EngineWork { EngineWork() }
}

/// What an engine did for the writer, in its own units.
public struct EngineWork: Sendable, Equatable {
  /// Statements that were run.
  public var statements: Int
  /// Pages that were written to the log.
  public var logPages: Int

  public init(statements: Int = 0, logPages: Int = 0) {
    self.statements = statements
    self.logPages = logPages
  }

  static func - (later: Self, earlier: Self) -> Self {
    Self(statements: later.statements - earlier.statements, logPages: later.logPages - earlier.logPages)
  }
}
