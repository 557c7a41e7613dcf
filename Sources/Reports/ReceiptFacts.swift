// The facts about one purchase and its receipt, as names and values. Pure; called from any thread. Nothing is
// sanitized or escaped.

public import Domain
internal import Platform
public import Store

/// One fact about a purchase or its receipt.
public struct ReceiptFact: Sendable, Equatable {
  public let name: String
  public let value: String
  /// The id in the value, if there is one.
  public let id: NamedID?

  init(_ name: String, _ value: String, _ id: NamedID? = nil) {
    self.name = name
    self.value = value
    self.id = id
  }
}

/// The facts about a purchase and its receipt, the most requested first.
public enum ReceiptFacts {
  /// - Parameter now: of its day, times have no date.
  public static func all(_ detail: ReceiptDetail, now: Timestamp) -> [ReceiptFact] {
    let record = detail.record
    let purchase = record.purchase
    let receipt = record.receipt
    let source = purchase.userSourceText.map { " (\($0))" } ?? ""
    var facts = [
      ReceiptFact(
        "state",
        receipt.map { $0.state.rawValue + ($0.reason.map { " (\($0.text))" } ?? "") }
          ?? "no receipt: \(PaymentText.state(of: purchase))"
      ),
      ReceiptFact("app", record.app.text),
      ReceiptFact(
        "user", purchase.userID.map { "\($0)\(source)" } ?? "not known",
        purchase.userID.map(NamedID.user)),
      ReceiptFact("processor", purchase.key.processor.text),
      ReceiptFact("purchase", "\(purchase.key.type) \(purchase.key.id)", .object(purchase.key.id)),
    ]
    if let session = purchase.sessionID, ObjectID(session) != purchase.key.id {
      facts.append(ReceiptFact("checkout", session.text, .session(session)))
    }
    if let customer = purchase.customerID {
      facts.append(ReceiptFact("customer", customer.text, .customer(customer)))
    }
    if let amount = PaymentText.amount(of: purchase) { facts.append(ReceiptFact("amount", amount)) }
    for capture in detail.captures {
      facts.append(ReceiptFact("capture", PaymentText.capture(capture, now: now)))
    }
    if let lookup = detail.lookup {
      facts.append(ReceiptFact("lookup", PaymentText.lookup(lookup, now: now)))
    }
    if purchase.isReversed { facts.append(ReceiptFact("reversed", reversed(receipt))) }
    let priceID = receipt?.priceID ?? purchase.prices.first
    facts.append(ReceiptFact("price", price(record, receipt), priceID.map(NamedID.price)))
    facts.append(ReceiptFact("context", context(purchase), purchase.contextID.map(NamedID.context)))
    guard let receipt else { return facts }
    if let corrected = receipt.corrects {
      facts.append(ReceiptFact("corrects", corrected.text, .receipt(corrected)))
    }
    if let correction = receipt.correctedBy {
      facts.append(ReceiptFact("corrected", "by \(correction), which counts", .receipt(correction)))
    }
    if let twin = detail.twin, let other = twin.receipt { facts.append(alsoTo(other, receipt)) }
    if receipt.contextDisputed { facts.append(ReceiptFact("disputed", disputed)) }
    if let importID = receipt.importID {
      facts.append(ReceiptFact("import id", importID, .importID(importID)))
    }
    var last = receipt.lastStatus.map { ", the last answer was \($0)" } ?? ""
    if let cause = receipt.lastCause, cause.text != receipt.lastStatus.map({ "http_\($0)" }) {
      last += ", the last attempt failed with \(cause.text)"
    }
    facts.append(ReceiptFact("attempts", "\(attempts(detail, receipt))\(last)"))
    if let note = receipt.note { facts.append(ReceiptFact("note", note)) }
    return facts
  }

  /// The other receipt of a purchase with two destinations.
  private static func alsoTo(_ other: Receipt, _ receipt: Receipt) -> ReceiptFact {
    let place = other.copyOf?.destination ?? other.destination
    let state = other.state.rawValue + (other.reason.map { " (\($0.text))" } ?? "")
    return ReceiptFact(
      "also to", "\(place?.text ?? "the first destination"): \(other.id) \(state)", .receipt(other.id))
  }

  /// The meaning of a disputed context.
  public static let disputed =
    "the context was guessed and sent; another purchase names it and was sent with it, too"

  private static func reversed(_ receipt: Receipt?) -> String {
    guard let receipt, receipt.isReversal else { return "the money went back to the customer" }
    let when =
      receipt.state == .delivered ? "the destination knows of it" : "the destination is to be notified"
    return "the money went back to the customer; \(when)"
  }

  private static func context(_ purchase: Purchase) -> String {
    guard let id = purchase.contextID else {
      guard purchase.context != nil else { return "none" }
      return purchase.isOfStore ? "came with the purchase" : "was in the event"
    }
    return id.text + (purchase.contextSourceText.map { " (\($0))" } ?? "")
  }

  private static func price(_ record: PurchaseRecord, _ receipt: Receipt?) -> String {
    guard let price = (receipt?.priceID ?? record.purchase.prices.first)?.text else { return "not known" }
    guard receipt?.priceMismatch == true, let named = record.purchase.context?.priceID else { return price }
    return "\(price) (the context names \(named))"
  }

  /// The number of attempts in the history. An attempt that was refused for the configuration, or while the
  /// destination was down, does not use up the retry budget and is not in `attempts`.
  private static func attempts(_ detail: ReceiptDetail, _ receipt: Receipt) -> String {
    let made = max(receipt.attempts, detail.attempts.last?.number ?? 0)
    let free = made - receipt.attempts
    guard free > 0 else { return CountText.grouped(made) }
    let which = free == made ? (made == 1 ? "it does" : "they do") : "\(CountText.grouped(free)) of them do"
    return "\(CountText.grouped(made)) (\(which) not count: the deliveries were stopped)"
  }
}
