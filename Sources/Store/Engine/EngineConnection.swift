// What the store needs from a database engine. One thread at a time uses a connection and its statements.

/// An engine's open connection. An implementation closes it on deinit.
public protocol EngineConnection: AnyObject {
  /// Prepares one statement for repeated use.
  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement
  /// The number of rows changed by the last INSERT, UPDATE or DELETE.
  var changedRows: Int { get }

  /// Begins a transaction that writes. A failed transaction before it is rolled back first.
  func begin() throws(StoreFault)
  /// Makes the transaction durable (R1).
  func commit() throws(StoreFault)
  /// Rolls back the open transaction, if any.
  func rollBack()
  /// Begins a read-only transaction on one snapshot; `rollBack` ends it.
  func beginReading() throws(StoreFault)
  var isInTransaction: Bool { get }

  /// Finds purchases by ids that are spread at random.
  var keys: any KeyIndex { get }
  /// Prefetches what a batch will read; nil if a read costs no round trip, as for a database in this process.
  var readAhead: (any ReadAhead)? { get }

  /// How many bytes can be stored before the database grows.
  func freeBytes() throws(StoreFault) -> Int64
  /// Checks the whole database. Reads all of it.
  /// - Returns: one sentence per fault.
  func integrityFaults() throws(StoreFault) -> [String]
}

extension EngineConnection {
  public var readAhead: (any ReadAhead)? { nil }
}

/// A prepared statement. Parameters and columns are numbered from 0.
public protocol EngineStatement: AnyObject {
  /// Binds a value to each parameter; the number of values must match.
  func bind(_ values: [StoreValue]) throws(StoreFault)
  /// Advances to the next row.
  /// - Returns: false after the last row.
  func step() throws(StoreFault) -> Bool
  /// Ends the use that `bind` began. No read transaction outlives it.
  func reset()

  func isNull(_ column: Int) -> Bool
  /// NULL reads as 0.
  func integer(_ column: Int) -> Int64
  /// NULL reads as the empty string.
  /// - Throws: `corrupt` when the stored bytes are not UTF-8.
  func text(_ column: Int) throws(StoreFault) -> String
  /// NULL reads as no bytes.
  func blob(_ column: Int) -> [UInt8]
}
