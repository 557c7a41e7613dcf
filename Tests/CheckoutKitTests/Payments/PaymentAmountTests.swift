// Amounts are exact.

import CheckoutKit
import Foundation
import Testing

@Suite struct PaymentAmountTests {
  private static func cents(_ text: String) -> UInt? { PaymentAmount(amount: text, currency: "USD").cents }

  /// Amounts of which Afterpay's SDK for iOS loses a cent, because it multiplies a `Double` by 100.
  private static let trap = """
    0.29 0.57 0.58 1.13 1.14 1.15 1.16 2.01 2.03 2.05 2.07 2.26 2.28 2.30 2.32 2.51 2.53 2.55 4.02 4.06 4.10
    4.14 4.27 4.31 4.35 4.39 4.52 4.56 4.60 4.64 4.77 4.81 4.85 4.89 5.02 5.06 5.10 8.03 8.04 8.12 19.99
    """.split { $0 == " " || $0 == "\n" }.map(String.init)

  @Test(arguments: trap)
  func `CA22: amounts that a floating-point number cuts are exact`(_ text: String) throws {
    let expected = try #require(UInt(text.replacingOccurrences(of: ".", with: "")))
    #expect(Self.cents(text) == expected)
    // The example is a trap: otherwise this test would prove nothing.
    #expect(UInt(try #require(Double(text)) * 100) == expected - 1)
  }

  @Test func `CA22: every amount from 0.00 to 1000.00 is exact, and a floating-point number is not`() throws {
    var lost = 0
    for cents in 0...100_000 as ClosedRange<UInt> {
      let decimals = String(cents % 100)
      let text = "\(cents / 100).\(decimals.count < 2 ? "0" : "")\(decimals)"
      guard Self.cents(text) == cents else { return unexpected(RelayError.encoding("\(text)")) }
      if UInt(try #require(Double(text)) * 100) != cents { lost += 1 }
    }
    #expect(lost == 4586)
  }

  @Test(arguments: [
    ("5", 500), ("5.5", 550), ("0", 0), ("0.00", 0), ("007.10", 710), ("1000000.01", 100_000_001),
  ])
  func `CA22: a decimal number may have no decimals or one`(_ text: String, _ cents: UInt) {
    #expect(Self.cents(text) == cents)
  }

  @Test(arguments: [
    "1,000", "1.234", "FREE", "$2", "", "-1.00", "1e3", "NaN", ".", "5.", ".5", "+5", " 5", "5 ", "5.0.0",
    "1_000", "0x10", "５.00", "5.0０", "1.0e1", "inf", "5\u{0}", "5.00\n",
  ])
  func `CA22: other texts are not amounts`(_ text: String) {
    #expect(Self.cents(text) == nil)
  }

  @Test func `CA22: an amount that is too large is refused, and does not overflow`() {
    #expect(Self.cents(String(repeating: "9", count: 10_000)) == nil)
    let most = String(UInt.max)
    #expect(Self.cents("\(most.dropLast(2)).\(most.suffix(2))") == .max)
    #expect(Self.cents(most) == nil)
    #expect(Self.cents("\(most.dropLast(2)).\(most.suffix(2).dropLast())9") == nil)
  }

  @Test func `The limits of the merchant are compared exactly, in one currency`() throws {
    let both = try JSONDecoder().decode(
      AfterpayConfiguration.self, from: Data(PaymentExample.configuration.utf8))
    func permits(_ amount: String, _ currency: String = "USD") -> Bool {
      both.permits(PaymentAmount(amount: amount, currency: currency))
    }
    #expect(!permits("9.99"))
    #expect(permits("10.00"))
    #expect(permits("2000"))
    #expect(!permits("2000.01"))
    #expect(!permits("50.00", "AUD"))
    #expect(!permits("FREE"))
    let most =
      #"{"maximumAmount":{"amount":"20.00","currency":"USD"},"locale":"#
      + #"{"identifier":"en_US","language":"en","country":"US"}}"#
    let one = try JSONDecoder().decode(AfterpayConfiguration.self, from: Data(most.utf8))
    #expect(one.permits(PaymentAmount(amount: "0.01", currency: "USD")))
    #expect(!one.permits(PaymentAmount(amount: "20.01", currency: "USD")))
  }
}
