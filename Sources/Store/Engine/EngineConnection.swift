// What the store needs from a database engine. One thread at a time uses a connection and its statements.

/// An engine's open connection. An implementation closes it on deinit.
public protocol EngineConnection: AnyObject {
  /// Prepares one statement for repeated use.
  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement
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
  /// Reads ahead what a batch will read; nil if a read costs no round trip, as for a database in this
  /// process.
  var readAhead: (any ReadAhead)? { get }

  /// Whether each query waits for a network, so that one query for many rows is much faster than many.
  var hasRoundTrips: Bool { get }

  /// How many bytes can be stored before the database grows.
  func freeBytes() throws(StoreFault) -> Int64
  /// In a transaction: writes some data that needs new disk space, and deletes it. Only for an engine whose
  /// disk is another machine's.
  /// - Throws: `full` if there is no space.
  func tryToGrow() throws(StoreFault)
  /// Checks the whole database. Reads all of it.
  /// - Returns: one sentence per fault.
  func integrityFaults() throws(StoreFault) -> [String]
}

extension EngineConnection {
  public var readAhead: (any ReadAhead)? { nil }
  public var hasRoundTrips: Bool { false }
  public func tryToGrow() throws(StoreFault) {}
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

  /// The number of rows that the last INSERT, UPDATE or DELETE of the connection changed.
  var changedRows: Int { get }
  /// Runs the statement and ignores its rows. In a transaction an engine may run it later, before the next
  /// read or the commit; then that throws its fault.
  func run() throws(StoreFault)
  /// Runs a statement that must change exactly one row. May run it later, as `run`.
  /// - Parameter operation: the purpose of the change.
  /// - Throws: `constraint` if it changes another number of rows.
  func changeOne(for operation: String) throws(StoreFault)

  func isNull(_ column: Int) -> Bool
  /// NULL reads as 0.
  func integer(_ column: Int) -> Int64
  /// NULL reads as the empty string.
  /// - Throws: `corrupt` when the stored bytes are not UTF-8.
  func text(_ column: Int) throws(StoreFault) -> String
  /// NULL reads as no bytes.
  func blob(_ column: Int) -> [UInt8]
}

extension EngineStatement {
  public func run() throws(StoreFault) {
    while try step() {}
  }

  public func changeOne(for operation: String) throws(StoreFault) {
    try run()
    guard changedRows == 1 else { throw StoreFault.rowChanged(operation) }
  }
}
