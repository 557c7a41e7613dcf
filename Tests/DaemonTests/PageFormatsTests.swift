// Amounts and dates of the public pages.

import Domain
import Testing

@testable import Web

@Suite("Amounts and dates of a page") struct PageFormatsTests {
  @Test(
    "An amount is written as readers of the language write it",
    arguments: [
      (.en, "1234.50", "EUR", "€1,234.50"), (.en, "5", "JPY", "¥5"), (.en, "9.99", "USD", "US$9.99"),
      (.en, "9.99", "SEK", "SEK\u{A0}9.99"), (.de, "1234567.50", "EUR", "1.234.567,50\u{A0}€"),
      (.de, "9.99", "USD", "9,99\u{A0}US$"), (.fr, "1234.50", "EUR", "1\u{A0}234,50\u{A0}€"),
      (.nl, "999.50", "EUR", "€\u{A0}999,50"), (.sv, "1234.00", "SEK", "1\u{A0}234,00\u{A0}kr"),
      (.da, "99.00", "DKK", "99,00\u{A0}kr."), (.ar, "12.345", "KWD", "12.345\u{A0}KWD"),
      (.he, "49.90", "ILS", "49.90\u{A0}₪"), (.ja, "1500", "JPY", "¥1,500"), (.ko, "15000", "KRW", "₩15,000"),
      (.zhHans, "68.00", "CNY", "¥68.00"), (.zhHans, "500", "JPY", "JPY\u{A0}500"),
    ] as [(PageLanguage, String, String, String)])
  func money(language: PageLanguage, amount: String, currency: String, text: String) throws {
    let money = try #require(Currency(currency).flatMap { Money(amount, $0) })
    #expect(language.formats.text(money) == text)
  }

  @Test(
    arguments: [
      (.en, "5\u{A0}Nov\u{A0}2026"), (.de, "5.11.2026"), (.fr, "5/11/2026"), (.nl, "5-11-2026"),
      (.sv, "2026-11-05"), (.ar, "5/11/2026"), (.ja, "2026年11月5日"), (.ko, "2026년\u{A0}11월\u{A0}5일"),
      (.zhHans, "2026年11月5日"),
    ] as [(PageLanguage, String)])
  func `A date is unambiguous for readers of the language`(language: PageLanguage, text: String) {
    #expect(language.formats.text(date: "2026-11-05") == text)
  }
}
