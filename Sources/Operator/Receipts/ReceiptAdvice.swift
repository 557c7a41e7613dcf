// What a receipt's state means and what the operator can do about it. Pure.

internal import Domain
internal import Presentation
internal import Store
internal import Terminal

struct ReceiptAdvice {
  let lines: [String]

  /// - Parameters:
  ///   - breaker: that of the receipt's destination.
  ///   - destination: how to correct the destination's configuration; nil if it has no destination.
  ///   - isConfigured: whether the receipt's app is configured.
  init(
    _ record: PurchaseRecord, _ receipt: Receipt, breaker: Breaker?, destination: DestinationAdvice?,
    isConfigured: Bool, _ session: Session
  ) {
    let id = DisplayText.clean(receipt.id)
    let verb = "receiptctl receipts"
    if !isConfigured, receipt.state != .delivered {
      lines = [
        "The app \(DisplayText.clean(record.app)) is not configured: nothing is decided or delivered for it.",
        "Configure the app again, then reload receiptd.",
      ]
      return
    }
    switch receipt.state {
    case .delivered:
      lines = [
        "The destination has accepted it; there is nothing to do. It processes receipts later: if a "
          + "purchase does not show up there, ask its support about the import id."
      ]
    case .pending where destination == nil:
      let app = DisplayText.clean(record.app)
      lines = [UnconfiguredProcessor.advice(record.purchase.key.processor, app: app)]
    case .pending:
      lines =
        BreakerText(
          breaker, app: DisplayText.clean(record.app), now: session.now, advice: destination
        ).map {
          ["Deliveries of this app \($0.sentence)", $0.advice]
        }
        ?? ["receiptd sends it when it is due. To send it now: \(verb) replay \(id)"]
    case .waiting, .failed, .cancelled:
      let meaning = receipt.reason?.meaning ?? "it stopped"
      lines = ["\(meaning.capitalizedFirst).", Self.remedy(record, receipt, id: id, verb: verb, session)]
    }
  }

  private static func remedy(
    _ record: PurchaseRecord, _ receipt: Receipt, id: String, verb: String, _ session: Session
  ) -> String {
    let wait = receipt.waitUntil.map { ", or is decided without it (\(session.relative($0)))" } ?? ""
    switch (receipt.state, receipt.reason) {
    case (_, .user?): return "Supply the user: \(verb) complete \(id) --user USER"
    case (_, .price?): return "Supply the price: \(verb) complete \(id) --price PRICE"
    case (.waiting, .context?):
      return "It continues when the context arrives\(wait). To send it now without the context: "
        + "\(verb) replay \(id)"
    case (.waiting, _): return "It continues automatically once that arrives\(wait)."
    case (.cancelled, .erased?): return "Its data was erased, so it cannot be sent."
    case (.cancelled, _) where record.purchase.userID == nil:
      return "To deliver it after all: \(verb) complete \(id) --user USER"
    case (.cancelled, _): return "To deliver it after all: \(verb) replay \(id)"
    default: return "After fixing the cause: \(verb) replay \(id)"
    }
  }
}
