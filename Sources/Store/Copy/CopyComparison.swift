// The rows of one table in both databases. Values, and readers of one thread.

/// What was found about a table and its copy.
public struct CopyComparison: Sendable, Equatable {
  /// The rows of one side.
  public struct Side: Sendable, Equatable {
    public var rows: Int64 = 0
    /// The sum of the digests of all rows, which does not depend on their order.
    public var checksum: UInt64 = 0
  }

  public let table: String
  public var source = Side()
  public var target = Side()
  /// The key of the first row that differs, such as `row_id 7`.
  public var difference: String?
  /// How many rows of the source have texts with U+0000, if the target cannot store these.
  public var replacedRows: Int64 = 0

  public var isEqual: Bool { source == target }

  init(table: String) { self.table = table }

  mutating func add(
    _ row: [StoreValue]?, _ copy: [StoreValue]?, _ digest: inout RowDigest, _ slices: CopySlices
  ) {
    let (here, there) = (row.map { digest.number($0) }, copy.map { digest.number($0) })
    if let here {
      source.rows += 1
      source.checksum &+= here
    }
    if let there {
      target.rows += 1
      target.checksum &+= there
    }
    if digest.replacesZero, let row, row.contains(where: \.hasZero) { replacedRows += 1 }
    guard here != there, difference == nil, let found = row ?? copy else { return }
    let names = CopyTable.all.first { $0.name == table }?.key ?? []
    difference = zip(names, slices.key(of: found)).map { "\($0) \($1.shown)" }.joined(separator: ", ")
  }
}

extension StoreValue {
  fileprivate var hasZero: Bool {
    guard case .text(let text) = self else { return false }
    return text.utf8.contains(0)
  }

  fileprivate var shown: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .text(let text): text
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}

/// The rows of a table, one after the other.
struct CopyCursor {
  let slices: CopySlices
  private var slice: CopySlice?
  private var index = 0

  init(_ slices: CopySlices) { self.slices = slices }

  mutating func next() throws(StoreFault) -> [StoreValue]? {
    if index == slice?.rows.count ?? 0 {
      guard slice.map({ !$0.isLast }) ?? true else { return nil }
      let last = slice?.rows.last
      // Only one slice is in memory.
      slice = nil
      slice = try slices.read(after: last.map(slices.key) ?? [])
      index = 0
    }
    guard let slice, index < slice.rows.count else { return nil }
    index += 1
    return slice.rows[index - 1]
  }
}
