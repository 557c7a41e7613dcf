// Changes when receipts are due, without an attempt.

public import Domain

/// Makes pending receipts due later, without counting an attempt. It decides nothing from them, so it works
/// for a receipt that cannot be read.
public struct Reschedule: StoreCommand {
  public var receipts: [ReceiptID]
  public var until: Timestamp

  public init(_ receipts: [ReceiptID], until: Timestamp) {
    self.receipts = receipts
    self.until = until
  }

  public var reads: [ReadKey] { receipts.flatMap(ReadKey.receipt) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    for id in receipts { try store.purchases.reschedule(id, until: until) }
  }
}
