// What the newest changes of a key say about its rows.

internal import Store

/// The newest change of each row of a key, as far as the tail has one.
struct RecentRows {
  /// The deciding change of each row, from the newest to the oldest; negative if the row was removed.
  private(set) var changes: [Int64] = []
  /// How many of the rows have the key.
  private(set) var presentCount = 0
  private var decided: Set<Int64> = []

  /// Adds the next older change of the key. A newer change of the same row decides.
  /// - Parameter row: negative if it was removed; 0 for a change that was erased.
  mutating func add(_ row: Int64) {
    guard row != 0, decided.insert(abs(row)).inserted else { return }
    changes.append(row)
    if row > 0 { presentCount += 1 }
  }

  /// Adds older changes.
  mutating func add(_ older: RecentRows) { for row in older.changes { add(row) } }

  /// Adds the rows of the sorted tables.
  /// - Parameter sorted: the largest rows of each table, `limit + changes.count` or all.
  /// - Returns: at most `limit` rows, the largest first, each once: the newest in the tail, and then the
  ///   largest of the sorted tables.
  func merged(with sorted: [Int64], limit: Int) -> [Int64] {
    if changes.isEmpty, sorted.count < 2 { return sorted }
    let recent = changes.lazy.filter { $0 > 0 }.prefix(limit)
    let others = Set(sorted).subtracting(decided).sorted(by: >).prefix(limit - recent.count)
    return (recent + others).sorted(by: >)
  }
}

extension KeyEntry {
  /// Several keys with their rows.
  /// - Parameters:
  ///   - sorted: what the sorted tables have.
  ///   - recent: the changes in the tail, oldest first.
  static func present(in sorted: [KeyEntry], _ recent: [KeyEntry]) -> Set<KeyedRow> {
    var found = Set(sorted)
    for entry in recent {
      if entry.row > 0 { found.insert(entry) } else { found.remove(entry.place) }
    }
    return Set(found.map { KeyedRow(number: $0.key, row: $0.row) })
  }
}
