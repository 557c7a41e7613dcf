// The positions of a text that a pattern can have reached. A value; thread-safe.

/// A set of the positions 0...count of a text, as a bit set of 64-bit words.
struct PositionSet: Equatable {
  private(set) var words: [UInt64]
  private let count: Int

  /// The empty set of positions of a text.
  /// - Parameter count: the number of characters of the text.
  init(count: Int) {
    self.count = count
    words = [UInt64](repeating: 0, count: count / 64 + 1)
  }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  /// Whether the end of the text is in the set.
  var hasEnd: Bool { contains(count) }

  func contains(_ position: Int) -> Bool {
    guard (0...count).contains(position) else { return false }
    return words[position / 64] & 1 << UInt64(position % 64) != 0
  }

  mutating func insert(_ position: Int) {
    guard (0...count).contains(position) else { return }
    words[position / 64] |= 1 << UInt64(position % 64)
  }

  mutating func formUnion(_ other: PositionSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  /// Advances by one character: keeps the positions that are also in `characters`, and adds one to each. The
  /// end is dropped.
  /// - Parameter characters: the positions of the accepted characters; nil for every character.
  mutating func advance(over characters: PositionSet?) {
    var carry: UInt64 = 0
    for index in words.indices {
      let word = words[index] & (characters?.words[index] ?? .max)
      words[index] = word << 1 | carry
      carry = word >> 63
    }
    // Clears positions beyond the end.
    let used = count % 64 + 1
    if used < 64 { words[words.count - 1] &= (1 << UInt64(used)) - 1 }
  }

  /// Adds every position after the lowest one.
  mutating func fill() {
    guard let first = words.firstIndex(where: { $0 != 0 }) else { return }
    words[first] = .max << UInt64(words[first].trailingZeroBitCount)
    for index in words.indices.dropFirst(first + 1) { words[index] = .max }
    let used = count % 64 + 1
    if used < 64 { words[words.count - 1] &= (1 << UInt64(used)) - 1 }
  }
}
