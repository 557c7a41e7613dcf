// Why a receipt has its user, its context and its price: one paragraph. Pure; called from any thread. Nothing
// is sanitized or escaped.

public import Domain
internal import Formats
public import Store

/// Explains whose purchase it is, which names lost, and what would have changed it.
public enum IdentityText {
  /// - Parameters:
  ///   - customerUsers: the users seen with the purchase's customer in this app.
  ///   - awaited: the contexts that its events named and that are not posted yet.
  ///   - processor: the rules of its processor; nil if its app is not configured.
  public static func paragraph(
    _ record: PurchaseRecord, customerUsers: [UserID], awaited: [ContextID] = [], processor: ProcessorRules?
  ) -> String {
    let purchase = record.purchase
    guard !purchase.isErased else { return "Its user's data was erased." }
    if purchase.isForeign {
      return "It is a sale of something else, by `sells` or `except`: it gets no receipt."
    }
    let price = price(record, needed: processor?.namesPrices ?? true)
    let user = user(record, customerUsers, awaited, processor)
    return (user + [context(purchase, awaited)] + price).joined(separator: " ")
  }

  // MARK: User

  private static func user(
    _ record: PurchaseRecord, _ customerUsers: [UserID], _ awaited: [ContextID],
    _ processor: ProcessorRules?
  ) -> [String] {
    let purchase = record.purchase
    let others = purchase.otherNames.map { other($0, record, processor) }
    guard let user = purchase.userID else {
      let reasons = others + [self.awaited(awaited) ?? ambiguous(purchase, customerUsers)].compactMap(\.self)
      let nobody = reasons.isEmpty ? ["No event names a user."] : []
      let hint = awaited.isEmpty ? suggestion(record, customerUsers) : nil
      return nobody + reasons + [hint, remedy(purchase, processor)].compactMap(\.self)
    }
    var sentences = [winner(user, purchase)] + others
    if purchase.userConflict {
      sentences.append("Two sources name different users, so the receipt is marked user_conflict.")
    }
    return sentences
  }

  private static func winner(_ user: UserID, _ purchase: Purchase) -> String {
    switch purchase.userSource {
    case .byOperator?: "The user is '\(user)', because an operator said so."
    case .claim?: "The user is '\(user)', who claimed the purchase."
    case .context?: "The user is '\(user)', whose context the checkout names."
    case .customer?:
      "No event names a user: '\(user)' was inferred, as the only user ever seen with this customer. A name "
        + "in an event that comes before the receipt is sent replaces that."
    case let source?: "The user is '\(user)', named \(place(source, purchase))."
    case nil: "The user is '\(user)'."
    }
  }

  /// Where a source names a user: `in the metadata`.
  private static func place(_ source: Purchase.UserSource, _ purchase: Purchase) -> String {
    switch source {
    case .byOperator: "by an operator"
    case .claim: "by a claim"
    case .context: "by a context"
    case .ownKey, .ownKeyOfInvoice: "in the metadata as ply_user_id"
    case .reference where purchase.isOfStore: "by the app that reported the purchase"
    case .reference:
      purchase.observations.contains(.started)
        ? "by the app that started the payment" : "in the checkout's client_reference_id"
    case .metadata, .metadataOfInvoice: "in the metadata"
    case .customerMetadata, .customerMetadataOfLaterKey: "in the customer's metadata"
    case .customer: "by no event, but seen with this customer"
    }
  }

  /// Why a name is not the user.
  private static func other(
    _ name: NamedUser, _ record: PurchaseRecord, _ processor: ProcessorRules?
  ) -> String {
    let (purchase, place) = (record.purchase, place(name.source, record.purchase))
    let setting = "\(purchase.key.processor).reference"
    switch name.standing {
    case .refused where ContextID.isMeant(by: name.id.text):
      return "'\(name.id)' \(place) looks like a context's id and is none of this app, so it names nobody."
    case .refused where Purchase.isErased(name.id):
      return "The checkout's reference named a user who was erased, so nobody is inferred."
    case .refused:
      return "'\(name.id)' \(place) is a placeholder and no user (`user_ids` says which texts are)."
    case .unknown where processor?.reference == .context:
      return "The checkout's reference '\(name.id)' is no context's id, and `\(setting): \"context\"` "
        + "lets it be nothing else."
    case .unknown:
      return "No user is known: the checkout's reference '\(name.id)' is no user who posted a context; if "
        + "your pages put user ids there, set `\(setting): \"user\"`; if they are order numbers or ids of "
        + "clicks, `\"context\"`: the customer's only user then counts."
    case .counts:
      guard let source = purchase.userSource, name.source < source else {
        return "'\(name.id)' is named \(place), which counts less."
      }
      let command = record.receipt.map { "receiptctl receipts correct \($0.id) --user USER --why TEXT" }
      return "'\(name.id)' is named \(place), which counts more, but came after the receipt was made"
        + (command.map { "; if that is the right user: \($0)" } ?? "") + "."
    }
  }

