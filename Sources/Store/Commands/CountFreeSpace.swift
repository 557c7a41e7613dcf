// How much the database can take in without growing.

/// Counts the space inside of the database that nothing uses any more.
public struct CountFreeSpace: StoreCommand {
  public init() {}

  /// In bytes.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int64 { try store.connection.freeBytes() }
}
