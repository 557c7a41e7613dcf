// Decides to whom a customer of a processor belongs.

public import Domain

/// Makes a user the owner of a processor's customer, unless it belongs to somebody: of two users who name it
/// at the same time, the writer's transaction decides.
public struct AcquirePayer: StoreCommand {
  public var place: AppProcessor
  public var customer: CustomerID
  public var user: UserID

  public init(_ customer: CustomerID, for user: UserID, at place: AppProcessor) {
    self.customer = customer
    self.user = user
    self.place = place
  }

  public var reads: [ReadKey] { [.payer(app: place.app, processor: place.processor, id: customer)] }

  /// - Returns: whether the customer belongs to the user now; false if it is another user's.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    try store.payers.acquire(customer, for: user, at: place, store.erasures.currentHash)
  }
}
