// How much can be stored before the database grows.

/// Counts the unused space inside the database.
public struct CountFreeSpace: StoreCommand {
  public init() {}

  /// In bytes.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int64 { try store.connection.freeBytes() }
}
