// The identifiers that the relay generates. Pure; any thread.

internal import Formats

/// Identifiers of the form `prefix_` + 26 characters of Crockford's base32
/// (https://www.crockford.com/base32.html): 48 bits of time, then 80 random bits, as in a ULID. Their text
/// order is their time order.
public protocol GeneratedID: TextID {
  static var prefix: String { get }
}

/// The digits of Crockford's base32, in the order of their values.
let crockfordAlphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
private let characters = 26

extension GeneratedID {
  /// A new identifier.
  /// - Parameters:
  ///   - now: clamped to 48 bits of milliseconds.
  ///   - random: must be unpredictable for identifiers that are secrets, such as those of contexts.
  public static func make(
    now: Timestamp, random: inout some RandomNumberGenerator
  ) -> Self {
    // Uses 40 bits of each word.
    let (high, low) = (random.next(), random.next())
    var text = Array(prefix.utf8)
    append(time(of: now), characters: 10, to: &text)
    append(high, characters: 8, to: &text)
    append(low, characters: 8, to: &text)
    return Self(String(decoding: text, as: UTF8.self))
  }

  /// Makes an identifier that contains a number, such as the row of what it names. Identifiers of one moment
  /// sort by their numbers. Half of the random bits remain.
  /// - Parameter number: clamped to 40 bits.
  public static func make(
    now: Timestamp, number: Int64, random: inout some RandomNumberGenerator
  ) -> Self {
    var text = Array(prefix.utf8)
    append(time(of: now), characters: 10, to: &text)
    append(min(UInt64(clamping: number), (1 << 40) - 1), characters: 8, to: &text)
    append(random.next(), characters: 8, to: &text)
    return Self(String(decoding: text, as: UTF8.self))
  }

  /// The number in the identifier; nil if it is not well formed.
  public var number: Int64? {
    guard isWellFormed else { return nil }
    return text.utf8.dropFirst(Self.prefix.utf8.count + 10).prefix(8).reduce(0) { number, character in
      number << 5 | Int64(crockfordAlphabet.firstIndex(of: character) ?? 0)
    }
  }

  /// A text that sorts before every identifier of that moment or later, and after all earlier ones.
  public static func bound(at moment: Timestamp) -> String {
    var text = Array(prefix.utf8)
    append(time(of: moment), characters: 10, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private static func time(of moment: Timestamp) -> UInt64 {
    min(UInt64(clamping: moment.unixMilliseconds), 0xFFFF_FFFF_FFFF)
  }

  private static func append(_ bits: UInt64, characters: Int, to text: inout [UInt8]) {
    for position in stride(from: 5 * (characters - 1), through: 0, by: -5) {
      text.append(crockfordAlphabet[Int(bits >> UInt64(position) & 31)])
    }
  }

  /// The time in the identifier; nil if it is not well formed, or has more than 48 bits of time.
  public var time: Timestamp? {
    guard isWellFormed else { return nil }
    let bits = text.utf8.dropFirst(Self.prefix.utf8.count).prefix(10).reduce(0 as Int64) { bits, character in
      bits << 5 | Int64(crockfordAlphabet.firstIndex(of: character) ?? 0)
    }
    return bits >> 48 == 0 ? Timestamp(unixMilliseconds: bits) : nil
  }

  /// Whether it has the form of a generated identifier. It need not exist.
  public var isWellFormed: Bool {
    let prefix = Self.prefix.utf8
    return text.utf8.count == prefix.count + characters && text.utf8.starts(with: prefix)
      && text.utf8.dropFirst(prefix.count).allSatisfy(crockfordAlphabet.contains)
  }
}

// MARK: - Spoilt ids

// Ids of contexts that pages and processors changed on their way. Pure; any thread.

extension ContextID {
  /// Whether a text is a context's id or a spoilt one, so that it can be nothing else.
  public static func isMeant(by text: String) -> Bool {
    UntrustedText.trimmed(text).utf8.prefix(prefix.utf8.count).elementsEqual(prefix.utf8) { byte, expected in
      byte == expected || byte | 0x20 == expected
    }
  }

  /// The id in a text, repaired as Crockford's base32 allows: case does not count, `I` and `L` are 1, and `O`
  /// is 0. Whitespace at the ends is ignored.
  /// - Returns: nil if the text is none.
  public init?(repairing text: String) {
    let id = ContextID(text)
    if id.isWellFormed {
      self = id
      return
    }
    guard Self.isMeant(by: text) else { return nil }
    let rest = UntrustedText.trimmed(text).utf8.dropFirst(Self.prefix.utf8.count).map { byte in
      switch UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte ? byte & ~0x20 : byte {
      case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
      case UInt8(ascii: "O"): UInt8(ascii: "0")
      case let byte: byte
      }
    }
    let repaired = ContextID(Self.prefix + String(decoding: rest, as: UTF8.self))
    guard repaired.isWellFormed else { return nil }
    self = repaired
  }
}

// MARK: - ContextIDRule

// Which ids of contexts a client may choose. Pure; any thread.

/// Decides whether the relay accepts an id that a client made for its context.
///
/// The id of a context that was deleted or erased must not come again: with it, another user could claim the
/// purchase that names it. So the time in the id bounds how long it may be used, and a context is stored for
/// longer than that.
public struct ContextIDRule: Sendable, Equatable {
  /// An app may be offline for days before it can post.
  public static let ageMax: Duration = .days(7)
  /// The clocks of devices differ from that of the relay.
  public static let leadMax: Duration = .hours(1)

  /// How long contexts are stored after their post.
  public var retention: Duration

  public init(retention: Duration) { self.retention = retention }

  /// How old an id may be; zero or less if no id can be accepted.
  public var ageMax: Duration { min(Self.ageMax, retention - Self.leadMax) }

  /// Whether the relay accepts an id now.
  public func allows(_ id: ContextID, now: Timestamp) -> Bool {
    guard ageMax > .zero, let time = id.time else { return false }
    return time >= now - ageMax && time <= now + Self.leadMax
  }

  /// Until when a context that a purchase names, and that is not stored, may still be posted.
  /// - Returns: nil if it cannot be posted any more, or is not an id that a client may choose now.
  public static func end(of id: ContextID, now: Timestamp) -> Timestamp? {
    guard let time = id.time, time <= now + leadMax else { return nil }
    let end = time + ageMax
    return end > now ? end : nil
  }
}
