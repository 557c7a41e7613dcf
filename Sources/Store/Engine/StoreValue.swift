// The values that can be bound to a statement.

internal import Domain
internal import Formats

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
