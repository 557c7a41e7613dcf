// Amounts of money as decimal texts. Pure; any thread.

/// An amount as Swedbank Pay writes it: an integer in the currency's smallest unit
/// (https://developer.swedbankpay.com/checkout-v3/technical-reference/amount).
enum CurrencyAmount {
  /// The amount in major units, with the currency's decimals: `10.00` for 1000 öre.
  /// - Parameter currency: the code of ISO 4217; nil for a text of another form.
  static func majorUnits(_ amount: Int64, _ currency: String) -> String? {
    majorUnits(amount, currency, decimals: decimals(of: currency))
  }

  /// The same for a processor whose smallest units are not those of ISO 4217.
  static func majorUnits(_ amount: Int64, _ currency: String, decimals: Int) -> String? {
    guard isCode(currency) else { return nil }
    let digits = String(amount.magnitude)
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.utf8.count)) + digits
    let sign = amount < 0 ? "-" : ""
    if decimals == 0 { return sign + padded }
    return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
  }

  /// Three letters, as the codes of ISO 4217.
  static func isCode(_ text: String) -> Bool {
    text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }

  /// The decimals of a currency (ISO 4217, list one); 2 for a code that is not in these lists.
  private static func decimals(of currency: String) -> Int {
    if none.contains(currency) { return 0 }
    if three.contains(currency) { return 3 }
    return four.contains(currency) ? 4 : 2
  }

  private static let none: Set = [
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
    "XOF", "XPF",
  ]
  private static let three: Set = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
  private static let four: Set = ["CLF", "UYW"]
}
