// Plans a fetch of a purchase because an operator asks for it.

internal import Domain

/// Plans an immediate fetch of a purchase's state from its processor, as if an event had required it, also
/// when its follow-up has ended.
public struct FetchPurchase: StoreCommand {
  public var purchase: PurchaseReference

  public init(_ purchase: PurchaseReference) { self.purchase = purchase }

  /// Whether the fetch is planned, or why not.
  public enum Outcome: Sendable, Equatable {
    case planned
    case notFound
    /// The configuration has no key for the processor's API, or not the processor.
    case notAsked
    /// Its user was erased.
    case erased
  }

  public var reads: [ReadKey] { [.purchase(row: purchase.row)] }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard let record = try store.purchases.find(purchase) else { return .notFound }
    if record.purchase.isErased { return .erased }
    guard store.rules(of: record.app)?.processor(of: record.purchase).isAsked == true else {
      return .notAsked
    }
    try store.lookups.fetch(row: record.rowID, of: record.place, at: store.now)
    store.changes.note(lookupsDueAt: store.now, record.place)
    return .planned
  }
}
