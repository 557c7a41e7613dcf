// Keys of purchases as Stripe's processor makes them, for tests of what knows no processor.

public import Domain

extension PurchaseKey.ObjectType {
  public static let subscription = Self(rawValue: "subscription")
  public static let checkoutSession = Self(rawValue: "checkout_session")
}

extension PurchaseKey {
  /// - Parameter type: one of Stripe's.
  public init(type: ObjectType, id: String) { self.init(processor: "stripe", type: type, id: id) }
}
