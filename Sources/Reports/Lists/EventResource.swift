// The list of events. Pure, but for reading it; called from any thread.

public import Domain
public import Formats
public import Store

/// Events, newest first.
public enum EventResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "events", one: "event", emptyPage: "There are no events yet.", fields,
    table: ["id", "app", "processor", "type", "outcome", "receipt_id", "received_at"],
    page: ["id", "type", "outcome", "app", "processor", "receipt_id", "received_at"])

  private static let fields: [ListField<EventSummary>] = [
    .id("id") { .event($0.id) }.titled("Event", heading: "ID", .wraps), .app { $0.app }.titled("App"),
    .text("processor") { $0.processor.text }.titled("Processor", [.drops, .ifSeveral]),
    .text("type") { $0.type }.titled("Type", .long),
    .text("outcome") { $0.outcome }.titled("Outcome") {
      .text($0.outcome, $0.outcome == EventOutcome.unparsed.rawValue ? .bad : .plain)
    },
    .id("receipt_id") { $0.receiptID.map { .receipt($0) } }.titled("Receipt", .drops),
    .time("received_at") { $0.receivedAt }.titled("Received"),
  ]
}

extension EventResource {
  /// An event with its raw bytes as text, for other programs; invalid UTF-8 is repaired.
  /// - Parameters:
  ///   - body: nil if the reader may not see it.
  ///   - reason: why the event made no receipt; nil if there is nothing to explain.
  public static func detail(of event: EventSummary, body: [UInt8]?, _ reason: String? = nil) -> JSONValue {
    let detail = list.object(of: event)
    return (reason.map { detail.adding("reason", .string($0)) } ?? detail)
      .adding("body", .optional(body.map { String(decoding: $0, as: UTF8.self) }))
  }
}

extension EventFilter: ListFilter {
  public static var resource: Resource<EventSummary> { EventResource.list }

  public func read(
    _ reader: StoreReader, limit: Int, now _: Timestamp
  ) throws(StoreFault) -> ListPage<EventSummary, EventRowID> {
    ListPage(try reader.events(self, limit: limit + 1), limit: limit) { $0.row }
  }

  public func total(_ reader: StoreReader) throws(StoreFault) -> ListTotal? { try reader.total(self) }

  public static let fields: [FilterField<EventFilter>] =
    [
      .app { $0.app = $1 }, .processor { $0.processor = $1 },
      .id("type", "TYPE", "Type", "Only those of this type, such as checkout.session.completed") {
        $0.type = $1
      },
      .choice(EventOutcome.self, "outcome", "Outcome", "Only those with this outcome") { $0.outcome = $1 },
      .flag("paid", "Paid", "Only those of paid purchases that name no user and made no receipt") {
        $0.isUnmatched = true
      },
    ] + FilterField.times("received", since: { $0.since = $1 }, until: { $0.until = $1 })
}
