// What a customer bought, from the stored events of the purchase. One thread.

public import Domain

/// What a body of a processor's webhook says about what a customer bought.
public typealias SummaryReader = @Sendable (ProcessorName, _ body: [UInt8]) -> PurchaseSummary?

extension StoreReader {
  /// The events of a purchase that are read: a checkout has a few, and they are among the first.
  private static let summaryEventsMax = 20

  /// What the events of a receipt's purchase say about it; nil if the receipt is not one of the app, or none
  /// of its newest events says anything.
  public func summary(
    ofReceipt id: ReceiptID, app: AppSlug, read: SummaryReader
  ) throws(StoreFault) -> PurchaseSummary? {
    guard let row = id.purchaseRow else { return nil }
    var summary: PurchaseSummary?
    for event in try events(ofPurchase: row, limit: Self.summaryEventsMax).reversed()
    where event.app == app && event.receiptID == id {
      guard let body = try body(ofEvent: event.row), let found = read(event.processor, body) else { continue }
      summary = summary?.adding(found) ?? found
    }
    return summary
  }
}
