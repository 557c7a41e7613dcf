// Selects the language of a page. Pure; called from any thread. `Accept-Language` is untrusted: it is parsed
// up to a limit, and invalid parts are ignored.

/// A language of the public pages.
enum PageLanguage: String, Sendable, CaseIterable {
  // The BCP 47 tags.
  case en, de, fr, es, it, pt, nl, sv, nb, da, fi
  case ar, he, ja, ko
  case zhHans = "zh-Hans"

  /// The language for readers of other languages.
  static let standard = PageLanguage.en

  /// The most language ranges that are parsed; browsers send a few.
  private static let rangesMax = 32

  /// The value of the attribute `lang`.
  var tag: String { rawValue }

  /// The language of a tag such as `sv-SE`; English for nil and for other languages.
  init(tag: String?) { self = tag.flatMap { Self.lookUp($0[...]) } ?? .standard }

  /// The preferred language of a client (RFC 9110 §12.5.4, RFC 4647 §3.4).
  /// - Parameter fields: the values of `Accept-Language`, unparsed; malformed parts are ignored.
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
          // Only a range without a region: refusing Swiss German does not refuse German.
          refused.insert(language)
        }
      }
    }
    // The first of those with equal weights.
    let best = wanted.enumerated().sorted { left, right in
      (left.element.weight, right.offset) > (right.element.weight, left.offset)
    }
    let order = [Self.standard] + Self.allCases
    for (_, (language, _)) in best {
      // `*` matches any language that is not refused.
      if let found = (language.map { [$0] } ?? order).first(where: { !refused.contains($0) }) {
        self = found
        return
      }
    }
    self = .standard
  }

  /// A range and its weight in thousandths (RFC 9110 §12.4.2); nil if malformed.
  private static func weighted(_ part: Substring) -> (range: Substring, weight: Int)? {
    let halves = part.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
    guard let range = halves.first else { return nil }
    guard halves.count > 1 else { return (range, 1000) }
    guard let weight = weight(halves[1]) else { return nil }
    return (range, weight)
  }

  /// Parses `q=0.8`: one digit, and up to three decimals.
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

  /// Drops regions and scripts until a language matches (RFC 4647 §3.4); only the primary subtag counts here,
  /// and of Chinese whether its characters are traditional.
  private static func lookUp(_ range: Substring) -> PageLanguage? {
    let parts = range.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard let first = parts.first, range.utf8.count <= 64,
      parts.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy(isLetterOrDigit) })
    else { return nil }
    switch String(decoding: first, as: UTF8.self).lowercased() {
    // Readers of Nynorsk, or of Norwegian without a variant, get Bokmål rather than English.
    case "no", "nn": return .nb
    // The code before 1989 (RFC 5646 §2.2.1).
    case "iw": return .he
    // Readers of traditional characters get the next language that they prefer.
    case "zh":
      let rest = parts.dropFirst().map { String(decoding: $0, as: UTF8.self).lowercased() }
      let isTraditional = rest.contains { ["hant", "tw", "hk", "mo"].contains($0) }
      return isTraditional && !rest.contains("hans") ? nil : .zhHans
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
