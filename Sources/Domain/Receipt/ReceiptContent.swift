// A receipt's content, before and after a destination encodes it. Pure; any thread.

/// What a destination receives about a purchase; fixed when the receipt becomes ready.
public struct ReceiptContent: Sendable, Equatable {
  public var userID: UserID
  public var key: PurchaseKey
  public var priceID: PriceID
  /// `ply_context`, if there is one.
  public var context: String?

  public init(userID: UserID, key: PurchaseKey, priceID: PriceID, context: String?) {
    self.userID = userID
    self.key = key
    self.priceID = priceID
    self.context = context
  }
}

/// A receipt's content in the destination's format.
public struct ReceiptPayload: Sendable, Equatable {
  public var priceID: PriceID
  /// Whether the context names a different price from the processor's.
  public var priceMismatch: Bool
  /// The request body, sent byte for byte at each attempt.
  public var body: [UInt8]

  public init(priceID: PriceID, priceMismatch: Bool, body: [UInt8]) {
    self.priceID = priceID
    self.priceMismatch = priceMismatch
    self.body = body
  }
}
