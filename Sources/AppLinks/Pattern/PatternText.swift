// A text that patterns are compared with. A value; any thread.

/// A part of a URL, taken apart into characters, with the places where each of them stands.
struct PatternText {
  let count: Int
  private let places: [Unicode.Scalar: PositionSet]

  /// - Parameter foldsCase: whether upper and lower case are the same.
  init(_ text: some StringProtocol, foldsCase: Bool) {
    let scalars = text.unicodeScalars.map { foldsCase ? Self.folded($0) : $0 }
    var places: [Unicode.Scalar: PositionSet] = [:]
    for (position, scalar) in scalars.enumerated() {
      places[scalar, default: PositionSet(count: scalars.count)].insert(position)
    }
    count = scalars.count
    self.places = places
  }

  /// Where a character stands; nil when it stands nowhere.
  func places(of scalar: Unicode.Scalar) -> PositionSet? { places[scalar] }

  /// The lower case of a character, where that is one character, too: `?` must go on to mean exactly one.
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
