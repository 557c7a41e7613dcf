// Whether it is unusual that an app gets no event for a while. Pure; any thread.

internal import Formats

/// What is usual for an app at the time at which its last event came.
public struct EventSilence: Sendable, Equatable {
  /// The days before the last event that are compared.
  public static let days = 7
  /// The events that must have come on such a day.
  public static let eventsMin = 10
  /// Of a longer silence, only this time is compared, so that no day is compared with itself.
  public static let spanMax: Duration = .hours(24)
  /// The days on which they must have come, the same day of the last week among them: an app that gets no
  /// events on Sundays is silent on Sundays.
  private static let daysMin = 3

  /// For each day before the last event, the newest first: how long after the same time of day the tenth
  /// event came; nil if fewer came within 24 hours.
  private let tenths: [Duration?]

  public init(tenths: [Duration?]) { self.tenths = tenths }

  /// Whether events would have come if the app had got them as usual.
  /// - Parameter silence: the time since the last event.
  public func isUnusual(after silence: Duration) -> Bool {
    let span = min(silence, Self.spanMax)
    let hadEvents = tenths.map { $0.map { $0 <= span } ?? false }
    guard hadEvents.count == Self.days, hadEvents.last == true else { return false }
    return hadEvents.count { $0 } >= Self.daysMin
  }
}
