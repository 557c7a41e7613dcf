// Reports a reversed payment to the destination that accepted the purchase. The writer's thread.

internal import Domain

extension StoreSession {
  /// Makes a delivered receipt due again, with the report of its reversal, if its payment was reversed. Until
  /// it is delivered it stays as it is, so that no destination learns of a reversal before the purchase. A
  /// reversal that waits for its destination is due when the app has the destination again.
  func reverse(_ record: inout PurchaseRecord) {
    guard record.purchase.isReversed, let receipt = record.receipt, let destination = receipt.destination,
      let rules = rules(of: record.app), rules.destinations.contains(destination),
      let body = reversal(of: record, receipt, to: destination, rules)
    else { return }
    let payload = ReceiptPayload(
      destination: destination, priceID: receipt.priceID, priceMismatch: receipt.priceMismatch, body: body)
    record.apply(.reversed(payload), at: moment(of: record, sentTo: destination))
  }

  /// The bytes of the reversal that is to be sent now; nil if there is none.
  private func reversal(
    of record: PurchaseRecord, _ receipt: Receipt, to destination: DestinationName, _ rules: AppRules
  ) -> [UInt8]? {
    switch (receipt.state, receipt.isReversal) {
    case (.waiting, true): return receipt.body
    case (.delivered, false):
      let processor = rules.processor(of: record.purchase)
      guard case .success(let ready) = Join.content(of: record.purchase, processor) else { return nil }
      return rules.composeReversal(ready.content, destination)
    default: return nil
    }
  }
}
