// Payments with Afterpay and Cash App Pay through a real relay, up to the capture.

import CheckoutKit
import Domain
import Formats
import FoundationEssentials
import Glibc
import Sandbox
import Testing

@Suite(.withDaemonLog) struct CashAppCheckoutTests {
  private static let clientAmounts: JSONValue = ["amounts": "client"]

  @Test("CA02, CA03: A checkout names amount, customer and URLs, and its payment is known from then on")
  func checkout() throws {
    try AfterpayRelay.run(Self.clientAmounts) { shop in
      let amount: JSONValue = ["email": "jane@example.com", "amount": "50.00", "isCashAppPay": true]
      let reply = try shop.request("POST", "checkout", amount)
      #expect(reply.status == 200)
      let created = try #require(shop.afterpay.checkouts.first)
      #expect(reply["token"] == created.token)
      #expect(reply["url"] == "\(shop.afterpay.base)/checkout/\(created.token)")
      #expect(created.amount == SandboxAfterpayAmount(cents: 5000, currency: "USD"))
      #expect(created.email == "jane@example.com")
      #expect(created.isCashAppPay)
      #expect(created.confirmURL == "https://shop.example.com/paid")
      #expect(created.cancelURL == "shop://cancelled")
      let state = try shop.request("GET", "checkouts/\(created.token)")
      #expect(state["state"] == "started")
      #expect(state["amount"] == "50.00")
      #expect(state["currency"] == "USD")
      let price: JSONValue = ["email": "jane@example.com", "price": "gold"]
      #expect(try shop.request("POST", "checkout", price).status == 200)
      #expect(shop.afterpay.checkouts.last?.isCashAppPay == false)
      #expect(shop.afterpay.checkouts.last?.amount.cents == 5999)
      #expect(shop.sent == ["POST /v2/checkouts", "POST /v2/checkouts"])
      #expect(try shop.relay.receipts().isEmpty, "nothing is paid yet")
    }
  }

  @Test("CA30: The return page shows the payment that Afterpay's address names, and the kit reads its token")
  func returnPage() throws {
    let links: JSONValue = ["origin": "https://pay.example.com", "return": ["name": "Example"]]
    let back = "https://pay.example.com/v1/shop/return"
    try AfterpayRelay.run(["confirm_url": .string(back), "cancel_url": .string(back)], links: links) { shop in
      let token = try shop.startApproved()
      #expect(shop.afterpay.checkouts.first?.confirmURL == back)
      func heading(_ query: String) throws -> String? {
        let page = try shop.relay.outside.api.request("GET", "/v1/shop/return?\(query)")
        #expect(page.status == 200)
        return page.text.firstMatch(of: #/<h1[^>]*>([^<]*)</h1>/#).map { String($0.1) }
      }
      let confirmed = "status=SUCCESS&orderToken=\(token)"
      let url = try #require(URL(string: "\(back)?\(confirmed)"))
      let read = CheckoutReturn(url, hosts: ["pay.example.com"])
      #expect(read == CheckoutReturn(app: "shop", orderToken: token))
      #expect(try heading(confirmed) == "Waiting for confirmation", "the address proves nothing")
      #expect(try heading("status=CANCELLED&orderToken=\(token)") == "No payment so far")
      #expect(try shop.capture(token).status == 200)
      try shop.relay.reaches(.delivered, token)
      #expect(try heading(confirmed) == "Payment completed")
      #expect(try heading("status=DECLINED&orderToken=\(token)") == "Payment completed")
    }
  }

  @Test func `A payment's state outlasts a kill of the relay right after the answer`() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.start()
      try shop.relay.stop(SIGKILL)
      try shop.relay.start()
      #expect(try shop.state(of: token) == "started")
    }
  }
}
