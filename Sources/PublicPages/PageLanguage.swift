// In which language a person is spoken to. Pure; any thread. What comes from outside is read as far as it is
// understood, and only so much of it.

/// A language that the public pages speak.
enum PageLanguage: String, Sendable, CaseIterable {
  // Their tags (BCP 47).
  case en, de, fr, es, it, pt, nl, sv, nb, da, fi

  /// For everybody whose own is not among them.
  static let standard = PageLanguage.en

  /// How many languages are looked at that somebody would like; browsers name a handful.
  private static let rangesMax = 32

  /// As `lang` has it.
  var tag: String { rawValue }

  /// The language of a tag such as `sv-SE`; English without one, and for every other one.
  init(tag: String?) { self = tag.flatMap { Self.lookUp($0[...]) } ?? .standard }

  /// The language that somebody would most like to read (RFC 9110 §12.5.4, RFC 4647 §3.4).
  /// - Parameter fields: those of `Accept-Language`, as they came; a malformed part counts for nothing.
  init(preferredIn fields: [String]) {
    var wanted: [(language: PageLanguage?, weight: Int)] = []
    var refused: Set<PageLanguage> = []
    var left = Self.rangesMax
    for field in fields {
      for part in field.split(separator: ",", maxSplits: left) where left > 0 {
        left -= 1
        guard let (range, weight) = Self.weighted(part) else { continue }
        let language = Self.lookUp(range)
        guard range == "*" || language != nil else { continue }
        if weight > 0 {
          wanted.append((language, weight))
        } else if let language, !range.utf8.contains(UInt8(ascii: "-")) {
          // Only the language as such: whoever does not want Swiss German may want German.
          refused.insert(language)
        }
      }
    }
    // Of those that are wanted as much, the first one.
    let best = wanted.enumerated().sorted { left, right in
      (left.element.weight, right.offset) > (right.element.weight, left.offset)
    }
    let order = [Self.standard] + Self.allCases
    for (_, (language, _)) in best {
      // `*` is any other one.
      if let found = (language.map { [$0] } ?? order).first(where: { !refused.contains($0) }) {
        self = found
        return
      }
    }
    self = .standard
  }

  /// A range and its weight in thousandths (RFC 9110 §12.4.2); nil for what is neither.
  private static func weighted(_ part: Substring) -> (range: Substring, weight: Int)? {
    let halves = part.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
    guard let range = halves.first else { return nil }
    guard halves.count > 1 else { return (range, 1000) }
    guard let weight = weight(halves[1]) else { return nil }
    return (range, weight)
  }

  /// Of `q=0.8`: a digit, and up to three behind a point.
  private static func weight(_ parameter: Substring) -> Int? {
    var bytes = Array(parameter.utf8)
    guard (3...7).contains(bytes.count), bytes[0] | 0x20 == UInt8(ascii: "q"), bytes[1] == UInt8(ascii: "=")
    else { return nil }
    if bytes.count == 3 { bytes.append(UInt8(ascii: ".")) }
    guard bytes[3] == UInt8(ascii: ".") else { return nil }
    bytes += Array(repeating: UInt8(ascii: "0"), count: 7 - bytes.count)
    var weight = 0
    for byte in [bytes[2]] + bytes[4...] {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      weight = weight * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return weight <= 1000 ? weight : nil
  }

  /// Regions and scripts are left out until something fits (RFC 4647 §3.4), which here is the language alone.
  private static func lookUp(_ range: Substring) -> PageLanguage? {
    let parts = range.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard let first = parts.first, range.utf8.count <= 64,
      parts.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy(isLetterOrDigit) })
    else { return nil }
    switch String(decoding: first, as: UTF8.self).lowercased() {
    // Whoever reads Nynorsk, or Norwegian of either kind, reads Bokmål rather than English.
    case "no", "nn": return .nb
    case let language: return PageLanguage(rawValue: language)
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
