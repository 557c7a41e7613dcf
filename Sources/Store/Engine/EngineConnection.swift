// What the store asks of a database engine. One thread at a time uses a connection and its statements.

/// An open connection of an engine. An implementation closes it when it is released.
public protocol EngineConnection: AnyObject {
  /// Prepares one statement for repeated use.
  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement
  /// Rows changed by the last INSERT, UPDATE or DELETE.
  var changedRows: Int { get }

  /// Begins a transaction that writes; one that failed before is undone by then.
  func begin() throws(StoreFault)
  /// Makes the transaction durable (R1).
  func commit() throws(StoreFault)
  /// Undoes the open transaction, if there is one.
  func rollBack()
  /// Begins a transaction that sees the state of one moment and writes nothing; `rollBack` ends it.
  func beginReading() throws(StoreFault)
  var isInTransaction: Bool { get }

  /// Fetches what a batch will read; nil where a read costs no round trip, as in a database of this process.
  var readAhead: (any ReadAhead)? { get }

  /// How many bytes the database can take in without growing.
  func freeBytes() throws(StoreFault) -> Int64
  /// Checks the whole database. Reads all of it.
  /// - Returns: a sentence for each fault.
  func integrityFaults() throws(StoreFault) -> [String]
}

extension EngineConnection {
  public var readAhead: (any ReadAhead)? { nil }
}

/// A prepared statement. Parameters and columns count from 0.
public protocol EngineStatement: AnyObject {
  /// Gives each parameter its value; there must be as many as the statement has.
  func bind(_ values: [StoreValue]) throws(StoreFault)
  /// Goes to the next row.
  /// - Returns: false after the last one.
  func step() throws(StoreFault) -> Bool
  /// Ends the use that `bind` began. No read transaction outlives it.
  func reset()

  func isNull(_ column: Int) -> Bool
  /// NULL reads as 0.
  func integer(_ column: Int) -> Int64
  /// NULL reads as the empty string.
  /// - Throws: `corrupt` when what is stored is not UTF-8.
  func text(_ column: Int) throws(StoreFault) -> String
  /// NULL reads as no bytes.
  func blob(_ column: Int) -> [UInt8]
}
