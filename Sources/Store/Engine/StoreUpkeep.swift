// What an engine does on the writer's thread besides transactions.

/// An engine's work on the writer's thread between transactions.
public protocol StoreUpkeep: AnyObject {
  /// Called as late as possible before each commit of a batch. Throws if nothing may be stored.
  func beforeCommit() throws(StoreFault)
  /// Called after the answers of each batch, so that no request waits for it.
  func afterBatch() throws(StoreFault)
  /// Frees as much as possible of the disk space used beside the database, such as its log.
  func freeSpace() throws(StoreFault)
  /// Called once, at a clean stop.
  func finish() throws(StoreFault)
}
