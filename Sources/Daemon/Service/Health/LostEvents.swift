// Stored events that may report a payment and could not be read. They stay until `events reprocess` reads
// them, so they are found in the database, whether receiptd runs or not. One thread.

public import Config
public import Domain
public import Reports
public import Store

extension LostInput {
  /// Older ones were reported for a day.
  private static let eventsKept: Duration = .seconds(24 * 3600)
  /// More are not counted.
  private static let eventsMax = 200

  /// The unreadable events of each app, sorted by it. It reads the newest body of each type of event.
  public static func events(
    _ apps: [AppConfiguration], _ reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [LostInput] {
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
      LostInput.events(of: app, counts, since: oldest[app] ?? now)
    }
  }
}
