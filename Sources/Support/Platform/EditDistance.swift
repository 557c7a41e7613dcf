// Edit distance between words, for "did you mean": configuration keys, commands, options. For short words
// only: the cost is the product of the lengths. Pure; thread-safe.

/// Distances between words, and the nearest word of a list.
public enum EditDistance {
  /// Longer words are not compared.
  public static let lengthMax = 64

  /// The number of insertions, deletions, substitutions and swaps of neighbours that turn one word into the
  /// other ("optimal string alignment", a restricted Damerau–Levenshtein distance). Case-sensitive.
  public static func between(_ left: String, _ right: String) -> Int {
    let left = Array(left.unicodeScalars)
    let right = Array(right.unicodeScalars)
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in 1...left.count {
      var current = [row]
      for column in 1...right.count {
        let substitution = previous[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
        var best = min(substitution, previous[column] + 1, current[column - 1] + 1)
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          best = min(best, beforePrevious[column - 2] + 1)
        }
        current.append(best)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[right.count]
  }

  /// The most likely intended candidate, or nil when none is near: at most a third of the word may be wrong.
  /// A prefix of exactly one candidate matches that candidate.
  public static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let lower = word.lowercased()
    guard !lower.isEmpty, lower.unicodeScalars.count <= lengthMax else { return nil }
    let candidates = Array(candidates)
    let ranked = candidates.filter { $0.unicodeScalars.count <= lengthMax }
      .map { (distance: between(lower, $0.lowercased()), name: $0) }
      .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
    if let best = ranked.first {
      let longer = max(lower.unicodeScalars.count, best.name.unicodeScalars.count)
      if best.distance <= max(1, longer / 3), best.distance * 2 < longer { return best.name }
    }
    let begun = candidates.filter { $0.lowercased().hasPrefix(lower) }
    return begun.count == 1 && lower.count > 1 ? begun.first : nil
  }
}
