// A receipt's content, before and after a destination encodes it. Pure; any thread.

/// What a destination receives about a purchase; fixed when the receipt becomes ready.
public struct ReceiptContent: Sendable, Equatable {
  public var userID: UserID
  public var key: PurchaseKey
  /// Not nil if the purchase's processor names prices (`ProcessorRules.namesPrices`).
  public var priceID: PriceID?
  /// `ply_context`, if there is one.
  public var context: String?
  /// The context's id; nil without a context, and for one inside an event.
  public var contextID: ContextID?
  /// Nil for a payment that did not start at the relay.
  public var payment: PaymentFacts?
  /// When the purchase was first known to be bought; for one that an operator sends unpaid, when it was first
  /// reported.
  public var boughtAt: Timestamp?

  public init(
    userID: UserID, key: PurchaseKey, priceID: PriceID?, context: String?, contextID: ContextID? = nil,
    payment: PaymentFacts? = nil, boughtAt: Timestamp? = nil
  ) {
    self.userID = userID
    self.key = key
    self.priceID = priceID
    self.context = context
    self.contextID = contextID
    self.payment = payment
    self.boughtAt = boughtAt
  }
}

/// A receipt's content in a destination's format.
public struct ReceiptPayload: Sendable, Equatable {
  /// The destination that the body is for. No other gets it.
  public var destination: DestinationName
  public var priceID: PriceID?
  /// Whether the context names a different price from the processor's.
  public var priceMismatch: Bool
  /// The request body, sent byte for byte at each attempt.
  public var body: [UInt8]

  public init(destination: DestinationName, priceID: PriceID?, priceMismatch: Bool, body: [UInt8]) {
    self.destination = destination
    self.priceID = priceID
    self.priceMismatch = priceMismatch
    self.body = body
  }
}
