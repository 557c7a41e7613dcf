// What the dashboard shows of payments, with and without a receipt, beside purchases of another processor.

import Domain
import Formats
import Sandbox
import TestSupport
import Testing

@Suite("Payments on the dashboard", .withDaemonLog)
struct DashboardPaymentTests {
  @Test("A payment that was only started is found by its id, and lists and filters name the processor")
  func payments() throws {
    try SwedbankShop.run { shop in
      let order = try shop.sdk().start(.v3).id
      let page = try shop.relay.admin.request("GET", "/receipts?object=\(order)").text
      #expect(page.contains("no receipt: the payment was started, and its outcome is not known"))
      #expect(page.contains("receiptctl payments fetch \(order)"))
      #expect(
        try shop.relay.admin.request("GET", "/apps/shop").text.contains("shop at swedbank: 1 lookup planned.")
      )
      shop.swedbank.perform(.pay, on: order)
      let receipt = try shop.relay.reaches(.delivered, order)
      let stripe = Checkout("other")
      try shop.relay.post(stripe)
      try shop.relay.ingest(stripe.completed)
      let other = try shop.relay.reaches(.delivered, stripe.subscription)
      let all = try shop.relay.admin.request("GET", "/receipts").text
      #expect(all.contains(receipt.id.text))
      #expect(all.contains(other.id.text))
      #expect(all.contains("data-label=\"Processor\""))
      let filtered = try shop.relay.admin.request("GET", "/receipts?processor=swedbank").text
      #expect(filtered.contains(receipt.id.text))
      #expect(!filtered.contains(other.id.text))
      let shown = try shop.relay.admin.request("GET", "/receipts/\(receipt.id)").text
      #expect(shown.contains("<dt>processor</dt>"))
      #expect(shown.contains(order))
      let words = ["--config", shop.relay.configurationPath, "payments", "fetch", order]
      #expect(try ShellRun([Program.receiptctl] + words + ["--reason", "ticket 4711"]).code == 0)
      let audited = try shop.relay.admin.request("GET", "/receipts/\(receipt.id)").text
      #expect(audited.contains("payments fetch: ticket 4711"), "the change of the payment")
    }
  }
}
