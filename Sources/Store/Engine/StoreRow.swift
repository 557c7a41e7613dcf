// One row of a result.

internal import Domain
internal import Formats

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

// MARK: - StoreValue

// The values that can be bound to a statement.

/// A value as every engine stores it. There are no reals: money and time are integers.
public enum StoreValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  static func optional(_ text: String?) -> StoreValue { text.map(StoreValue.text) ?? .null }
  static func optional(_ number: Int64?) -> StoreValue { number.map(StoreValue.integer) ?? .null }
  static func optional(_ bytes: [UInt8]?) -> StoreValue { bytes.map(StoreValue.blob) ?? .null }
  static func text(_ id: some TextID) -> StoreValue { .text(id.text) }
  static func optional(_ id: (some TextID)?) -> StoreValue { .optional(id?.text) }
  static func integer(_ row: some RowID) -> StoreValue { .integer(row.number) }
  static func optional(_ row: (some RowID)?) -> StoreValue { .optional(row?.number) }
  static func flag(_ flag: Bool) -> StoreValue { .integer(flag ? 1 : 0) }
  /// In whole milliseconds.
  static func duration(_ duration: Duration) -> StoreValue { .integer(duration.milliseconds) }
  static func time(_ timestamp: Timestamp?) -> StoreValue { .optional(timestamp?.unixMilliseconds) }
}

extension StoreValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(stringLiteral value: String) { self = .text(value) }
}
