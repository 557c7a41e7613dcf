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

extension ProcessorRules {
  /// What the rules know of Stripe.
  public static func stripe(isAsked: Bool = false) -> ProcessorRules {
    ProcessorRules(isAsked: isAsked, pricePrefixes: ["price_", "plan_"])
  }
}

extension [ProcessorName: ProcessorRules] {
  public static let stripe: Self = ["stripe": .stripe()]
  public static let askedStripe: Self = ["stripe": .stripe(isAsked: true)]
}
