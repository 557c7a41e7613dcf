// The values that are sent with a statement, and their form on the wire.

/// A parameter of a statement.
public enum PostgresValue: Sendable, Equatable {
  case null
  /// A bigint.
  case integer(Int64)
  /// Without U+0000, which PostgreSQL does not store.
  case text(String)
  /// A bytea.
  case bytes([UInt8])
  /// An array. Each element is null or of its type.
  case array(of: Element, [PostgresValue])

  /// The type of an array's elements.
  public enum Element: Sendable {
    case integer, text, bytes
  }

  /// A bigint[].
  public static func integers(_ numbers: [Int64]) -> PostgresValue {
    .array(of: .integer, numbers.map { .integer($0) })
  }

  /// A text[].
  public static func texts(_ texts: [String]) -> PostgresValue { .array(of: .text, texts.map { .text($0) }) }

  /// The type of an element like this; nil for NULL, which has none, and for an array.
  public var element: Element? {
    switch self {
    case .null, .array: nil
    case .integer: .integer
    case .text: .text
    case .bytes: .bytes
    }
  }

  fileprivate var byteCount: Int {
    switch self {
    case .null: 0
    case .integer: 8
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .array(_, let values): values.reduce(20) { $0 + 4 + $1.byteCount }
    }
  }
}

extension PostgresValue.Element {
  fileprivate var type: UInt32 {
    switch self {
    case .integer: TypeID.int8
    case .text: TypeID.text
    case .bytes: TypeID.bytea
    }
  }

  fileprivate var arrayType: UInt32 {
    switch self {
    case .integer: TypeID.int8Array
    case .text: TypeID.textArray
    case .bytes: TypeID.byteaArray
    }
  }
}

/// A statement with its parameters, `$1` and so on.
public struct PostgresCommand: Sendable, Equatable {
  public var sql: String
  public var values: [PostgresValue]
  private let purpose: String?

  /// - Parameter operation: what errors call it; nil for the first word of the statement.
  public init(_ sql: String, _ values: [PostgresValue] = [], operation: String? = nil) {
    self.sql = sql
    self.values = values
    purpose = operation
  }

  /// The name of the command in errors, which do not contain more of the statement, because that may contain
  /// data.
  public var operation: String {
    purpose ?? String(sql.drop { !$0.isLetter }.prefix { $0.isLetter })
  }
}

/// The object ids of the built-in types (pg_type.dat of PostgreSQL; they never change).
enum TypeID {
  static let unspecified: UInt32 = 0
  static let bool: UInt32 = 16
  static let bytea: UInt32 = 17
  static let name: UInt32 = 19
  static let int8: UInt32 = 20
  static let int2: UInt32 = 21
  static let int4: UInt32 = 23
  static let text: UInt32 = 25
  static let int8Array: UInt32 = 1016
  static let textArray: UInt32 = 1009
  static let byteaArray: UInt32 = 1001
  static let oid: UInt32 = 26
  static let varchar: UInt32 = 1043
  static let numeric: UInt32 = 1700
  /// The result of a function that returns nothing, such as pg_notify.
  static let void: UInt32 = 2278
}

/// Parameters in the binary format, in one block of memory.
struct EncodedValues {
  private(set) var types: [UInt32] = []
  private(set) var lengths: [Int32] = []
  /// Where each value begins in `block`; nil for NULL.
  private(set) var starts: [Int?] = []
  /// Ends with a zero, so that an empty value has an address, too.
  private(set) var block: [UInt8] = []

  init(_ values: [PostgresValue]) {
    block.reserveCapacity(values.reduce(1) { $0 + $1.byteCount })
    for value in values {
      starts.append(value == .null ? nil : block.count)
      let before = block.count
      switch value {
      // Its type follows from its place in the statement.
      case .null: types.append(TypeID.unspecified)
      case .integer, .text, .bytes: types.append(value.element?.type ?? TypeID.unspecified)
      case .array(let element, _): types.append(element.arrayType)
      }
      append(value)
      lengths.append(Int32(clamping: block.count - before))
    }
    block.append(0)
  }

  private mutating func append(_ value: PostgresValue) {
    switch value {
    case .null: break
    case .integer(let number): append(number)
    case .text(let text): block += text.utf8
    case .bytes(let bytes): block += bytes
    case .array(let element, let values): append(values, of: element)
    }
  }

  /// In network byte order.
  private mutating func append(_ number: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe block.append(contentsOf: $0) }
  }

  /// The format of array_recv in PostgreSQL's arrayfuncs.c: the number of dimensions, whether there are
  /// NULLs, the elements' type; for each dimension its size and its lowest index; each element after its
  /// length, which is -1 for NULL.
  private mutating func append(_ values: [PostgresValue], of element: PostgresValue.Element) {
    append(Int32(values.isEmpty ? 0 : 1))
    append(Int32(values.contains(.null) ? 1 : 0))
    append(element.type)
    guard !values.isEmpty else { return }
    append(Int32(clamping: values.count))
    append(Int32(1))
    for value in values {
      append(value == .null ? Int32(-1) : Int32(clamping: value.byteCount))
      append(value)
    }
  }
}
