// Keys in memory: a list in the order of addition, and for each key its newest entry. A value; its owner
// locks it.

/// Keys that were added in a period.
struct KeyGeneration: Sendable {
  /// The numbers of the keys.
  private(set) var keys: [Int64] = []
  /// The row of each; negative if it is removed from the key; 0 if the entry was erased.
  private(set) var rows: [Int64] = []
  /// The position of the next older entry with the same key; -1 if there is none.
  private var older: [Int32] = []
  /// The position of the newest entry of each key.
  private var newest: [Int64: Int32] = [:]
  /// The number in `key_tail` of the last entry.
  private(set) var last: Int64 = 0

  var count: Int { keys.count }

  /// - Parameters:
  ///   - row: negative to remove it.
  ///   - number: its number in `key_tail`.
  mutating func add(_ key: Int64, row: Int64, number: Int64) {
    let position = Int32(keys.count)
    older.append(newest.updateValue(position, forKey: key) ?? -1)
    keys.append(key)
    rows.append(row)
    last = number
  }

  /// Removes the newest entries.
  mutating func drop(to count: Int, last: Int64) {
    while keys.count > count, let key = keys.popLast(), let position = older.popLast() {
      newest[key] = position < 0 ? nil : position
      rows.removeLast()
    }
    self.last = last
  }

  /// Forgets a row of a key.
  mutating func erase(_ key: Int64, row: Int64) {
    var position = newest[key] ?? -1
    while position >= 0 {
      if abs(rows[Int(position)]) == row { rows[Int(position)] = 0 }
      position = older[Int(position)]
    }
  }

  /// The newest entries of a key; negative rows are removed.
  func rows(_ key: Int64, limit: Int) -> [Int64] {
    var found: [Int64] = []
    var position = newest[key] ?? -1
    while position >= 0, found.count < limit {
      if rows[Int(position)] != 0 { found.append(rows[Int(position)]) }
      position = older[Int(position)]
    }
    return found
  }

  /// An entry of a key.
  struct Entry: Equatable {
    var key: Int64
    /// Negative to remove it.
    var row: Int64
  }

  /// How many parts the entries have.
  static let partCount = 256

  /// The entries of a part of all keys, in the order of the index; of several entries with the same key and
  /// row the newest. A part has neighbouring keys, so that moving it dirties few pages of the index.
  func part(_ part: Int) -> [Entry] {
    var positions: [Int32] = []
    for position in keys.indices
    where rows[position] != 0 && Int(keys[position] >> 56) + Self.partCount / 2 == part {
      positions.append(Int32(position))
    }
    positions.sort { left, right in
      let (a, b) = (Int(left), Int(right))
      return (keys[a], abs(rows[a]), left) < (keys[b], abs(rows[b]), right)
    }
    var entries: [Entry] = []
    entries.reserveCapacity(positions.count)
    for position in positions {
      let entry = Entry(key: keys[Int(position)], row: rows[Int(position)])
      if let previous = entries.last, previous.key == entry.key, abs(previous.row) == abs(entry.row) {
        entries[entries.count - 1] = entry
      } else {
        entries.append(entry)
      }
    }
    return entries
  }
}
