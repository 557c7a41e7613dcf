// One row of a result.

internal import Domain

/// One row, valid until its statement advances or is reset. Columns are numbered from 0.
public struct StoreRow {
  private let engine: any EngineStatement

  init(_ engine: any EngineStatement) { self.engine = engine }

  public func isNull(_ column: Int) -> Bool { engine.isNull(column) }
  public func integer(_ column: Int) -> Int64 { engine.integer(column) }
  public func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }
  public func flag(_ column: Int) -> Bool { integer(column) != 0 }

  /// - Throws: `corrupt` when the stored bytes are not UTF-8. NULL reads as the empty string.
  public func text(_ column: Int) throws(StoreFault) -> String { try engine.text(column) }

  public func optionalText(_ column: Int) throws(StoreFault) -> String? {
    isNull(column) ? nil : try text(column)
  }

  func text<ID: TextID>(_ column: Int) throws(StoreFault) -> ID { ID(try text(column)) }

  func optionalText<ID: TextID>(_ column: Int) throws(StoreFault) -> ID? {
    try optionalText(column).map { ID($0) }
  }

  func integer<Row: RowID>(_ column: Int) -> Row { Row(integer(column)) }
  func optionalInteger<Row: RowID>(_ column: Int) -> Row? { optionalInteger(column).map { Row($0) } }

  public func blob(_ column: Int) -> [UInt8] { engine.blob(column) }
  public func optionalBlob(_ column: Int) -> [UInt8]? { isNull(column) ? nil : blob(column) }

  func timestamp(_ column: Int) -> Timestamp? {
    optionalInteger(column).map(Timestamp.init(unixMilliseconds:))
  }

  /// A column in milliseconds.
  func duration(_ column: Int) -> Duration { .milliseconds(integer(column)) }
}
