// The list of contexts. Pure, but for reading it; called from any thread.

public import Domain
public import Formats
public import Store

/// Contexts, newest first.
public enum ContextResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "contexts", one: "context", emptyPage: "No app has posted a context.", fields,
    table: ["id", "app", "user_id", "state", "price_id", "receipt_id", "received_at", "expires_at"],
    page: ["id", "state", "user_id", "app", "price_id", "receipt_id", "received_at", "expires_at"])

  private static let fields: [ListField<ContextSummary>] = [
    .id("id") { .context($0.id) }.titled("Context", heading: "ID"), .app { $0.app }.titled("App"),
    .id("user_id") { .user($0.userID) }.titled("User", .long),
    .text("state") { $0.state.rawValue }.titled("State") { .state($0.state.rawValue, $0.state.tone) },
    .id("receipt_id") { $0.receiptID.map { .receipt($0) } }.titled("Receipt", .drops),
    .id("price_id") { $0.blob.priceID.map { .price($0) } }.titled("Price", [.wraps, .drops]),
    .time("received_at") { $0.receivedAt }.titled("Received"), .time("posted_at") { $0.postedAt },
    .time("expires_at") { $0.expiresAt }.titled("Expires", .drops),
  ]
}

extension ContextResource {
  /// A context with its blob, for other programs.
  /// - Parameter withBody: whether the reader may see the blob.
  public static func detail(of context: ContextSummary, withBody: Bool = true) -> JSONValue {
    list.object(of: context).adding("ply_context", .optional(withBody ? context.blob.text : nil))
  }
}

extension CheckoutStatus.State {
  /// Its emphasis in lists.
  public var tone: Tone {
    switch self {
    case .open: .waiting
    case .paid: .pending
    case .delivered: .good
    case .failed: .bad
    case .cancelled, .expired: .ended
    }
  }
}

extension ContextFilter: ListFilter {
  public static var resource: Resource<ContextSummary> { ContextResource.list }

  public func read(
    _ reader: StoreReader, limit: Int, now: Timestamp
  ) throws(StoreFault) -> ListPage<ContextSummary, ContextID> {
    let found = try reader.contexts(self, now: now, limit: limit + 1, hasContent: false)
    return ListPage(found, limit: limit) { $0.id }
  }

  public static let fields: [FilterField<ContextFilter>] =
    [
      .app { $0.app = $1 },
      .id("user", "USER", "User", "Only those of this user", isPersonal: true) { $0.userID = UserID($1) },
    ] + FilterField.times("received", since: { $0.since = $1 }, until: { $0.until = $1 })
}
