// The results of a search as text. Pure; called from any thread. Nothing is sanitized or escaped.

public import Domain
internal import Platform
public import Store

/// The results of a search, newest first.
public enum FoundResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "find", one: "result", fields, table: ["what", "id", "app", "state", "user_id", "found_by", "at"],
    page: ["id", "what", "badge", "app", "user_id", "found_by", "at"])

  private static let fields: [ListField<FoundText>] = [
    .text("what") { $0.what }.titled("What"), .id("id") { $0.id }.titled("Id"),
    .app { $0.app }.titled("App", .drops),
    .text("state") { $0.state }.titled("State", .shrinks) { found in
      .text(
        found.reason.map { "\(found.state) (\($0))" } ?? found.stateText, found.receiptState?.tone ?? .plain)
    },
    .shown("badge").titled("State") { found in
      found.receiptState.map { .state($0.rawValue, $0.tone, reason: found.reason) } ?? .text(found.stateText)
    },
    .id("user_id") { $0.userID.map { .user($0) } }.titled("User", .long),
    .text("object_id") { $0.objectID?.text }, .text("receipt_id") { $0.receiptID?.text },
    .text("found_by") { $0.hit.match.rawValue }.titled("Found by", [.long, .drops]) { .text($0.match) },
    .time("at") { $0.hit.at }.titled("When"),
  ]
}

/// One result of a search, in words.
public struct FoundText: Sendable {
  fileprivate let hit: SearchHit
  /// `receipt`, `purchase` for one without a receipt, `context` or `event`.
  public let what: String
  public let id: NamedID
  fileprivate let app: AppSlug
  /// Of an event its outcome, of a purchase without a receipt `none`.
  fileprivate var state: String
  /// The same for people.
  fileprivate var stateText: String
  fileprivate var receiptState: ReceiptState?
  fileprivate var reason: String?
  fileprivate var userID: UserID?
  fileprivate var objectID: ObjectID?
  fileprivate let receiptID: ReceiptID?
  /// Which of its ids the search found: `customer cus_1`; only the kind if `id` is that id.
  fileprivate let match: String

  public init(_ hit: SearchHit) {
    self.hit = hit
    var matched: String?
    switch hit.item {
    case .purchase(let purchase):
      what = purchase.receiptID == nil ? "purchase" : "receipt"
      id = purchase.receiptID.map { .receipt($0) } ?? .object(purchase.objectID)
      (app, userID, objectID, receiptID) = (
        purchase.app, purchase.userID, purchase.objectID, purchase.receiptID
      )
      (receiptState, reason) = (purchase.state, purchase.state == nil ? nil : purchase.reason?.text)
      (state, stateText) = (purchase.state?.rawValue ?? "none", purchase.state?.rawValue ?? "no receipt")
      matched = hit.named ?? purchase.id(hit.match)
    case .context(let context):
      (what, id, app) = ("context", .context(context.id), context.app)
      (state, stateText) = (context.state.rawValue, context.state.rawValue)
      (userID, receiptID) = (context.userID, context.receiptID)
      if hit.match == .user { matched = context.userID.text }
    case .event(let event):
      (what, id, app, receiptID) = ("event", .event(event.id), event.app, event.receiptID)
      (state, stateText) = (event.outcome, "\(event.type), \(event.outcome)")
      matched = hit.named
    }
    if let other = matched, other != id.text {
      match = "\(hit.match.rawValue) \(other)"
    } else {
      match = hit.match.rawValue
    }
  }

  /// Why a search may have missed events; nil if it read all.
  public static func indexing(_ found: Findings) -> String? {
    found.isIndexing
      ? "receiptd is still indexing events: what only they name, such as addresses, may be missing here" : nil
  }

  /// What a search without results found out, as a sentence without its full stop.
  /// - Parameter found: the results, which are empty.
  public static func nothing(_ query: FindQuery, _ found: Findings, isFiltered: Bool) -> String {
    var text =
      "no receipt, context, event, purchase, checkout, customer, import or user has this id or one that "
      + "begins or ends with it, and no stored event names it"
    if query.isAddress { text = "no user has this id, and no stored event this address" }
    if query.beginnings.isEmpty, !query.isAddress {
      text =
        "nothing has exactly this id, and no stored event names it, as a reference either; a part of an id "
        + "needs at least \(FindQuery.partMin) characters after its prefix"
    }
    if let compared = found.compared {
      text += ", and none of the newest \(CountText.grouped(compared)) receipts has this price"
    }
    return isFiltered ? "\(text), in this app and time" : text
  }

  /// What to try after such a search, for the terminal.
  public static func next(isFiltered: Bool) -> String {
    isFiltered
      ? "try it without --app, --since and --until"
      : "try another id of the purchase, from the processor's dashboard. Events are kept for "
        + "retention.events. The latest are in: receiptctl events list --since 1d; to fetch those that never "
        + "came: receiptctl events backfill --since 3d"
  }
}

extension FoundPurchase {
  fileprivate func id(_ match: SearchHit.Match) -> String? {
    switch match {
    case .purchase: objectID.text
    case .checkout: sessionID?.text
    case .customer: customerID?.text
    case .user: userID?.text
    case .importID: importID
    case .receipt, .context, .event, .mention, .reference, .address, .price: nil
    }
  }
}
