// The troubles of the whole relay, for the pages of the dashboard. Thread-safe.

public import Config
public import Domain
internal import Platform
public import Reports
public import Service
public import Store

/// Finds the troubles with the default conditions, and remembers what is usual for each app.
public final class TroubleFinder: Sendable {
  private let events = Monitor(EventWatch())

  public init() {}

  /// The same as `AlertPreview.troubles`.
  public func troubles(
    _ configuration: Configuration, reader: StoreReader, health: HealthReport, now: Timestamp
  ) throws(StoreFault) -> [CurrentTrouble] {
    var events = events.withLock { $0 }
    let found = try AlertPreview.troubles(
      configuration, reader: reader, health: health, freeBytes: health.freeBytes, events: &events, now: now)
    let seen = events
    self.events.withLock { $0 = seen }
    return found
  }
}