  /// - Returns: nil unless a context is named that is not posted yet.
  private static func awaited(_ awaited: [ContextID]) -> String? {
    awaited.first.map { id in
      "The checkout names the context \(id), which was not posted to this app: its user counts as soon as it "
        + "is, and until then the users of the customer say nothing."
    }
  }

  /// Whom an operator may choose for a receipt that failed: the join never brings it back for a user who is
  /// only inferred.
  private static func suggestion(_ record: PurchaseRecord, _ users: [UserID]) -> String? {
    guard let receipt = record.receipt, receipt.state == .failed, receipt.reason == .user,
      let customer = record.purchase.customerID, let user = users.first, users.count == 1
    else { return nil }
    return "The customer \(customer) was seen with '\(user)'. If the purchase is theirs: receiptctl receipts "
      + "complete \(receipt.id) --user USER."
  }

  /// - Returns: nil unless several users were seen with the customer.
  private static func ambiguous(_ purchase: Purchase, _ users: [UserID]) -> String? {
    guard let customer = purchase.customerID, users.count > 1 else { return nil }
    let names = users.sorted().map { "'\($0)'" }.joined(separator: ", ")
    return "The customer \(customer) was seen with several users (\(names)), so it stands for none of them."
  }

  /// What lets such a purchase have a user.
  private static func remedy(_ purchase: Purchase, _ processor: ProcessorRules?) -> String? {
    guard purchase.userID == nil, processor != nil else { return nil }
    return "The id of a posted context at the checkout, or your user id as metadata `ply_user_id`, would "
      + "have named the user."
  }

  /// A source in `--json`.
  public static func word(_ source: Purchase.UserSource) -> String {
    switch source {
    case .byOperator: "operator"
    case .claim: "claim"
    case .context: "context"
    case .ownKey, .ownKeyOfInvoice: "ply_user_id"
    case .reference: "reference"
    case .metadata, .metadataOfInvoice: "metadata"
    case .customerMetadata, .customerMetadataOfLaterKey: "customer_metadata"
    case .customer: "inferred"
    }
  }

  /// A standing in `--json`.
  public static func word(_ standing: NamedUser.Standing) -> String {
    switch standing {
    case .counts: "counts"
    case .unknown: "unknown"
    case .refused: "refused"
    }
  }

  // MARK: Context

  private static func context(_ purchase: Purchase, _ awaited: [ContextID]) -> String {
    let id = purchase.contextID?.text
    switch purchase.contextSource {
    case .guess?:
      let among = purchase.contextCandidates.map { $0 > 1 ? " of \($0)" : "" } ?? ""
      return "No event names a context: \(id ?? "it") is the user's newest that fits\(among)."
    case .blob? where purchase.isOfStore: return "Its context came with the purchase."
    case .blob?: return "Its context is in the metadata."
    case .byOperator?: return "Its context \(id ?? "") was chosen by an operator."
    case .metadata?, .reference?:
      return "Its context \(id ?? "") is \(purchase.contextSourceText ?? "named by an event")."
    case nil where purchase.isOfStore: return "It has no context, because none came with the purchase."
    case nil:
      if purchase.userID == nil { return "Without a user it has no context." }
      return awaited.first.map { "It has no context: \($0) is named, and was not posted to this app." }
        ?? "It has no context: none is named, and no unused one fits."
    }
  }

  // MARK: Price

  /// - Parameter needed: whether its processor names prices.
  private static func price(_ record: PurchaseRecord, needed: Bool) -> [String] {
    let (prices, named) = (record.purchase.prices, record.purchase.context?.priceID)
    guard let price = record.receipt?.priceID ?? prices.first else {
      return needed ? ["No event names a price."] : []
    }
    if named == price {
      let rest = prices.count > 1 ? ", one of the \(prices.count) of this purchase" : ""
      return ["The price is \(price), as the context says\(rest)."]
    }
    var sentences: [String]
    if prices.count > 1 {
      let list = prices.map(\.text).joined(separator: ", ")
      sentences = [
        "The price is \(price), the first of \(list): recurring ones before fees, licensed before metered."
      ]
    } else if record.receipt?.corrects != nil {
      sentences = ["The price is \(price), which the correction has."]
    } else if prices == [price] {
      sentences = ["The price is \(price), the only one that is named."]
    } else {
      sentences = ["The price is \(price)."]
    }
    if let named { sentences.append("The context names \(named), which this purchase does not have.") }
    return sentences
  }
}
