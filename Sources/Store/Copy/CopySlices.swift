// Reads the rows of a table in the order of its key, in slices of limited size. One connection's thread.

internal import Cryptography

/// How much one transaction of a copy stores. At least one row; a row has few megabytes.
public struct CopyLimits: Sendable {
  public var rows: Int
  public var bytes: Int64

  public init(rows: Int = 2_000, bytes: Int64 = 4 << 20) { (self.rows, self.bytes) = (rows, bytes) }
}

/// Rows that follow each other.
struct CopySlice {
  var rows: [[StoreValue]] = []
  /// Whether no row follows.
  var isLast = true
}

/// A table of one of the two databases.
struct CopySlices {
  /// In the order of their names, which is the same on all engines.
  let columns: [CopyColumn]
  /// Where the columns of the key are in `columns`.
  private let key: [Int]
  private let table: CopyTable
  private let connection: StoreConnection
  private let limits: CopyLimits

  init(_ table: CopyTable, of database: any CopyEngine, _ limits: CopyLimits) throws(StoreFault) {
    self.table = table
    self.limits = limits
    connection = database.reading
    columns = try database.columns(of: table.name).sorted { $0.name < $1.name }
    let places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.name, $0) })
    key = table.key.compactMap { places[$0] }
    guard key.count == table.key.count else {
      throw StoreFault(.misuse, operation: "copy \(table.name)", reason: "the table has another key")
    }
  }

  func key(of row: [StoreValue]) -> [StoreValue] { key.map { row[$0] } }

  /// About how many rows there are. Does not read all of a large table.
  func estimate() throws(StoreFault) -> Int64 {
    let sql =
      table.key == ["row_id"]
      ? "SELECT (SELECT max(row_id) FROM \(table.name)) - (SELECT min(row_id) FROM \(table.name)) + 1"
      : "SELECT count(*) FROM \(table.name)"
    return try connection.integer(sql) ?? 0
  }

  /// The rows after a key, or the first ones.
  ///
  /// A server sends all of a result at once, so the sizes are read first.
  func read(after start: [StoreValue]) throws(StoreFault) -> CopySlice {
    guard let (end, isLast) = try end(of: start) else { return CopySlice() }
    let place = start.isEmpty ? "" : " AND \(keyList) > \(parameters(from: 1))"
    let rows = try connection.prepare(
      """
      SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(table.name)
      WHERE \(keyList) <= \(parameters(from: start.count + 1))\(place) ORDER BY \(order)
      """
    ).all(start + end, value)
    return CopySlice(rows: rows, isLast: isLast)
  }

  private func value(_ row: StoreRow) throws(StoreFault) -> [StoreValue] {
    var values: [StoreValue] = []
    values.reserveCapacity(columns.count)
    for (index, column) in columns.enumerated() {
      guard !row.isNull(index) else {
        values.append(.null)
        continue
      }
      switch column.kind {
      case .integer: values.append(.integer(row.integer(index)))
      case .text: values.append(.text(try row.text(index)))
      case .blob: values.append(.blob(row.blob(index)))
      }
    }
    return values
  }

  /// The key of the last row of a slice, and whether no row follows; nil without rows.
  private func end(of start: [StoreValue]) throws(StoreFault) -> (key: [StoreValue], isLast: Bool)? {
    let sizes = columns.filter { $0.kind != .integer }.map { "coalesce(length(\($0.name)), 0)" }
    let place = start.isEmpty ? "" : " WHERE \(keyList) > \(parameters(from: 1))"
    let sizing = try connection.prepare(
      """
      SELECT \((["0"] + sizes).joined(separator: " + ")), \(order) FROM \(table.name)\(place)
      ORDER BY \(order) LIMIT ?\(start.count + 1)
      """)
    var (end, count, bytes, isCut): ([StoreValue], Int, Int64, Bool) = ([], 0, 0, false)
    try sizing.readWhile(start + [.integer(Int64(limits.rows))]) { row throws(StoreFault) in
      let size = row.integer(0)
      isCut = count > 0 && bytes + size > limits.bytes
      guard !isCut else { return false }
      (count, bytes) = (count + 1, bytes + size)
      end = []
      for (index, place) in key.enumerated() {
        end.append(
          columns[place].kind == .integer
            ? .integer(row.integer(index + 1)) : .text(try row.text(index + 1)))
      }
      return true
    }
    return end.isEmpty ? nil : (end, !isCut && count < limits.rows)
  }

  private var order: String { table.key.joined(separator: ", ") }
  private var keyList: String { "(\(order))" }

  private func parameters(from number: Int) -> String {
    "(\(table.key.indices.map { "?\($0 + number)" }.joined(separator: ", ")))"
  }
}

/// A digest of a row that is the same on all engines.
struct RowDigest {
  /// Whether U+0000 counts as U+FFFD.
  let replacesZero: Bool
  private var bytes: [UInt8] = []

  init(replacesZero: Bool) { self.replacesZero = replacesZero }

  /// The first 64 bits of a SHA-256 digest of the values, each with its kind and its length.
  mutating func number(_ row: [StoreValue]) -> UInt64 {
    bytes.removeAll(keepingCapacity: true)
    for value in row {
      switch value {
      case .null: bytes.append(0)
      case .integer(let number):
        bytes.append(1)
        append(UInt64(bitPattern: number))
      case .text(let text):
        let stored = replacesZero ? StoredText.withoutZero(text) : text
        bytes.append(2)
        append(UInt64(stored.utf8.count))
        bytes += stored.utf8
      case .blob(let content):
        bytes.append(3)
        append(UInt64(content.count))
        bytes += content
      }
    }
    return SHA256.prefix(bytes.span)
  }

  private mutating func append(_ number: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}

/// Texts as an engine stores them.
public enum StoredText {
  /// The text with U+FFFD for each U+0000, for an engine that cannot store that.
  public static func withoutZero(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
  }
}
