// Amounts of money in Swedbank Pay's objects. Pure; any thread.

internal import Domain

/// An amount is an integer in the smallest unit of ISO 4217
/// (https://developer.swedbankpay.com/checkout-v3/technical-reference/amount).
enum SwedbankMoney {
  /// - Returns: nil without an amount, or for a currency that is not three capital letters.
  static func amount(_ amount: Int64?, _ currency: String) -> Money? {
    guard let amount, let currency = Currency(currency) else { return nil }
    return Money(minorUnits: amount, currency)
  }
}
