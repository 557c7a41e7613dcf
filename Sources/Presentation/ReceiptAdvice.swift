// What a receipt's state means and what the operator can do about it, for receiptctl and the dashboard. Pure;
// called from any thread. Nothing is sanitized or escaped.

public import Domain
public import Store

/// What a receipt's state means, and a remedy that is not refused.
public struct ReceiptAdvice: Sendable, Equatable {
  /// How its reader replays a receipt.
  public enum Reader: Sendable {
    case terminal
    /// The dashboard's page has this button.
    case page(button: String)
  }

  public let lines: [String]

  /// - Parameters:
  ///   - breaker: that of the receipt's destination.
  ///   - destination: how to correct the destination's configuration; nil if it has no destination.
  ///   - processor: the rules of its processor; nil if the receipt's app is not configured.
  public init(
    _ record: PurchaseRecord, _ receipt: Receipt, breaker: Breaker?, destination: DestinationAdvice?,
    processor: ProcessorRules?, for reader: Reader, now: Timestamp
  ) {
    let app = record.app.text
    guard let processor = processor ?? (receipt.state == .delivered ? ProcessorRules() : nil) else {
      lines = [
        "The app \(app) is not configured: nothing is decided or delivered for it.",
        "Configure the app again, then reload receiptd.",
      ]
      return
    }
    switch receipt.state {
    case .delivered:
      lines = [
        "The destination has accepted it; there is nothing to do."
          + (destination.map { " \($0.missing)" } ?? "")
      ]
    case .pending where destination == nil:
      lines = [Self.noDestination(record, receipt)]
    case .pending:
      lines =
        BreakerText(breaker, app: app, now: now, advice: destination).map {
          ["Deliveries of this app\(destination.map { " to \($0.name)" } ?? "") \($0.sentence)", $0.advice]
        }
        ?? ["receiptd sends it when it is due. \(Self.replay("To send it now", receipt, reader))"]
    case .waiting:
      let wait = receipt.waitUntil.map { ", or is decided without it (\($0.relative(to: now)))" } ?? ""
      lines = [
        Self.meaning(receipt),
        receipt.reason == .destination
          ? Self.noDestination(record, receipt) : Self.remedy(waiting: receipt, wait, reader),
      ]
    case .failed where receipt.isReversal && destination == nil,
      .cancelled where receipt.isReversal && destination == nil:
      lines = [Self.meaning(receipt), Self.noDestination(record, receipt)]
    case .failed, .cancelled:
      lines = [Self.meaning(receipt), Self.remedy(ended: record, receipt, processor, reader)]
    }
  }

  /// A receipt that has no configured destination: it waits for one, or its own was removed a moment ago.
  private static func noDestination(_ record: PurchaseRecord, _ receipt: Receipt) -> String {
    let processor = record.purchase.key.processor
    guard let removed = receipt.destination else {
      return "To send it, configure the one that apps.\(record.app).\(processor).deliver_to names, then run: "
        + "receiptctl reload"
    }
    if receipt.isReversal {
      return "\(removed) accepted the purchase, so only \(removed) is notified that the money went back. To "
        + "send that, configure apps.\(record.app).\(removed) again, then run: receiptctl reload"
    }
    return "apps.\(record.app) has no section \(removed) any more. With the next reload, receiptd sends the "
      + "receipt to the present destination of \(processor), or lets it wait for one: receiptctl reload"
  }

  private static func meaning(_ receipt: Receipt) -> String {
    if receipt.state == .failed, receipt.reason == .payment { return "The payment never came." }
    return "\((receipt.reason?.meaning ?? "it stopped").capitalizedFirst)."
  }

  private static func remedy(waiting receipt: Receipt, _ wait: String, _ reader: Reader) -> String {
    switch receipt.reason {
    case .user?, .price?: supply(receipt.reason, receipt)
    case .context?:
      "It continues when the context arrives\(wait). "
        + replay("To send it now without the context", receipt, reader)
    default: "It continues automatically once that arrives\(wait)."
    }
  }

  /// A failed or cancelled receipt may lack more than its reason names.
  private static func remedy(
    ended record: PurchaseRecord, _ receipt: Receipt, _ processor: ProcessorRules, _ reader: Reader
  ) -> String {
    let later = receipt.isOpenToJoin ? " Once it has one, the receipt continues automatically." : ""
    switch record.purchase.obstacle(toReplaying: receipt, processor) {
    case .erased?: return "Its user's data was erased, so it cannot be sent."
    case .lacks(.subscription)?:
      return "It is about a subscription that has no id yet; it comes with the payment.\(later)"
    case .lacks(let reason)?:
      return receipt.reason == .payment
        ? "If it comes, the receipt continues automatically." : supply(reason, receipt)
    case nil: break
    }
    switch (receipt.state, receipt.reason) {
    case (_, .payment?):
      return "If it comes, the receipt continues automatically. "
        + replay("To send it although it is unpaid", receipt, reader)
    case (.cancelled, .paymentFailed?), (.cancelled, .sessionExpired?):
      return replay("To send it although it is unpaid", receipt, reader)
    case (.cancelled, _): return replay("To deliver it after all", receipt, reader)
    default: return replay("After fixing the cause", receipt, reader)
    }
  }

  private static func supply(_ reason: Reason?, _ receipt: Receipt) -> String {
    let command = "receiptctl receipts complete \(receipt.id)"
    return reason == .price
      ? "Supply the price: \(command) --price PRICE" : "Supply the user: \(command) --user USER"
  }

  private static func replay(_ purpose: String, _ receipt: Receipt, _ reader: Reader) -> String {
    switch reader {
    case .terminal: "\(purpose): receiptctl receipts replay \(receipt.id)"
    case .page(let button): "\(purpose), use \"\(button)\"."
    }
  }
}

/// Why a replay of a receipt is refused.
public enum ReplayObstacle: Sendable, Equatable {
  case erased
  case lacks(Reason)
}

extension Purchase {
  /// Why a replay of the purchase's receipt is refused, if its app is configured; nil if it is not. The store
  /// decides the same, inside the transaction of the replay.
  /// - Parameter processor: the rules of its processor.
  public func obstacle(toReplaying receipt: Receipt, _ processor: ProcessorRules) -> ReplayObstacle? {
    if isErased { return .erased }
    // Bytes that were made once are sent again as they are.
    guard receipt.body == nil else { return nil }
    if awaitsObject { return .lacks(.subscription) }
    guard case .failure(let lack) = Join.content(of: self, processor) else { return nil }
    return .lacks(lack.reason)
  }
}

extension Receipt {
  /// Whether it stopped because its payment has not come, failed or expired.
  public var isUnpaid: Bool {
    reason == .payment || reason == .paymentFailed || reason == .sessionExpired
  }
}
