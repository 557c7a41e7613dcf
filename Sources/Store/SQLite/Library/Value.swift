// The values that can be bound to a statement.

/// A value as SQLite stores it (https://www.sqlite.org/datatype3.html). Reals are not used: money and time
/// are integers.
public enum Value: Sendable, Equatable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  public static func optional(_ text: String?) -> Value { text.map(Value.text) ?? .null }
  public static func optional(_ number: Int64?) -> Value { number.map(Value.integer) ?? .null }
  public static func optional(_ bytes: [UInt8]?) -> Value { bytes.map(Value.blob) ?? .null }
  public static func flag(_ flag: Bool) -> Value { .integer(flag ? 1 : 0) }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(stringLiteral value: String) { self = .text(value) }
}
