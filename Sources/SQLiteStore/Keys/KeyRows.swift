// Puts together what the tail and the sorted tables say.

internal import Store

enum KeyRows {
  /// - Parameters:
  ///   - recent: of the tail, newest first; negative rows are removed.
  ///   - sorted: of the sorted tables.
  /// - Returns: the largest rows first, each once.
  static func merged(_ recent: [Int64], _ sorted: [Int64], limit: Int) -> [Int64] {
    if recent.isEmpty, sorted.count < 2 { return sorted }
    // The newest entry of a row says whether it has the key.
    var decided: [Int64: Bool] = [:]
    for row in recent where decided[abs(row)] == nil { decided[abs(row)] = row > 0 }
    for row in sorted where decided[row] == nil { decided[row] = true }
    return Array(decided.filter(\.value).keys.sorted(by: >).prefix(limit))
  }

  /// The same for a range of keys.
  /// - Parameter recent: of the tail, oldest first.
  static func merged(_ recent: [KeyEntry], _ sorted: [KeyEntry]) -> [Int64] {
    var found = Set(sorted)
    for entry in recent {
      if entry.row > 0 { found.insert(entry) } else { found.remove(entry.place) }
    }
    return Array(Set(found.map(\.row)))
  }
}
