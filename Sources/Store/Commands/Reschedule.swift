// Changes when receipts are due, without an attempt.

public import Domain

/// Makes pending receipts due later, without counting an attempt. It decides nothing from them, so it works
/// for a receipt that cannot be read.
public struct Reschedule: StoreCommand {
  public var rows: [PurchaseRowID]
  public var until: Timestamp

  public init(_ rows: [PurchaseRowID], until: Timestamp) {
    self.rows = rows
    self.until = until
  }

  public var reads: [ReadKey] { rows.map { .purchase(row: $0) } }

  public func apply(to store: StoreSession) throws(StoreFault) {
    for row in rows { try store.purchases.reschedule(row, until: until) }
  }
}
