// Compiles patterns and the variables that they use. A value with mutable state; one thread.

/// Why a pattern cannot match.
struct PatternFault: Error, Equatable, CustomStringConvertible {
  let description: String
}

/// Compiles texts to patterns.
struct PatternCompiler {
  /// The maximum number of tokens in all patterns of a file, where each use of a variable counts the
  /// variable's tokens. It limits the time that the largest file can cost.
  static let tokenCountMax = 4_194_304

  /// The values of each variable that has been used so far.
  private(set) var variables: [[WildcardPattern]] = []

  private let custom: [String: [String]]
  private var indices: [Key: Int] = [:]
  private var costs: [Int] = []
  private var tokenCount = 0

  private struct Key: Hashable {
    let name: String
    let foldsCase: Bool
  }

  /// - Parameter custom: the variables of the file; they override predefined ones of the same name.
  init(custom: [String: [String]]) { self.custom = custom }

  /// - Parameter foldsCase: whether the comparison ignores case.
  mutating func pattern(
    _ text: some StringProtocol, foldsCase: Bool
  ) throws(PatternFault) -> WildcardPattern {
    var tokens: [WildcardPattern.Token] = []
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.popFirst() {
      guard scalar == "$", rest.first == "(" else {
        Self.append(scalar, to: &tokens, foldsCase: foldsCase)
        continue
      }
      rest.removeFirst()
      guard let end = rest.firstIndex(of: ")") else {
        throw PatternFault(description: "has a $( without its )")
      }
      tokens.append(.variable(try variable(String(rest[..<end]), foldsCase: foldsCase)))
      rest = rest[rest.index(after: end)...]
    }
    let cost = tokens.reduce(tokens.count) { sum, token in
      guard case .variable(let index) = token else { return sum }
      return sum + costs[index]
    }
    guard tokenCount + cost <= Self.tokenCountMax else {
      throw PatternFault(description: "exceeds the limit for the patterns of one file")
    }
    tokenCount += cost
    return WildcardPattern(tokens: tokens)
  }

  private static func append(
    _ scalar: Unicode.Scalar, to tokens: inout [WildcardPattern.Token], foldsCase: Bool
  ) {
    switch scalar {
    // Several in a row are equivalent to one.
    case "*": if tokens.last != .many { tokens.append(.many) }
    case "?": tokens.append(.one)
    default: tokens.append(.character(foldsCase ? PatternText.folded(scalar) : scalar))
    }
  }

  private mutating func variable(_ name: String, foldsCase: Bool) throws(PatternFault) -> Int {
    let key = Key(name: name, foldsCase: foldsCase)
    if let index = indices[key] { return index }
    guard let values = custom[name] ?? PredefinedVariables.values(of: name) else {
      throw PatternFault(description: "names an unknown variable")
    }
    guard !values.contains(where: { $0.contains("$(") }) else {
      throw PatternFault(description: "names a variable whose values name variables, which is not allowed")
    }
    let patterns = values.map { value in
      var tokens: [WildcardPattern.Token] = []
      for scalar in value.unicodeScalars { Self.append(scalar, to: &tokens, foldsCase: foldsCase) }
      return WildcardPattern(tokens: tokens)
    }
    variables.append(patterns)
    costs.append(patterns.reduce(0) { $0 + $1.tokens.count })
    indices[key] = variables.count - 1
    return variables.count - 1
  }
}

// MARK: - PatternText

// A text to match against patterns. A value; thread-safe.

/// A part of a URL, indexed by character: the positions of each.
struct PatternText {
  let count: Int
  private let places: [Unicode.Scalar: PositionSet]

  /// - Parameter foldsCase: whether the comparison ignores case.
  init(_ text: some StringProtocol, foldsCase: Bool) {
    let scalars = text.unicodeScalars.map { foldsCase ? Self.folded($0) : $0 }
    var places: [Unicode.Scalar: PositionSet] = [:]
    for (position, scalar) in scalars.enumerated() {
      places[scalar, default: PositionSet(count: scalars.count)].insert(position)
    }
    count = scalars.count
    self.places = places
  }

  /// The positions of a character; nil when it does not occur.
  func places(of scalar: Unicode.Scalar) -> PositionSet? { places[scalar] }

  /// The lower case of a character if it is a single character; otherwise unchanged, because `?` must match
  /// exactly one.
  static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.isASCII {
      return ASCII.isUpper(UInt8(truncatingIfNeeded: scalar.value))
        ? Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value) | 0x20) : scalar
    }
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    guard let first = lower.first, lower.count == 1 else { return scalar }
    return first
  }
}
