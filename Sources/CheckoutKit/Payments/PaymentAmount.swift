// Amounts of money as text. They are never converted to a floating-point number: 19.99 times 100 is
// 1998.9999999999998, which is cut to 1998. Pure; thread-safe.

internal import Foundation

/// An amount in major units, as the relay and the payment processors send it: `59.99` and `USD`.
public struct PaymentAmount: Sendable, Hashable, Decodable {
  /// Decimal text: `59.99`.
  public let amount: String
  /// ISO 4217: `USD`.
  public let currency: String

  /// Creates an amount.
  public init(amount: String, currency: String) {
    self.amount = amount
    self.currency = currency
  }

  /// The exact amount in hundredths; nil when the text is not a decimal number with at most two decimals. It
  /// suits the currencies of Afterpay and Cash App, which all have two decimals.
  public var cents: UInt? { Self.cents(amount) }

  /// Reads `59.99` as 5999. Only ASCII digits with an optional point and one or two decimals are accepted: no
  /// sign, exponent, space, currency symbol or separator of thousands.
  static func cents(_ text: String) -> UInt? {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(LinkText.isDigit) })
    else { return nil }
    let decimals = parts.count > 1 ? Array(parts[1]) : []
    guard decimals.count <= 2 else { return nil }
    let digits = parts[0] + decimals + [UInt8](repeating: UInt8(ascii: "0"), count: 2 - decimals.count)
    var cents: UInt = 0
    for digit in digits {
      let (tens, isTooLarge) = cents.multipliedReportingOverflow(by: 10)
      let (sum, isOver) = tens.addingReportingOverflow(UInt(digit - UInt8(ascii: "0")))
      guard !isTooLarge, !isOver else { return nil }
      cents = sum
    }
    return cents
  }
}
