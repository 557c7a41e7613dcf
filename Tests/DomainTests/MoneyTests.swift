// Amounts of money: what is parsed, what is refused, and that nothing is rounded.

import Domain
import Testing

private func money(_ text: String, _ code: String = "USD") -> Money? {
  Currency(code).flatMap { Money(text, $0) }
}

@Suite("Amounts of money")
struct MoneyTests {
  @Test func `Every amount from 0.01 to 1000.00 keeps its cents, and has the same text again`() {
    for cents in 1...100_000 {
      let fraction = String(cents % 100)
      let text = "\(cents / 100)." + (fraction.utf8.count == 1 ? "0" : "") + fraction
      guard let amount = money(text), amount.minorUnits == cents, amount.text == text else {
        Issue.record("\(text) is \(String(describing: money(text)))")
        return
      }
    }
  }

  @Test(arguments: [
    "1,000", "1,000.00", "1.234", "1.2", "50", "FREE", "$2", "", "-1.00", "+1.00", "1e3", "1.0e1", "NaN",
    "inf", ".50", "50.", "007.00", "00.10", " 1.00", "1.00 ", "1.00\n", "1.00\0", "1_0.00", "0x1.00",
    "1..00", "1.0.0", "1.00.00", "١.٠٠", "1．00", "92233720368547758.08", "9999999999999999999.00",
    String(repeating: "9", count: 1000) + ".00",
  ])
  func `An amount has the form of its currency, with all decimals`(text: String) {
    #expect(money(text) == nil)
  }

  @Test(
    arguments: [
      ("USD", "59.99", 5999), ("USD", "0.00", 0), ("USD", "0.05", 5), ("JPY", "500", 500), ("JPY", "0", 0),
      ("KWD", "1.234", 1234), ("KWD", "0.001", 1), ("CLF", "1.2345", 12345), ("SEK", "10.00", 1000),
      ("USD", "92233720368547758.07", Int64.max),
    ] as [(String, String, Int64)])
  func `A currency decides how many decimals an amount has`(code: String, text: String, units: Int64) throws {
    let amount = try #require(money(text, code))
    #expect(amount.minorUnits == units)
    #expect(amount.text == text)
    #expect(money(text + "0", code) == (code == "JPY" && text != "0" ? amount.times(10) : nil))
  }

  @Test func `Minor units become an amount in major units, whatever their number`() throws {
    let sek = try #require(Currency("SEK"))
    let yen = try #require(Currency("JPY"))
    #expect(Money(minorUnits: 1000, sek).text == "10.00")
    #expect(Money(minorUnits: 0, sek).text == "0.00")
    #expect(Money(minorUnits: 7, sek).text == "0.07")
    #expect(Money(minorUnits: -7, sek).text == "-0.07")
    #expect(Money(minorUnits: 1000, yen).text == "1000")
    #expect(Money(minorUnits: .min, sek).text == "-92233720368547758.08")
    #expect(Money(minorUnits: .max, sek).description == "92233720368547758.07 SEK")
  }

  @Test(arguments: ["usd", "US", "USDT", "", "U D", "ÅSD", "US1"])
  func `A currency is three upper-case letters`(code: String) {
    #expect(Currency(code) == nil)
  }

  @Test func `Limits include their ends, and a limit in another currency limits nothing`() throws {
    let limits = MoneyLimits(minimum: money("10.00"), maximum: money("2000.00"))
    let amounts = ["9.99", "10.00", "10.01", "2000.00", "2000.01"].compactMap { money($0) }
    #expect(amounts.map(limits.contains) == [false, true, true, true, false])
    #expect(amounts.allSatisfy(MoneyLimits().contains))
    let euros = try #require(money("1.00", "EUR"))
    #expect(limits.contains(euros))
  }

  @Test func `Amounts of one currency can be added, without overflow`() throws {
    let amount = try #require(money("0.10"))
    #expect(amount.adding(amount)?.text == "0.20")
    #expect(amount.adding(Money(minorUnits: .max, amount.currency)) == nil)
    #expect(try amount.adding(#require(money("0.10", "EUR"))) == nil)
  }
}

extension Money {
  fileprivate func times(_ factor: Int64) -> Money { Money(minorUnits: minorUnits * factor, currency) }
}
