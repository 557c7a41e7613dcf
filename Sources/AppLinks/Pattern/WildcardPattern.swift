// Apple's patterns, with which the parts of a URL are compared: `*`, `?` and `$(name)`. A value; any thread.
//
// There is no backtracking: a pattern walks over the text once for each of its parts, with the set of all
// places that it may have got to, so that no pattern and no text makes it slow.

/// One pattern (Apple, "applinks.Details.Components").
struct WildcardPattern: Sendable {
  /// One part of a pattern.
  enum Token: Sendable, Equatable {
    case character(Unicode.Scalar)
    /// `?`: exactly one character.
    case one
    /// `*`: any number of characters, none among them.
    case many
    /// `$(name)`: the index of a variable in the table that the pattern was read with.
    case variable(Int)
  }

  var tokens: [Token]

  /// Whether a text is wholly what the pattern describes.
  /// - Parameter variables: of each variable, the patterns that it stands for; none holds a variable.
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
          // A value holds no variable, so this goes one level deep.
          value.walk(text, &own, variables: [])
          reached.formUnion(own)
        }
        positions = reached
      }
      if positions.isEmpty { return }
    }
  }
}
