// The entries of a search: a key with a row, sorted, as blocks of bytes. Pure; any thread.

/// A key and a row that has it.
struct SearchEntry: Hashable, Comparable {
  var key: Int64
  var row: Int64

  /// By key; of one key the newest row first.
  static func < (left: Self, right: Self) -> Bool {
    left.key != right.key ? left.key < right.key : left.row > right.row
  }
}

/// Sorted entries as they are stored.
public struct SearchBlock: Sendable, Equatable {
  /// Two blocks fit into a page of SQLite.
  static let entriesMax = 150
  private static let entryBytes = 13
  private static let rowMax: Int64 = (1 << 40) - 1

  /// The key of the first entry.
  var first: Int64
  /// 8 bytes of the key, then 5 of the row counted from the largest one down, so that the order of the
  /// bytes is that of the entries.
  var bytes: [UInt8]

  init(first: Int64, bytes: [UInt8]) { (self.first, self.bytes) = (first, bytes) }

  /// - Parameter entries: at least one; sorted.
  init(_ entries: ArraySlice<SearchEntry>) {
    first = entries.first?.key ?? 0
    bytes = []
    bytes.reserveCapacity(entries.count * Self.entryBytes)
    for entry in entries {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: entry.key >> Int64(shift)))
      }
      let row = Self.rowMax - entry.row
      for shift in stride(from: 32, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: row >> Int64(shift)))
      }
    }
  }

  static func blocks(_ entries: [SearchEntry]) -> [SearchBlock] {
    stride(from: 0, to: entries.count, by: entriesMax).map { start in
      SearchBlock(entries[start..<min(start + entriesMax, entries.count)])
    }
  }

  var count: Int { bytes.count / Self.entryBytes }

  func entry(_ index: Int) -> SearchEntry {
    let start = index * Self.entryBytes
    var key: Int64 = 0
    for byte in bytes[start..<start + 8] { key = key << 8 | Int64(byte) }
    var row: Int64 = 0
    for byte in bytes[start + 8..<start + Self.entryBytes] { row = row << 8 | Int64(byte) }
    return SearchEntry(key: key, row: Self.rowMax - row)
  }

  var entries: [SearchEntry] { (0..<count).map(entry) }

  /// The block without the entries of some rows; nil if it has none of them.
  func without(_ rows: Set<Int64>) -> SearchBlock? {
    let all = entries
    let rest = all.filter { !rows.contains($0.row) }
    guard rest.count < all.count else { return nil }
    // The block keeps its place among the others.
    return SearchBlock(first: first, bytes: SearchBlock(rest[...]).bytes)
  }

  /// Calls `body` with the rows of the keys in a range.
  func forEach(_ keys: ClosedRange<Int64>, _ body: (Int64) -> Void) {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if entry(middle).key < keys.lowerBound { low = middle + 1 } else { high = middle }
    }
    while low < count {
      let found = entry(low)
      guard found.key <= keys.upperBound else { return }
      body(found.row)
      low += 1
    }
  }
}
