// Apple's patterns for the parts of a URL: `*`, `?` and `$(name)`. A value; thread-safe.
//
// Matching does not backtrack. It processes each token once, with the set of all positions that it can have
// reached, so no pattern or text makes it slow.

/// One pattern (Apple, "applinks.Details.Components").
struct WildcardPattern: Sendable {
  /// One part of a pattern.
  enum Token: Sendable, Equatable {
    case character(Unicode.Scalar)
    /// `?`: exactly one character.
    case one
    /// `*`: any number of characters, including zero.
    case many
    /// `$(name)`: the index of a variable in the compiler's table.
    case variable(Int)
  }

  var tokens: [Token]

  /// Whether the pattern matches the whole text.
  /// - Parameter variables: the patterns of each variable; none contains a variable.
  func matches(_ text: PatternText, variables: [[WildcardPattern]]) -> Bool {
    var positions = PositionSet(count: text.count)
    positions.insert(0)
    walk(text, &positions, variables: variables)
    return positions.hasEnd
  }

  private func walk(_ text: PatternText, _ positions: inout PositionSet, variables: [[WildcardPattern]]) {
    for token in tokens {
      switch token {
      case .character(let scalar):
        guard let places = text.places(of: scalar) else {
          positions = PositionSet(count: text.count)
          return
        }
        positions.advance(over: places)
      case .one: positions.advance(over: nil)
      case .many: positions.fill()
      case .variable(let index):
        var reached = PositionSet(count: text.count)
        for value in variables.indices.contains(index) ? variables[index] : [] {
          var own = positions
          // A value contains no variable, so the recursion is one level deep.
          value.walk(text, &own, variables: [])
          reached.formUnion(own)
        }
        positions = reached
      }
      if positions.isEmpty { return }
    }
  }
}
