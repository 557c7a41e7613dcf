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
