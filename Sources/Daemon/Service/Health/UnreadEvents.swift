// Stored events that may report a payment and could not be read. They stay until `events reprocess` reads
// them, so they are found in the database, whether receiptd runs or not. One thread.

public import Config
public import Domain
public import Formats
public import Store

extension StoreReader {
  /// When the app's newest event arrived; nil also if it cannot be read, which `UnreadEvents` reports.
  public func lastReadableEvent(app: AppSlug) -> Timestamp? { (try? lastEvent(app: app)) ?? nil }
}

/// The unreadable events of the last day. Where they cannot be counted, as on damaged pages, everything else
/// is still shown: no count is not the same as none.
public struct UnreadEvents: Sendable {
  /// What was found, sorted by app; empty if it could not be counted.
  public let found: [Finding]
  /// Why the events could not be counted; nil if they were.
  public let fault: StoreFault?

  /// Older ones were reported for a day.
  private static let eventsKept: Duration = .seconds(24 * 3600)
  /// More are not counted.
  private static let eventsMax = 200

  public init(_ apps: [AppConfiguration], _ reader: StoreReader, now: Timestamp) {
    do throws(StoreFault) {
      (found, fault) = (try Self.find(apps, reader, now: now), nil)
    } catch {
      (found, fault) = ([], error)
    }
  }

  /// What was found, and that the events could not be counted.
  public var findings: [Finding] { found + (fault.map { [.uncounted($0)] } ?? []) }

  /// The counts by app and reason; null if the events could not be counted.
  public var json: JSONValue {
    guard fault == nil else { return .null }
    return .object(
      found.map { lost in
        let reasons = lost.reasons.sorted { $0.key < $1.key }
        return .init(
          name: lost.app?.text ?? "",
          value: .object(reasons.map { .init(name: $0.key, value: .integer($0.value)) }))
      })
  }

  /// It reads the newest body of each type of event.
  private static func find(
    _ apps: [AppConfiguration], _ reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [Finding] {
    struct Group: Hashable {
      var app: AppSlug
      var processor: ProcessorName
      var type: String
    }
    var filter = EventFilter()
    (filter.outcome, filter.since) = (.unparsed, now - eventsKept)
    let events = try reader.events(filter, limit: eventsMax)
    var reasons: [AppSlug: [String: Int64]] = [:]
    var oldest: [AppSlug: Timestamp] = [:]
    let groups = Dictionary(grouping: events) { Group(app: $0.app, processor: $0.processor, type: $0.type) }
    for (group, events) in groups {
      // The newest first.
      guard let newest = events.first, let last = events.last else { continue }
      // A body that is damaged is lost input, too.
      let body = (try? reader.body(ofEvent: newest.row)) ?? nil
      let fault = body.flatMap {
        apps.first { $0.slug == group.app }?.unreadable(group.processor, in: $0)
      }
      if let fault, !fault.maySell { continue }
      let type = group.type.isEmpty ? group.processor.text : group.type
      reasons[group.app, default: [:]]["\(type): \(fault?.field ?? "unknown field")", default: 0] +=
        Int64(events.count)
      oldest[group.app] = min(oldest[group.app] ?? last.receivedAt, last.receivedAt)
    }
    return reasons.sorted { $0.key < $1.key }.compactMap { app, counts in
      Finding.events(of: app, counts, since: oldest[app] ?? now)
    }
  }
}
