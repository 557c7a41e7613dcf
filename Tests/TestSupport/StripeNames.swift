// Keys and rules of Stripe's processor, for tests of targets that know no processor.

public import Domain

extension PurchaseKey.ObjectType {
  public static let subscription = Self("subscription")
  public static let checkoutSession = Self("checkout_session")
}

extension PurchaseKey {
  /// - Parameter type: one of Stripe's.
  public init(type: ObjectType, id: ObjectID) { self.init(processor: "stripe", type: type, id: id) }
}

extension ProcessorRules {
  /// The rules of Stripe's processor.
  public static func stripe(isAsked: Bool = false) -> ProcessorRules {
    ProcessorRules(isAsked: isAsked, pricePrefixes: ["price_", "plan_"])
  }
}

extension [ProcessorName: ProcessorRules] {
  public static let stripe: Self = ["stripe": .stripe()]
  public static let askedStripe: Self = ["stripe": .stripe(isAsked: true)]
}
