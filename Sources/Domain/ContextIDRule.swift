// Which ids of contexts a client may choose. Pure; any thread.

internal import Formats

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
