// How long data is kept. Keys are read as by ConfigurationReader: one thread, every fault.

internal import Domain
public import Formats
internal import Platform

extension Configuration {
  /// How long finished data is kept.
  public struct Retention: Sendable, Equatable {
    public var contexts: Duration
    public var events: Duration
    public var attempts: Duration
    public var receipts: Duration

    public init(
      contexts: Duration = .days(30), events: Duration = .days(30), attempts: Duration = .days(90),
      receipts: Duration = .days(400)
    ) {
      self.contexts = contexts
      self.events = events
      self.attempts = attempts
      self.receipts = receipts
    }

    private static let range: ClosedRange<Duration> = .seconds(1)...(.days(36_500))

    static let section = ConfigurationSection(
      Self(),
      [
        .key(
          "contexts", \.contexts, .duration(in: range),
          "Retention of contexts. One that an open receipt needs is kept longer."),
        .key(
          "events", \.events, .duration(in: range),
          "Retention of events."),
        .key(
          "attempts", \.attempts, .duration(in: range),
          "Retention of delivery attempts."),
        .key(
          "receipts", \.receipts, .duration(in: range),
          "Retention of receipts, counted from their last change."),
      ])
  }
}

extension ConfigurationReader {
  /// A context that is deleted before the end of the join window is lost to a later purchase.
  func warnOfShortRetention(_ configuration: Configuration) {
    for app in configuration.apps
    where configuration.retention.contexts < app.join.window {
      collector.warning(
        "retention.contexts",
        "is shorter than apps.\(app.slug).join.window; contexts go before they can be used")
    }
    guard let processor = processors.longestRepeating else { return }
    let repeats = processor.rules(false).repeatPeriod
    if configuration.retention.receipts < repeats {
      collector.warning(
        "retention.receipts",
        "is shorter than \(DurationText.text(repeats)), for which \(processor.label) can send "
          + "an event again; the ids of deleted purchases are kept until then, so that none makes a second "
          + "receipt")
    }
  }
}
