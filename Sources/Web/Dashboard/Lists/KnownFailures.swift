// The failed receipts that somebody takes care of: pages show them in grey, and all others in red.

internal import Domain
internal import Store

/// The groups of failed receipts that were acknowledged and have not grown since.
struct KnownFailures {
  private struct Key: Hashable {
    let app: AppSlug
    let processor: ProcessorName
    let reason: String?
    let cause: String?
  }

  private let keys: Set<Key>

  init(_ reader: StoreReader) throws(StoreFault) {
    keys = Set(
      try reader.failureGroups().filter { $0.attention == .acknowledged }.map { group in
        Key(app: group.app, processor: group.processor, reason: group.reason, cause: group.cause)
      })
  }

  func contains(_ record: PurchaseRecord) -> Bool {
    guard let receipt = record.receipt, receipt.state == .failed else { return false }
    return keys.contains(
      Key(
        app: record.app, processor: record.purchase.key.processor, reason: receipt.reason?.text,
        cause: receipt.lastCause?.text))
  }
}
