// Whether there is space for more.

/// Counts the unused space inside the database.
public struct CountFreeSpace: StoreCommand {
  public init() {}

  /// In bytes.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int64 { try store.connection.freeBytes() }
}

/// Lets the database grow and shrink again.
public struct TryToGrow: StoreCommand {
  public init() {}

  public var scope: CommandScope { .none }

  /// - Throws: `full` if the disk has no space.
  public func apply(to store: StoreSession) throws(StoreFault) { try store.connection.engine.tryToGrow() }
}
