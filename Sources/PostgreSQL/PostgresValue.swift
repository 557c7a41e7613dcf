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
  /// A bigint[].
  case integers([Int64])
  /// A text[].
  case texts([String])

  fileprivate var byteCount: Int {
    switch self {
    case .null: 0
    case .integer: 8
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .integers(let numbers): 20 + 12 * numbers.count
    case .texts(let texts): texts.reduce(20) { $0 + 4 + $1.utf8.count }
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
      case .integer(let number):
        types.append(TypeID.int8)
        append(number)
      case .text(let text):
        types.append(TypeID.text)
        block += text.utf8
      case .bytes(let bytes):
        types.append(TypeID.bytea)
        block += bytes
      case .integers(let numbers):
        types.append(TypeID.int8Array)
        appendArray(of: TypeID.int8, count: numbers.count)
        for number in numbers {
          append(Int32(8))
          append(number)
        }
      case .texts(let texts):
        types.append(TypeID.textArray)
        appendArray(of: TypeID.text, count: texts.count)
        for text in texts {
          append(Int32(clamping: text.utf8.count))
          block += text.utf8
        }
      }
      lengths.append(Int32(clamping: block.count - before))
    }
    block.append(0)
  }

  /// In network byte order.
  private mutating func append(_ number: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe block.append(contentsOf: $0) }
  }

  /// The head of an array without NULL (array_recv in PostgreSQL's arrayfuncs.c): dimensions, whether there
  /// are NULLs, the elements' type; for each dimension its size and its lowest index.
  private mutating func appendArray(of type: UInt32, count: Int) {
    append(Int32(count > 0 ? 1 : 0))
    append(Int32(0))
    append(type)
    guard count > 0 else { return }
    append(Int32(clamping: count))
    append(Int32(1))
  }
}
