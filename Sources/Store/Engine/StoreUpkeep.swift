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
    Self(
      statements: later.statements - earlier.statements, logPages: later.logPages - earlier.logPages)
  }
}
