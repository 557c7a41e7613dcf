// The list of groups of failed receipts. Pure, but for reading it; called from any thread.

public import Domain
internal import Formats
public import Store

/// Failed receipts by app, processor, reason and cause.
public enum FailureResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "failed", one: "group", emptyTable: "Nothing has failed.", fields,
    table: [
      "state", "app", "processor", "reason", "cause", "count", "new", "oldest_at", "newest_at", "owner",
      "note",
    ])

  private static let fields: [ListField<FailureGroup>] = [
    .app { $0.app }.titled("App"), .text("processor") { $0.processor.text }.titled("Processor", .drops),
    .text("reason") { $0.reason }.titled("Reason"), .text("cause") { $0.cause }.titled("Cause", .drops),
    .number("count") { $0.count }.titled("Count"),
    .text("state") { $0.attention.rawValue }.titled("State") { group in
      .state(group.attention.rawValue, group.attention == .acknowledged ? .ended : .bad)
    },
    .number("new") { $0.growth }.titled("New"), .time("oldest_at") { $0.oldest }.titled("Oldest", .drops),
    .time("newest_at") { $0.newest }.titled("Newest"),
    .text("owner") { $0.acknowledgement?.owner }.titled("Owner"),
    .text("note") { $0.acknowledgement?.note }.titled("Note", .shrinks),
    .text("actor") { $0.acknowledgement?.actor }, .time("acknowledged_at") { $0.acknowledgement?.at },
  ]
}

extension FailureChoice: ListFilter {
  /// The most groups that are listed.
  public static let groupsMax = 1000

  public static var resource: Resource<FailureGroup> { FailureResource.list }
  public static var hasPages: Bool { false }
  public static let fields: [FilterField<FailureChoice>] = [
    .app { $0.app = $1 }, .processor { $0.processor = $1 },
    FilterField("reason", "REASON", "Reason", "Only those with this reason, such as http_422 or user") {
      choice, text, _ in
      choice.reason = text
      return Reason.fault(in: text).map { "is wrong: \($0)" }
    }, .id("cause", "CAUSE", "Last error", "Only those whose last cause was this") { $0.cause = $1 },
  ]

  public init() { self.init(app: nil) }

  public var after: Int64? {
    get { nil }
    set {}
  }

  public func read(
    _ reader: StoreReader, limit _: Int, now _: Timestamp
  ) throws(StoreFault) -> ListPage<FailureGroup, Int64> {
    let groups = try reader.failures(self, limit: Self.groupsMax + 1)
    return ListPage(
      Array(groups.prefix(Self.groupsMax)), next: nil,
      compared: groups.count > Self.groupsMax ? Self.groupsMax : nil)
  }
}
