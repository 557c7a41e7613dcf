// What the join and retention need to know of a payment processor. Pure; any thread.

internal import Formats

/// The properties of one app's payment processor. The processor's implementation supplies them.
public struct ProcessorRules: Sendable, Equatable {
  /// Whether the processor can be asked for missing data.
  public var isAsked: Bool
  /// The prefixes of the processor's own price ids; empty if they cannot be distinguished from a merchant's
  /// names.
  public var pricePrefixes: [String]
  /// The names of the merchant's own prices, if only these are comparable; nil if every price may be.
  public var ownPrices: Set<PriceID>?
  /// How long the processor may send the events of a purchase again.
  public var repeatPeriod: Duration
  /// Whether every purchase has a price id, so that a receipt waits for it.
  public var namesPrices: Bool
  /// How long after its start a payment that the processor did not report is fetched; nil for never.
  public var followsUpAfter: Duration?
  /// Whether the relay captures a payment that is only authorised, without an order of an app.
  public var capturesItself: Bool
  /// The merchant's account, for a processor that keeps cards of payers; nil for any other.
  public var account: AccountID?
  /// What a checkout's reference that is no context's id may be.
  public var reference: ReferencePolicy
  /// Whether the configuration names what the app sells, so that another sale of the merchant is foreign.
  public var selects: Bool

  public init(
    isAsked: Bool = false, pricePrefixes: [String] = [], ownPrices: Set<PriceID>? = nil,
    repeatPeriod: Duration = Self.repeatPeriodDefault, namesPrices: Bool = true,
    followsUpAfter: Duration? = nil, capturesItself: Bool = false, account: AccountID? = nil,
    reference: ReferencePolicy = .knownUser, selects: Bool = false
  ) {
    self.isAsked = isAsked
    self.pricePrefixes = pricePrefixes
    self.ownPrices = ownPrices
    self.repeatPeriod = repeatPeriod
    self.namesPrices = namesPrices
    self.followsUpAfter = followsUpAfter
    self.capturesItself = capturesItself
    self.account = account
    self.reference = reference
    self.selects = selects
  }

  /// For a processor that is not configured any more.
  public static let repeatPeriodDefault: Duration = .days(30)

  /// Whether a price may be one of the processor's own, not just the merchant's name for it.
  func mayOwn(_ price: PriceID) -> Bool {
    if let ownPrices { return ownPrices.contains(price) }
    return pricePrefixes.isEmpty || pricePrefixes.contains { price.text.hasPrefix($0) }
  }
}
