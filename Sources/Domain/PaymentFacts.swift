// What is known of a payment beyond who bought what: for the processors whose payments start at the relay.
// Pure; any thread.

/// The facts of a payment that started at the relay. Other purchases have none.
public struct PaymentFacts: Sendable, Hashable {
  /// The amount in major units with the currency's decimals: `59.99`. Never a float.
  public var amount: String?
  /// ISO 4217: `USD`.
  public var currency: String?
  /// Whether the money is captured; false if it is only authorised. Nil if unknown.
  public var isCaptured: Bool?
  /// The merchant's own reference of the payment.
  public var reference: String?
  /// What the processor's own code keeps of the start, in its own form. No other code reads it.
  public var details: String?

  public init(
    amount: String? = nil, currency: String? = nil, isCaptured: Bool? = nil, reference: String? = nil,
    details: String? = nil
  ) {
    self.amount = amount
    self.currency = currency
    self.isCaptured = isCaptured
    self.reference = reference
    self.details = details
  }

  /// These facts with missing values from others. A payment that is captured stays captured (R2).
  public func absorbing(_ other: PaymentFacts) -> PaymentFacts {
    PaymentFacts(
      amount: amount ?? other.amount, currency: currency ?? other.currency,
      isCaptured: isCaptured == true || other.isCaptured == true ? true : isCaptured ?? other.isCaptured,
      reference: reference ?? other.reference, details: details ?? other.details)
  }
}
