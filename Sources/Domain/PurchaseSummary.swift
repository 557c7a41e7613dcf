// What a customer bought, as the processor's events name it: for the page that they return to. A value; any
// thread.

/// A summary of a purchase. What the events do not name is nil.
public struct PurchaseSummary: Sendable, Equatable {
  /// The merchant's name of it. Untrusted.
  public var item: String?
  /// What the customer paid in this checkout, in the currency that they saw.
  public var money: Money?
  /// When the checkout was completed.
  public var at: Timestamp?

  public init(item: String? = nil, money: Money? = nil, at: Timestamp? = nil) {
    self.item = item
    self.money = money
    self.at = at
  }

  /// Adds what another event of the same purchase names; what is known stays.
  public func adding(_ other: PurchaseSummary) -> PurchaseSummary {
    PurchaseSummary(item: item ?? other.item, money: money ?? other.money, at: at ?? other.at)
  }
}
