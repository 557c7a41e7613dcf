// The merchant's limits at Afterpay. Pure; thread-safe.

internal import Foundation

/// The amounts that Afterpay accepts from the merchant, and the merchant's region.
public struct AfterpayConfiguration: Sendable, Hashable, Decodable {
  /// The smallest amount; nil when there is none.
  public let minimumAmount: PaymentAmount?
  /// The largest amount.
  public let maximumAmount: PaymentAmount
  /// The region.
  public let locale: Region

  /// The region in which the merchant sells.
  public struct Region: Sendable, Hashable, Decodable {
    /// Language and country: `en_US`.
    public let identifier: String
    /// The language: `en`.
    public let language: String
    /// The country: `US`.
    public let country: String
  }

  /// Whether Afterpay accepts an amount. Do not offer Afterpay for a price that it refuses.
  /// - Returns: false also for another currency, and for an amount that is not a number.
  public func permits(_ price: PaymentAmount) -> Bool {
    guard let cents = price.cents, let most = maximumAmount.cents, price.currency == maximumAmount.currency
    else { return false }
    guard let minimumAmount else { return cents <= most }
    guard let least = minimumAmount.cents, minimumAmount.currency == price.currency else { return false }
    return least <= cents && cents <= most
  }
}
