// The links to Stripe's dashboard. Their form only: Stripe does not document these URLs as an API.

import Partners
import Testing

@Suite("Stripe's dashboard") struct StripePortalTests {
  private static func processor(_ livemode: StripeSettings.Livemode = .any) throws -> StripeProcessor {
    try StripeProcessor(StripeSettings(livemode: livemode), webhookSecrets: ["whsec_test"])
  }

  @Test(
    "Each kind of object has its page, in the mode of its purchase",
    arguments: [
      ("sub_1", [], "subscriptions/sub_1"), ("cus_1", [], "customers/cus_1"),
      ("pi_1", [], "payments/pi_1"), ("in_1", [], "invoices/in_1"), ("evt_1", [], "events/evt_1"),
      ("price_1", [], "prices/price_1"), ("cs_live_1", [], "search?query=cs_live_1"),
      ("cs_test_1", [], "test/search?query=cs_test_1"),
      ("sub_1", ["cs_test_1"], "test/subscriptions/sub_1"),
    ])
  func pages(id: String, others: [String], path: String) throws {
    #expect(
      try Self.processor().portalPage(of: id, beside: others) == "https://dashboard.stripe.com/\(path)")
  }

  @Test("An app of the test mode has the pages of that mode; what is no id of Stripe's has none")
  func modes() throws {
    #expect(
      try Self.processor(.test).portalPage(of: "cus_1", beside: [])
        == "https://dashboard.stripe.com/test/customers/cus_1")
    for id in [
      "", "rcp_1", "user-7", "sub_1/../x", "cus_\u{e9}", "evt_1?a",
      "cus_\(String(repeating: "1", count: 300))",
    ] {
      #expect(try Self.processor().portalPage(of: id, beside: []) == nil, "\(id)")
    }
  }
}
