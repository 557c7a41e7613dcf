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

  /// A body, and the problem that it gets where the app names amounts.
  private static let checkouts: [(body: JSONValue, problem: String)] = [
    (
      ["email": "a@b.example", "amount": "50.00", "isCashAppPay": true, "mode": "express"], "invalid-mode 400"
    ),
    (["amount": "50.00"], "invalid-email 400"), (["email": "a@b.example"], "invalid-price 400"),
    (["email": "", "amount": "50.00"], "invalid-email 400"),
    (["email": 7, "amount": "50.00"], "invalid-email 400"),
    (["email": "a@b.example", "amount": 50], "invalid-amount 400"),
    (["email": "a@b.example", "amount": "1,000"], "invalid-amount 400"),
    (["email": "a@b.example", "amount": "1.234"], "invalid-amount 400"),
    (["email": "a@b.example", "amount": "FREE"], "invalid-amount 400"),
    (["email": "a@b.example", "amount": "-1"], "invalid-amount 400"),
    (["email": "a@b.example", "amount": "1e3"], "invalid-amount 400"),
    (["email": "a@b.example", "amount": ""], "invalid-amount 400"),
    (["email": "a@b.example", "amount": "0.00"], "invalid-amount 400"),
    (["email": "a@b.example", "amount": "50.00", "price": "gold"], "invalid-amount 400"),
    (["email": "a@b.example", "price": "silver"], "unknown-price 422"),
    (["email": "a@b.example", "price": "gold", "token": "005.a"], "invalid-member 400"),
    ([], "invalid-json 400"), (7, "invalid-json 400"),
  ]

  @Test("CA04, CA05: A malformed checkout is refused at once, and Afterpay is not called")
  func checkouts() throws {
    try AfterpayRelay.run(["amounts": "client"]) { shop in
      for (body, problem) in Self.checkouts {
        let reply = try shop.request("POST", "checkout", body)
        #expect(Self.slug(reply) == problem, "\(body.text)")
      }
      #expect(shop.sent.isEmpty)
    }
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

  @Test("CA16: Another user's token and an unknown one are answered 404, and Afterpay is not called")
  func foreignTokens() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      let before = shop.sent
      for (token, user) in [(token, "another"), ("005.unknown", "buyer"), (token.uppercased(), "buyer")] {
        #expect(Self.slug(try shop.capture(token, user: user)) == "unknown-payment 404")
        let state = try shop.request("GET", "checkouts/\(token)", user: user)
        #expect(Self.slug(state) == "unknown-payment 404")
      }
      #expect(shop.sent == before)
      #expect(shop.charges(of: token) == 0)
    }
  }

  @Test("CA18: A payment of Cash App Pay is not captured without a grant, nor with one that is no text")
  func grants() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      let before = shop.sent
      for grant in [nil, .null, "", 7, true, [], "GRG\u{0}"] as [JSONValue?] {
        #expect(
          Self.slug(try shop.capture(token, grant: grant)) == "invalid-grant-id 400", "\(grant?.text ?? "")")
      }
      #expect(shop.sent == before)
      #expect(try shop.state(of: token) == "started")
    }
  }

  @Test("CA19: A token that could change a path or a header is refused")
  func hostileTokens() throws {
    try AfterpayRelay.run { shop in
      for token in [
        "005/../x", "..", "005..a", "005.a\r\nX-Evil: 1", "005.a b", "005.a?x", "005.a#x", "005%2Fa", "é",
        "", "@evil.test", String(repeating: "a", count: 256),
      ] {
        let reply = try shop.capture(token)
        #expect(Self.slug(reply) == "invalid-token 400", "\(token)")
      }
      for path in ["..%2F..", "005%2F..%2Fx", "005.a%0D%0AX-Evil:%201", "%C3%A9", "005..a", "@evil.test"] {
        let reply = try shop.request("GET", "checkouts/\(path)")
        #expect(Self.slug(reply) == "invalid-token 400", "\(path)")
      }
      #expect(shop.sent.isEmpty)
    }
  }
}
