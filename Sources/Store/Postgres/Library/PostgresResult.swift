// The rows of one statement, in memory. One thread at a time.

internal import CPostgreSQL

/// The result of one statement. Owns the `PGresult *`. Rows and columns are numbered from 0.
@safe public final class PostgresResult {
  private let handle: OpaquePointer
  private let types: [UInt32]
  /// The number of rows.
  public let count: Int
  /// The number of rows that the statement inserted, updated, deleted or selected.
  public let changedRows: Int

  private static let readable: Set<UInt32> = [
    TypeID.bool, TypeID.bytea, TypeID.name, TypeID.int8, TypeID.int2, TypeID.int4, TypeID.text, TypeID.oid,
    TypeID.varchar, TypeID.numeric, TypeID.void,
  ]

  /// Acquires the ownership of a result in the binary format.
  /// - Throws: `misuse` when a column has a type that this library does not read. The statement was run,
  ///   and those after it.
  init(_ handle: OpaquePointer, of command: PostgresCommand) throws(PostgresError) {
    unsafe self.handle = handle
    count = Int(unsafe cpg_PQntuples(handle))
    let columns = unsafe cpg_PQnfields(handle)
    types = (0..<columns).map { unsafe cpg_PQftype(handle, $0) }
    // Empty for a statement that concerns no rows.
    changedRows = unsafe Int(String(cString: cpg_PQcmdTuples(handle))) ?? 0
    if let other = types.first(where: { !Self.readable.contains($0) }) {
      throw PostgresError(
        .misuse, operation: command.operation,
        reason: "a column has the type \(other), which this program does not read")
    }
  }

  deinit {
    unsafe cpg_PQclear(handle)
  }

  public func isNull(_ row: Int, _ column: Int) -> Bool {
    guard isCell(row, column) else { return true }
    return unsafe cpg_PQgetisnull(handle, Int32(row), Int32(column)) == 1
  }

  /// NULL reads as 0. A number with a fraction is truncated; one out of range reads as the nearest.
  public func integer(_ row: Int, _ column: Int) -> Int64 {
    unsafe read(row, column) { bytes in
      switch types[column] {
      case TypeID.bool, TypeID.int2, TypeID.int4, TypeID.int8: unsafe Self.signed(bytes)
      case TypeID.oid: unsafe bytes.reduce(0) { $0 << 8 | Int64($1) }
      case TypeID.numeric: unsafe Self.numeric(bytes)
      default: unsafe Int64(String(decoding: bytes, as: UTF8.self)) ?? 0
      }
    } ?? 0
  }

  /// NULL reads as the empty string. Numbers are written in decimal digits.
  public func text(_ row: Int, _ column: Int) -> String {
    guard !isNull(row, column) else { return "" }
    switch types[column] {
    case TypeID.bool, TypeID.int2, TypeID.int4, TypeID.int8, TypeID.oid, TypeID.numeric:
      return String(integer(row, column))
    // The server stores UTF-8 only: `open` checks its encoding.
    default: return unsafe read(row, column) { unsafe String(decoding: $0, as: UTF8.self) } ?? ""
    }
  }

  /// The bytes as they were sent. NULL reads as no bytes.
  public func bytes(_ row: Int, _ column: Int) -> [UInt8] {
    unsafe read(row, column) { unsafe Array($0) } ?? []
  }

  /// Calls `body` with the bytes of a value; nil for NULL.
  private func read<Value>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
    guard !isNull(row, column) else { return nil }
    let count = Int(unsafe cpg_PQgetlength(handle, Int32(row), Int32(column)))
    return unsafe body(
      UnsafeRawBufferPointer(start: cpg_PQgetvalue(handle, Int32(row), Int32(column)), count: count))
  }

  private func isCell(_ row: Int, _ column: Int) -> Bool {
    (0..<count).contains(row) && types.indices.contains(column)
  }

  /// A number in network byte order, of any size up to 8 bytes.
  private static func signed(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    let isNegative = unsafe bytes.count > 1 && bytes[0] & 0x80 != 0
    return unsafe bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
  }

  /// The binary form of a numeric (numeric_send in PostgreSQL's numeric.c): four 16-bit numbers (how many
  /// digits, the weight of the first, the sign, the scale), then the digits to the base 10,000.
  private static func numeric(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    let words = stride(from: 0, to: bytes.count - 1, by: 2).map { place in
      unsafe Int(bytes[place]) << 8 | Int(bytes[place + 1])
    }
    guard words.count >= 4, words.count == 4 + words[0] else { return 0 }
    let weight = Int(Int16(truncatingIfNeeded: words[1]))
    let isNegative = words[2] == 0x4000
    guard weight >= 0 else { return 0 }
    var number: Int64 = 0
    for place in 0...weight {
      let digit = place < words[0] ? Int64(words[4 + place]) : 0
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10_000)
      let (sum, isOver) = product.addingReportingOverflow(isNegative ? -digit : digit)
      guard !isTooLarge, !isOver else { return isNegative ? .min : .max }
      number = sum
    }
    return number
  }
}
