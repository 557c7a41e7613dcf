// What an open transaction changes. A value.

/// The changes of keys in an open transaction, which are written right before its commit.
struct KeyChanges {
  private(set) var added: [KeyEntry] = []
  private(set) var erased: Set<KeyEntry> = []

  var isEmpty: Bool { added.isEmpty && erased.isEmpty }

  mutating func add(_ entry: KeyEntry) {
    // An entry that is erased and then added again in the same transaction stays.
    if !erased.isEmpty { erased.remove(entry.place) }
    added.append(entry)
  }

  mutating func erase(_ place: KeyEntry) {
    erased.insert(place)
    added.removeAll { $0.place == place }
  }

  mutating func removeAll() {
    added.removeAll(keepingCapacity: true)
    erased = []
  }

  /// - Parameter number: that of the new row of `key_tail`, greater than all others there.
  func write(to tables: KeyTables, number: Int64) throws(SQLiteError) {
    if !erased.isEmpty { try tables.erase(erased) }
    if !added.isEmpty { try tables.append(added, number: number) }
  }
}
