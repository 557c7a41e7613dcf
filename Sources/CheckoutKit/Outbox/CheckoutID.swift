// Ids of contexts that the app makes, so that a checkout can begin without the relay. Pure except for its
// randomness; thread-safe.

public import Foundation

/// Ids of contexts that the app makes: the relay accepts them as it accepts those that it makes.
///
/// An id has the form of the relay's own: `ctx_` and 26 characters of Crockford's base32, of which ten are
/// the time in milliseconds and sixteen are random. Until its context is posted it is a secret that claims
/// the purchase which names it, so it goes to the checkout page and to the relay only.
public enum CheckoutID {
  /// Seconds for which the relay accepts an id after the time in it.
  public static let lifetime: TimeInterval = 7 * 24 * 60 * 60

  static let prefix = "ctx_"
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  /// Makes an id for one checkout. Each tap on the paywall's button gets its own.
  /// - Parameter date: the time. The relay refuses ids whose time is more than an hour ahead of its own
  ///   clock; ``CheckoutOutbox`` corrects the device's time by the relay's answers.
  public static func make(at date: Date = Date()) -> String {
    let milliseconds = date.timeIntervalSince1970 * 1000
    let time = milliseconds > 0 ? UInt64(min(milliseconds, TimeInterval((1 << 48) - 1))) : 0
    // `SystemRandomNumberGenerator` is cryptographically secure on every platform.
    var random = SystemRandomNumberGenerator()
    return prefix + text(time, characters: 10) + text(random.next(), characters: 8)
      + text(random.next(), characters: 8)
  }

  /// Whether a text has the form of a context's id.
  public static func isWellFormed(_ id: String) -> Bool { date(of: id) != nil }

  /// The time in an id, also in one that the relay made: when the checkout began. Nil if it is not well
  /// formed.
  public static func date(of id: String) -> Date? {
    guard id.utf8.count == prefix.utf8.count + 26, id.utf8.starts(with: prefix.utf8) else { return nil }
    let digits = id.utf8.dropFirst(prefix.utf8.count).map { alphabet.firstIndex(of: $0) ?? -1 }
    // 48 bits in ten characters: the first has three.
    guard !digits.contains(-1), digits[0] < 8 else { return nil }
    let milliseconds = digits.prefix(10).reduce(0 as UInt64) { $0 << 5 | UInt64($1) }
    return Date(timeIntervalSince1970: TimeInterval(milliseconds) / 1000)
  }

  private static func text(_ bits: UInt64, characters: Int) -> String {
    let shifts = stride(from: 5 * (characters - 1), through: 0, by: -5)
    return String(decoding: shifts.map { alphabet[Int(bits >> UInt64($0) & 31)] }, as: UTF8.self)
  }
}
