// Amounts and dates as readers of each language write them. Pure; called from any thread.

internal import Domain

/// How a language writes numbers and dates.
struct PageFormats {
  /// The order of a date's parts and what separates them. All are unambiguous for readers of the language.
  enum DateForm {
    /// `27 Nov 2026`
    case english
    /// `27.11.2026`, with this separator.
    case dayFirst(Character)
    /// `2026-11-27` (ISO 8601)
    case yearFirst
    /// The words after year, month and day.
    case words(String, String, String)
  }

  /// U+00A0, which keeps a number and its unit on one line.
  private static let blank = "\u{A0}"
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Between groups of three digits.
  var group: String
  /// Before the decimals.
  var point: String
  /// Whether the currency comes first.
  var isCurrencyFirst: Bool
  /// Whether a symbol that comes first has a blank after it.
  var isSymbolApart = false
  var date: DateForm
  /// Symbols that readers of the language take for this currency and no other.
  var symbols: [String: String] = [:]

  /// Symbols that belong to one currency.
  private static let commonSymbols = ["EUR": "€", "GBP": "£", "KRW": "₩", "ILS": "₪", "USD": "US$"]

  /// An amount with its currency.
  func text(_ money: Money) -> String {
    let parts = money.text.split(separator: ".", omittingEmptySubsequences: false)
    var digits = Array(parts.first ?? "")
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    groups.insert(String(digits), at: 0)
    let number = groups.joined(separator: group) + (parts.count > 1 ? point + parts[1] : "")
    let symbol = symbols[money.currency.code] ?? Self.commonSymbols[money.currency.code]
    let unit = symbol ?? money.currency.code
    if !isCurrencyFirst { return number + Self.blank + unit }
    return unit + (symbol == nil || isSymbolApart ? Self.blank : "") + number
  }

  /// A date.
  /// - Parameter date: year, month and day as RFC 3339 has them: `2026-11-27`.
  func text(date: String) -> String {
    let parts = date.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3, (1...12).contains(parts[1]) else { return date }
    switch self.date {
    case .english: return "\(parts[2])\(Self.blank)\(Self.months[parts[1] - 1])\(Self.blank)\(parts[0])"
    case .dayFirst(let mark): return "\(parts[2])\(mark)\(parts[1])\(mark)\(parts[0])"
    case .yearFirst: return date
    case .words(let year, let month, let day): return "\(parts[0])\(year)\(parts[1])\(month)\(parts[2])\(day)"
    }
  }
}

extension PageLanguage {
  /// The same for all countries of a language: readers in Mexico write `1,234.50`, and can read `1.234,50`.
  var formats: PageFormats {
    let blank = "\u{A0}"
    switch self {
    case .en:
      return PageFormats(
        group: ",", point: ".", isCurrencyFirst: true, date: .english, symbols: ["JPY": "¥"])
    case .de: return PageFormats(group: ".", point: ",", isCurrencyFirst: false, date: .dayFirst("."))
    case .es, .it, .pt:
      return PageFormats(group: ".", point: ",", isCurrencyFirst: false, date: .dayFirst("/"))
    case .fr: return PageFormats(group: blank, point: ",", isCurrencyFirst: false, date: .dayFirst("/"))
    case .nl:
      return PageFormats(
        group: ".", point: ",", isCurrencyFirst: true, isSymbolApart: true, date: .dayFirst("-"))
    case .sv:
      return PageFormats(
        group: blank, point: ",", isCurrencyFirst: false, date: .yearFirst, symbols: ["SEK": "kr"])
    case .nb:
      return PageFormats(
        group: blank, point: ",", isCurrencyFirst: false, date: .dayFirst("."), symbols: ["NOK": "kr"])
    case .da:
      return PageFormats(
        group: ".", point: ",", isCurrencyFirst: false, date: .dayFirst("."), symbols: ["DKK": "kr."])
    case .fi: return PageFormats(group: blank, point: ",", isCurrencyFirst: false, date: .dayFirst("."))
    case .ar: return PageFormats(group: ",", point: ".", isCurrencyFirst: false, date: .dayFirst("/"))
    case .he: return PageFormats(group: ",", point: ".", isCurrencyFirst: false, date: .dayFirst("."))
    case .ja:
      return PageFormats(
        group: ",", point: ".", isCurrencyFirst: true, date: .words("年", "月", "日"), symbols: ["JPY": "¥"])
    case .ko:
      return PageFormats(
        group: ",", point: ".", isCurrencyFirst: true, date: .words("년\(blank)", "월\(blank)", "일"))
    case .zhHans:
      return PageFormats(
        group: ",", point: ".", isCurrencyFirst: true, date: .words("年", "月", "日"), symbols: ["CNY": "¥"])
    }
  }
}
