// Removes personal data from the bodies that a dictionary is made from. A dictionary contains pieces of its
// samples and outlives them, and no erasure of a user changes it. Pure.

internal import Formats

/// Bodies of events that are reduced to what many owners' bodies have in common.
///
/// A key or a value stays only if bodies of many owners have it (`ownersMin`, `shareMin`) and it has no form
/// of personal data (`mayBeShared`). Such are the words of a processor's API, the merchant's prices and
/// addresses. Every other string and number is replaced by random characters of the same kinds. The same
/// holds inside of a context, which is JSON in base64.
struct AnonymousSamples {
  /// The fewest owners that must have a text in common.
  static let ownersMin = 20
  /// The smallest share of all owners that must have a text in common.
  static let shareMin = 0.1
  /// The longest text that may stay.
  static let bytesMax = 1024

  private struct Count {
    var owners: Int32 = 0
    /// The owner that was counted last.
    var last: Int32 = -1

    mutating func add(_ owner: Int32) {
      if last != owner { owners += 1 }
      last = owner
    }
  }

  private let shared: Set<ArraySlice<UInt8>>

  /// Finds what bodies have in common. Bodies that are not JSON are ignored.
  /// - Parameter ownersMin: a test may need fewer.
  init(_ bodies: [(body: [UInt8], owner: String)], ownersMin: Int = ownersMin) {
    // All bodies of an owner follow each other, so that each text counts once for an owner.
    let byOwner = Dictionary(grouping: bodies, by: \.owner).values.map { $0.map(\.body) }
    let enough = Int32(max(ownersMin, Int(Double(byOwner.count) * Self.shareMin)))
    // Most texts are of one owner only. So hash values are counted first, and then only the texts themselves
    // whose hash value has enough owners: a table of all texts would take 10 MB.
    var byHash: [Int: Count] = [:]
    Self.forEachToken(byOwner) { byHash[$0.hashValue, default: Count()].add($1) }
    byHash = byHash.filter { $0.value.owners >= enough }
    var byText: [ArraySlice<UInt8>: Count] = [:]
    Self.forEachToken(byOwner) { text, owner in
      if byHash[text.hashValue] != nil { byText[text, default: Count()].add(owner) }
    }
    shared = Set(byText.filter { $0.value.owners >= enough && Self.mayBeShared($0.key) }.keys)
  }

  private static func forEachToken(_ byOwner: [[[UInt8]]], _ use: (ArraySlice<UInt8>, Int32) -> Void) {
    for (owner, bodies) in byOwner.enumerated() {
      for body in bodies { forEachToken(in: body) { use($0, Int32(owner)) } }
    }
  }

  private static func forEachToken(in body: [UInt8], _ use: (ArraySlice<UInt8>) -> Void) {
    for token in JSONToken.all(in: body) ?? [] {
      let text = body[token.range]
      use(text)
      if let encoded = EncodedJSON(text) { forEachToken(in: encoded.text, use) }
    }
  }

  /// The body without what is not shared; nil if it is not JSON.
  func sample(_ body: [UInt8], _ filler: inout Filler) -> [UInt8]? {
    guard let tokens = JSONToken.all(in: body) else { return nil }
    var sample = body
    for token in tokens where !shared.contains(body[token.range]) {
      let inner = token.isString ? token.range.dropFirst().dropLast() : token.range
      if let encoded = EncodedJSON(body[token.range]), let other = self.sample(encoded.text, &filler) {
        sample.replaceSubrange(inner, with: encoded.encode(other))
        continue
      }
      for position in inner { sample[position] = filler.character(like: body[position]) }
    }
    return sample
  }

  /// Whether a text may stay if many owners have it. Excludes the usual forms of personal data: texts with an
  /// at sign, a blank, or letters beyond ASCII; words of more than three letters with a capital letter, also
  /// with separators ("Anne-Marie"); and strings of four or more digits. Short names pass, so the number of
  /// owners must protect them.
  static func mayBeShared(_ token: ArraySlice<UInt8>) -> Bool {
    guard token.count <= bytesMax else { return false }
    let inner = token.first == UInt8(ascii: "\"") ? token.dropFirst().dropLast() : token
    guard inner.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "@") }) else { return false }
    let isString = inner.count < token.count
    let isNumber = inner.allSatisfy { digits.contains($0) || separators.contains($0) }
    if isString, isNumber { return inner.count { digits.contains($0) } < digitsMin }
    let isName = inner.allSatisfy { Character(UnicodeScalar($0)).isLetter || separators.contains($0) }
    // Codes of currencies and countries are capital letters, too.
    return !isName || inner.count <= 3 || !inner.contains { Character(UnicodeScalar($0)).isUppercase }
  }

  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  /// What the parts of names and of telephone numbers are separated by.
  private static let separators = Array("-'.+()/".utf8)
  /// Telephone numbers, and most postal codes, have at least this many digits.
  private static let digitsMin = 4
}

/// Random characters that replace others. The sequence is not for secrets: nothing of the replaced character
/// except its kind is in the new one.
struct Filler {
  private var state: UInt64

  init(seed: UInt64) { state = seed | 1 }

  /// A capital letter for a capital letter, a digit for a digit, a small letter for a letter beyond ASCII;
  /// punctuation stays.
  mutating func character(like byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): next(of: 10, from: UInt8(ascii: "0"))
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): next(of: 26, from: UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: next(of: 26, from: UInt8(ascii: "a"))
    default: byte
    }
  }

  /// SplitMix64 (Steele, Lea, Flood 2014): `SystemRandomNumberGenerator` asks the system for each number, and
  /// this needs millions.
  private mutating func next(of count: UInt64, from first: UInt8) -> UInt8 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return first + UInt8(truncatingIfNeeded: mixed.multipliedFullWidth(by: count).high)
  }
}

// MARK: - EncodedJSON

// JSON in base64 inside of a JSON string, as contexts are. Pure.

/// A string of a JSON text that is JSON in base64.
struct EncodedJSON {
  /// Shorter strings are not decoded: most of them are words.
  private static let bytesMin = 24

  let text: [UInt8]
  private let isURL: Bool

  /// - Parameter token: with its quotation marks.
  /// - Returns: nil if it is anything else, or if `encode` would not restore it.
  init?(_ token: ArraySlice<UInt8>) {
    guard token.count >= Self.bytesMin, token.first == UInt8(ascii: "\"") else { return nil }
    let inner = token.dropFirst().dropLast()
    guard let text = Base64.decode(inner.span, .lenient),
      JSONDocument.read(text, { _ in true }) == true
    else { return nil }
    self.text = text
    if Base64.encode(text).utf8.elementsEqual(inner) {
      isURL = false
    } else if Base64.encodeURL(text).utf8.elementsEqual(inner) {
      isURL = true
    } else {
      return nil
    }
  }

  /// Another text in the same form, without quotation marks.
  func encode(_ other: [UInt8]) -> [UInt8] {
    Array((isURL ? Base64.encodeURL(other) : Base64.encode(other)).utf8)
  }
}
