// Keys in memory: a list in the order of addition, and for each key its newest entry. A value; its owner
// locks it.

/// Keys that were added in a period.
struct KeyGeneration: Sendable {
  /// The entries; of an erased one the row is 0.
  private(set) var entries: [KeyEntry] = []
  /// The position of the next older entry with the same key; -1 if there is none.
  private var older: [Int32] = []
  /// The position of the newest entry of each key.
  private var newest: [Int64: Int32] = [:]

  var count: Int { entries.count }

  mutating func add(_ entry: KeyEntry) {
    let position = Int32(entries.count)
    older.append(newest.updateValue(position, forKey: entry.key) ?? -1)
    entries.append(entry)
  }

  /// Removes the newest entries.
  mutating func drop(to count: Int) {
    while entries.count > count, let entry = entries.popLast(), let position = older.popLast() {
      newest[entry.key] = position < 0 ? nil : position
    }
  }

  /// Forgets a row of a key. The number of the key stays until the generation ends.
  mutating func erase(_ place: KeyEntry) {
    var position = newest[place.key] ?? -1
    while position >= 0 {
      if entries[Int(position)].place == place { entries[Int(position)].row = 0 }
      position = older[Int(position)]
    }
  }

  /// Takes the entries of a key, from the newest on, until `limit` rows that have the key are found.
  func take(_ key: Int64, limit: Int, into found: inout RecentRows) {
    var position = newest[key] ?? -1
    while position >= 0, found.presentCount < limit {
      found.take(entries[Int(position)].row)
      position = older[Int(position)]
    }
  }

  /// How many parts the keys have.
  static let partCount = 256

  /// The keys of a part.
  static func keys(ofPart part: Int) -> ClosedRange<Int64> {
    let first = Int64(part - partCount / 2) << 56
    return first...(first | (1 << 56 - 1))
  }

  /// The entries of a part of all keys, in the order of the index; of several entries with the same key and
  /// row the newest. A part has neighbouring keys, so that moving it dirties few pages of the index.
  func part(_ part: Int) -> [KeyEntry] {
    let keys = Self.keys(ofPart: part)
    var positions: [Int32] = []
    for position in entries.indices
    where keys.contains(entries[position].key) && entries[position].row != 0 {
      positions.append(Int32(position))
    }
    positions.sort { left, right in
      let (a, b) = (entries[Int(left)], entries[Int(right)])
      return (a.key, abs(a.row), left) < (b.key, abs(b.row), right)
    }
    var found: [KeyEntry] = []
    found.reserveCapacity(positions.count)
    for position in positions {
      let entry = entries[Int(position)]
      if found.last?.place == entry.place {
        found[found.count - 1] = entry
      } else {
        found.append(entry)
      }
    }
    return found
  }
}
