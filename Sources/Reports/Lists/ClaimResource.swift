// The list of claims. Pure, but for reading it; called from any thread.

public import Domain
internal import Formats
public import Store

/// Claims, newest first.
public enum ClaimResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "claims", one: "claim", emptyPage: "Nobody was offered to claim a purchase.", fields,
    table: ["id", "app", "receipt_id", "state", "user_id", "origin", "offered_at", "expires_at"],
    page: ["id", "state", "receipt_id", "app", "user_id", "origin", "offered_at", "expires_at"])

  private static let fields: [ListField<ClaimSummary>] = [
    .text("id") { $0.claim.id.text }.titled("Claim", heading: "ID") { .identifier($0.claim.id.text) },
    .app { $0.app }.titled("App"), .id("receipt_id") { .receipt($0.receiptID) }.titled("Receipt"),
    .text("object_id") { $0.objectID.text },
    .text("state") { $0.state.rawValue }.titled("State") { .state($0.state.rawValue, $0.state.tone) },
    .id("user_id") { $0.claim.userID.map { .user($0) } }.titled("User", .long),
    .text("origin") { $0.claim.origin.rawValue }.titled("Made by", .drops) {
      .text($0.claim.actor ?? $0.claim.origin.rawValue)
    },
    .text("actor") { $0.claim.actor }, .time("offered_at") { $0.claim.offeredAt }.titled("Offered"),
    .time("expires_at") { $0.claim.expiresAt }.titled("Expires", .drops),
    .time("ended_at") { $0.claim.endedAt },
  ]
}

extension ClaimState {
  /// Its emphasis in lists.
  public var tone: Tone {
    switch self {
    case .offered: .waiting
    case .claimed: .good
    case .expired, .revoked: .ended
    }
  }
}

extension ClaimID: ListPosition {}

extension ClaimFilter: ListFilter {
  public static var resource: Resource<ClaimSummary> { ClaimResource.list }

  public func read(
    _ reader: StoreReader, limit: Int, now: Timestamp
  ) throws(StoreFault) -> ListPage<ClaimSummary, ClaimID> {
    try reader.claims(self, now: now, limit: limit)
  }

  public static let fields: [FilterField<ClaimFilter>] =
    [
      .app { $0.app = $1 },
      .id("receipt", "ID", "Receipt", "Only those of this receipt") { $0.receiptID = ReceiptID($1) },
      .states { $0.states = $1 },
    ] + FilterField.times("offered", since: { $0.since = $1 }, until: { $0.until = $1 })
}
