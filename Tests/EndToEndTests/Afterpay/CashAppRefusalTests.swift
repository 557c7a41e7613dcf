// Requests about payments with Afterpay and Cash App Pay that a real relay must refuse: none of them reaches
// Afterpay.

import Domain
import Formats
import Sandbox
import Testing

@Suite(.withDaemonLog) struct CashAppRefusalTests {
  private static func slug(_ reply: Reply) -> String {
    "\(reply["type"].map { String($0.split(separator: ":").last ?? "") } ?? "none") \(reply.status)"
  }

  @Test("The app names no amount, no foreign context and no user that is missing; others have no key")
  func limitsOfApps() throws {
    try AfterpayRelay.run { shop in
      let amount: JSONValue = ["email": "a@b.example", "amount": "0.01"]
      #expect(Self.slug(try shop.request("POST", "checkout", amount)) == "invalid-amount 400")
      let price: JSONValue = ["email": "a@b.example", "price": "gold"]
      let context = try shop.relay.post(Checkout("another"))
      let foreign = try shop.request("POST", "checkout", price, context: context)
      #expect(Self.slug(foreign) == "unknown-context 422")
      #expect(try shop.request("POST", "checkout", price, user: nil).status == 400)
      let other = try shop.request("POST", "checkout", price, headers: ["X-API-KEY": "no key"])
      #expect(Self.slug(other) == "unauthorized 401")
      let form = ["Content-Type": "application/x-www-form-urlencoded"]
      #expect(
        Self.slug(try shop.request("POST", "checkout", price, headers: form)) == "unsupported-media-type 415")
      #expect(shop.sent.isEmpty)
    }
  }
}
