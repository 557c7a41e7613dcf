// The main job: a context and a signed event in, one correct receipt out.

import Domain
import Formats
import HTTPServer
import Testing

@Suite(.withDaemonLog, .everyPlace) struct MainJobTests {
  @Test("A context and then its event make one receipt with exactly these bytes and headers (R2)")
  func contextThenEvent() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("jdo-1")
      let reply = try relay.outside.postContext(checkout.user, checkout.context)
      #expect(reply.status == 201)
      let id = try #require(reply["context_id"])
      #expect(reply["user_id"] == "jdo-1")
      #expect(reply["stripe_price_id"] == Checkout.price)
      #expect(reply["status_url"] == "/v1/shop/contexts/\(id)")
      #expect(reply.header("Location") == reply["status_url"])
      let answer = try relay.outside.send(checkout.completed)
      #expect(answer.status == 200)
      #expect(answer.text == #"{"received":true}"#)
      let receipt = try relay.reaches(.delivered, checkout.subscription)
      #expect(receipt.importID == "imp-0")
      #expect(receipt.attempts == 1)
      let entry = try #require(destination.ledger.first)
      #expect(
        entry.text == """
          {"user_id":"jdo-1","stripe_object_type":"subscription","stripe_object_id":"sub_jdo-1",\
          "stripe_price_id":"\(Checkout.price)","ply_context":"\(checkout.context)"}
          """)
      #expect(entry.head.method == "POST")
      #expect(entry.head.path == "/receipts")
      #expect(entry.head.header("X-API-KEY") == Secrets.apiKey)
      #expect(entry.head.header("X-PLATFORM-TYPE") == "STRIPE")
      #expect(entry.head.header("Content-Type") == "application/json")
      #expect(entry.head.header("User-Agent")?.hasPrefix("receiptd/") == true)
      #expect(try relay.state(ofContext: id) == "delivered")
    }
  }
}
