// Restores a receipt's sent content if its purchase lost the context while the attempt was under way. The
// store keeps what the destination received: every view shows the sent content, and a retry sends the same
// bytes. The writer's thread.

internal import Domain

extension StoreSession {
  /// Restores the content that an attempt has sent, if the receipt was made again meanwhile.
  func keepSent(
    _ bytes: [UInt8], to destination: DestinationName, in record: inout PurchaseRecord
  ) throws(StoreFault) {
    guard let receipt = record.receipt, receipt.body != bytes, receipt.state != .delivered,
      !record.purchase.isErased
    else { return }
    var sent = SentReceipt(to: destination, body: bytes, content: nil)
    if let content = try content(of: bytes, to: destination, record) {
      if let old = record.purchase.contextID, old != content.purchase.contextID {
        changes.contextIDs.insert(old)
        // This context was guessed to replace the sent one, and belongs to another purchase.
        if record.purchase.contextSource == .guess { try free(old, by: record) }
      }
      record.purchase = content.purchase
      sent.content = .init(
        priceID: content.priceID, priceMismatch: content.priceMismatch, contextDisputed: content.isDisputed)
    }
    record.apply(.foundSent(sent), at: moment(of: record, sentTo: destination))
  }

  private typealias SentContent = (
    purchase: Purchase, priceID: PriceID?, priceMismatch: Bool, isDisputed: Bool
  )

  /// Parses a receipt's bytes: the purchase without a context, or with one of its user's.
  private func content(
    of bytes: [UInt8], to destination: DestinationName, _ record: PurchaseRecord
  ) throws(StoreFault) -> SentContent? {
    guard let rules = rules(of: record.app), let user = record.purchase.userID else { return nil }
    var bare = record.purchase
    bare.dropContext()
    func matches(_ purchase: Purchase, _ isDisputed: Bool) -> SentContent? {
      guard case .success(let ready) = Join.content(of: purchase, rules.processor(of: purchase)),
        rules.compose(ready.content, destination) == bytes
      else { return nil }
      return (purchase, ready.content.priceID, ready.priceMismatch, isDisputed)
    }
    if let found = matches(bare, false) { return found }
    for context in try contexts.newest(app: record.app, user: user) {
      var guessed = bare
      guessed.contextID = context.id
      guessed.context = context.blob
      guessed.contextSource = .guess
      guard let found = matches(guessed, !context.isFree(for: record.rowID)) else { continue }
      if context.isFree(for: record.rowID) {
        try contexts.claim(context, for: record.rowID)
      }
      changes.contextIDs.insert(context.id)
      return found
    }
    return nil
  }
}
