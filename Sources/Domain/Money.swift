// Exact amounts of money. No floats: 0.29 as a Double, times 100, is 28.999999999999996. Pure; any thread.

/// A currency by its alphabetic code (ISO 4217).
public struct Currency: Sendable, Hashable, CustomStringConvertible {
  /// Three upper-case letters: `USD`.
  public let code: String
  /// The digits after the decimal separator of an amount, which ISO 4217 calls the minor unit: 2 for USD.
  public let decimals: Int

  /// - Returns: nil unless the code is three upper-case letters of ASCII. The currency need not exist.
  public init?(_ code: String) {
    let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
    guard code.utf8.count == 3, code.utf8.allSatisfy(letters.contains) else { return nil }
    self.init(code: code)
  }

  private init(code: String) {
    self.code = code
    decimals = Self.unusualDecimals[code] ?? 2
  }

  public static let usDollar = Currency(code: "USD")

  public var description: String { code }

  /// The currencies whose minor unit is not a hundredth
  /// (https://www.six-group.com/en/products-services/financial-information/data-standards.html, list one).
  private static let unusualDecimals: [String: Int] = [
    "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0,
    "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0, "BHD": 3, "IQD": 3, "JOD": 3,
    "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3, "CLF": 4, "UYW": 4,
  ]
}

/// An amount in a currency, exact to its minor unit.
public struct Money: Sendable, Hashable, CustomStringConvertible {
  /// 5999 for 59.99 USD.
  public let minorUnits: Int64
  public let currency: Currency

  public init(minorUnits: Int64, _ currency: Currency) {
    self.minorUnits = minorUnits
    self.currency = currency
  }

  /// Parses an amount in major units that has exactly the currency's decimals: `59.99` in USD, `500` in JPY.
  /// Fewer decimals are refused too, because a caller who writes `5999` for 59.99 USD must not be charged a
  /// hundred times as much.
  /// - Returns: nil for a sign, an exponent, a blank, a separator of thousands, an unnecessary leading zero,
  ///   and an amount beyond `Int64`.
  public init?(_ text: String, _ currency: Currency) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard let whole = parts.first, !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0"),
      parts.count == (currency.decimals > 0 ? 2 : 1),
      parts.count == 1 || parts[1].count == currency.decimals
    else { return nil }
    var units: Int64 = 0
    for byte in parts.joined() {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      let (tens, isTooLong) = units.multipliedReportingOverflow(by: 10)
      let (sum, isTooLarge) = tens.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      if isTooLong || isTooLarge { return nil }
      units = sum
    }
    self.init(minorUnits: units, currency)
  }

  /// The amount in major units with the currency's decimals: `59.99`.
  public var text: String {
    let digits = String(minorUnits.magnitude)
    let sign = minorUnits < 0 ? "-" : ""
    guard currency.decimals > 0 else { return sign + digits }
    let padded = String(repeating: "0", count: max(0, currency.decimals + 1 - digits.utf8.count)) + digits
    return sign + padded.dropLast(currency.decimals) + "." + padded.suffix(currency.decimals)
  }

  public var description: String { "\(text) \(currency)" }

  /// The sum; nil if the currencies differ or the sum is beyond `Int64`.
  public func adding(_ other: Money) -> Money? {
    guard other.currency == currency else { return nil }
    let (sum, isTooLarge) = minorUnits.addingReportingOverflow(other.minorUnits)
    return isTooLarge ? nil : Money(minorUnits: sum, currency)
  }
}

/// The least and the largest amount that something allows.
public struct MoneyLimits: Sendable, Hashable {
  /// Nil for no minimum.
  public var minimum: Money?
  /// Nil for no maximum.
  public var maximum: Money?

  public init(minimum: Money? = nil, maximum: Money? = nil) {
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Whether an amount is inside both limits, which are included. A limit in another currency is ignored,
  /// because it cannot be compared.
  public func contains(_ amount: Money) -> Bool {
    if let minimum, minimum.currency == amount.currency, amount.minorUnits < minimum.minorUnits {
      return false
    }
    if let maximum, maximum.currency == amount.currency, amount.minorUnits > maximum.minorUnits {
      return false
    }
    return true
  }
}
