// Reports a reversed payment to the destination that accepted the purchase. The writer's thread.

internal import Domain

extension StoreSession {
  /// Makes a delivered receipt due again, with the report of its reversal, if its payment was reversed. Until
  /// it is delivered it stays as it is, so that no destination learns of a reversal before the purchase.
  func reverse(_ record: inout PurchaseRecord) {
    guard record.purchase.isReversed, let receipt = record.receipt, receipt.state == .delivered,
      !receipt.isReversal, let destination = receipt.destination, let rules = rules(of: record.app),
      case .success(let ready) = Join.content(of: record.purchase, rules.processor(of: record.purchase)),
      let body = rules.composeReversal(ready.content, destination)
    else { return }
    let payload = ReceiptPayload(
      destination: destination, priceID: receipt.priceID, priceMismatch: receipt.priceMismatch, body: body)
    record.apply(.reversed(payload), at: moment(of: record, sentTo: destination))
  }
}
