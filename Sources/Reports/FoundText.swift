// The results of a search as text. Pure; called from any thread. Nothing is sanitized or escaped.

public import Domain
internal import Platform
public import Store

/// One result of a search, in words.
public struct FoundText: Sendable, Equatable {
  /// `receipt`, `purchase` for one without a receipt, `context` or `event`.
  public let what: String
  public let id: String
  public let app: AppSlug
  public let state: String
  public let userID: UserID?
  /// Which of its ids the search found: `customer cus_1`; only the kind if `id` is that id.
  public let match: String

  public init(_ finding: SearchHit) {
    var matched: String?
    switch finding.item {
    case .purchase(let purchase):
      what = purchase.receiptID == nil ? "purchase" : "receipt"
      id = purchase.receiptID?.text ?? purchase.objectID.text
      app = purchase.app
      let reason = purchase.reason.map { " (\($0))" } ?? ""
      state = purchase.state.map { $0.rawValue + reason } ?? "no receipt"
      userID = purchase.userID
      matched = finding.named ?? purchase.id(finding.match)
    case .context(let context):
      (what, id, app) = ("context", context.id.text, context.app)
      (state, userID) = (context.state.rawValue, context.userID)
      if finding.match == .user { matched = context.userID.text }
    case .event(let event):
      (what, id, app) = ("event", event.id.text, event.app)
      (state, userID) = ("\(event.type), \(event.outcome)", nil)
      matched = finding.named
    }
    if let other = matched, other != id {
      match = "\(finding.match.rawValue) \(other)"
    } else {
      match = finding.match.rawValue
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
    var text = "nothing is known of this id, and no id begins or ends with it"
    if query.isAddress { text = "no user has this id, and no stored event this address" }
    if query.beginnings.isEmpty, !query.isAddress {
      text =
        "nothing has exactly this id, and a part of an id needs at least \(FindQuery.partMin) characters "
        + "after its prefix"
    }
    if let compared = found.compared {
      text += ", and none of the newest \(CountText.grouped(compared)) receipts has this price"
    }
    return isFiltered ? "\(text), in this app and time" : text
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
