// What a copy needs from each of its two databases, for any engine.

/// A database that is copied, or a copy. No other program uses it meanwhile. One thread at a time.
public protocol CopyEngine: AnyObject {
  var reading: StoreConnection { get }
  var writing: StoreConnection { get }

  /// The columns of a table.
  func columns(of table: String) throws(StoreFault) -> [CopyColumn]
  /// Whether texts can contain U+0000. Others get U+FFFD in its place.
  var storesZero: Bool { get }
  /// The machines whose receiptd uses the database now; an engine that locks its database has none.
  func users() throws(StoreFault) -> [String]

  /// The number of the next purchase. No number is used twice, even if its row was deleted.
  func nextPurchaseRow() throws(StoreFault) -> Int64
  /// Whether `KeyIndex.add` is the way to store the keys of copied rows; otherwise `complete` does.
  var addsKeys: Bool { get }
  /// Called in the transaction that stores rows of these apps.
  func add(apps: Set<String>) throws(StoreFault)
  /// Called when all rows are copied, perhaps twice: makes what follows from them.
  func complete(nextPurchaseRow: Int64) throws(StoreFault)
  /// Called first in a transaction that forbids the database's use, of a source at the end of a copy and of
  /// a target at its beginning: waits for open batches, and lets none begin before its end.
  func lockOut() throws(StoreFault)
  /// Called in the transaction that retires the database: a program that was cut off from it can store no
  /// outcome afterwards.
  func endOwnership() throws(StoreFault)
}
