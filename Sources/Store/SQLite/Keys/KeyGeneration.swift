// Keys in memory: a list in the order of addition, and for each key its newest entry. A value; its owner
// locks it.

/// Keys that were added in a period.
struct KeyGeneration: Sendable {
  /// The entries; of an erased one the row is 0.
  private(set) var entries: [KeyEntry] = []
  /// The position of the next older entry with the same key; -1 if there is none.
  private var older: [Int32] = []
  /// A hash table with open addressing, at most half full: the position of the newest entry of a key, or -1.
  /// The key itself is in the entry, so a slot takes 4 bytes; a `Dictionary` takes 24 for each key.
  private var slots: [Int32] = []
  /// The positions of the entries by their part, and where each part begins there. Empty until it is sealed.
  private var positionsByPart: [Int32] = []
  private var partStarts: [Int] = []

  var count: Int { entries.count }

  mutating func add(_ entry: KeyEntry) {
    if 2 * (entries.count + 1) > slots.count { grow() }
    let slot = slot(of: entry.key)
    older.append(slots[slot])
    slots[slot] = Int32(entries.count)
    entries.append(entry)
  }

  private mutating func grow() {
    slots = Array(repeating: -1, count: max(64, 2 * slots.count))
    for position in entries.indices { slots[slot(of: entries[position].key)] = Int32(position) }
  }

  /// An odd factor that nobody knows: otherwise, a client could choose ids that all get neighbouring slots.
  private static let factor = UInt64.random(in: 0 ... .max) | 1

  /// The slot of a key, or the empty slot for it.
  private func slot(of key: Int64) -> Int {
    let mixed = UInt64(bitPattern: key) &* Self.factor
    var slot = Int(mixed >> UInt64(64 - slots.count.trailingZeroBitCount))
    while slots[slot] >= 0, entries[Int(slots[slot])].key != key { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private func newest(_ key: Int64) -> Int32 { slots.isEmpty ? -1 : slots[slot(of: key)] }

  /// Removes the newest entries.
  mutating func drop(to count: Int) {
    while entries.count > count, let entry = entries.last, let position = older.popLast() {
      // An emptied slot hides no other key: those that were added later are removed already.
      slots[slot(of: entry.key)] = position
      entries.removeLast()
    }
  }

  /// Forgets a row of a key. The number of the key stays until the generation ends.
  mutating func erase(_ place: KeyEntry) {
    var position = newest(place.key)
    while position >= 0 {
      if entries[Int(position)].place == place { entries[Int(position)].row = 0 }
      position = older[Int(position)]
    }
  }

  /// Adds the entries of a key to `found`, newest first, until it has `limit` rows with the key.
  func collect(_ key: Int64, limit: Int, into found: inout RecentRows) {
    var position = newest(key)
    while position >= 0, found.presentCount < limit {
      found.add(entries[Int(position)].row)
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

  private static func part(of key: Int64) -> Int { Int(key >> 56) + partCount / 2 }

  /// Nothing is added any more. Finds the parts in one pass, because each is asked for separately.
  mutating func seal() {
    partStarts = [Int](repeating: 0, count: Self.partCount + 1)
    for entry in entries { partStarts[Self.part(of: entry.key) + 1] += 1 }
    for part in 1...Self.partCount { partStarts[part] += partStarts[part - 1] }
    var next = partStarts
    positionsByPart = Array(repeating: 0, count: entries.count)
    for position in entries.indices {
      let part = Self.part(of: entries[position].key)
      positionsByPart[next[part]] = Int32(position)
      next[part] += 1
    }
  }

  /// The entries of a part of all keys, in the order of the index; of several entries with the same key and
  /// row the newest. A part has neighbouring keys, so that moving it dirties few pages of the index. The
  /// generation must be sealed.
  func part(_ part: Int) -> [KeyEntry] {
    // A part that seemed empty would be trimmed from the tail without being moved.
    precondition(!partStarts.isEmpty, "the generation is not sealed")
    var positions = positionsByPart[partStarts[part]..<partStarts[part + 1]].filter {
      entries[Int($0)].row != 0
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
