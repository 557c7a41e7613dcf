// A receipt is completed or corrected with the dashboard's forms: the values, a preview of the difference,
// and then the change.

import Domain
import Formats
import Store
import Testing

@Suite(.withDaemonLog) struct DashboardSupplyTests {
  @Test("A receipt without its user is previewed, then completed and delivered; the audit names no user")
  func user() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("guest")
      try relay.ingest(
        checkout.completed.merging([
          "data": ["object": ["client_reference_id": .null, "metadata": [:]]]
        ]))
      let waiting = try relay.reaches(.waiting, checkout.subscription)
      #expect(waiting.reason == .user)
      let path = "/receipts/\(waiting.id)/complete"
      #expect(try relay.admin.request("GET", "/receipts/\(waiting.id)").text.contains("Complete…"))
      let form = try relay.admin.request("GET", path)
      #expect(!form.text.contains("<iframe"), "nothing is renewed while a form is filled in")
      let token = try #require(form.field("token"))

      let lacking = try relay.postForm(path, ["token": token])
      #expect(lacking.status == 400)
      #expect(lacking.text.contains("It still lacks its user"))
      #expect(lacking.text.contains("aria-invalid=\"true\""))
      #expect(try relay.postForm(path, ["token": "x", "user": "anna"]).status == 403)
      for user in ["a\u{1}", "Undefined", "CTX_01KAPJ3Z5YV4GQ8T2M6N9R7XWB"] {
        #expect(try relay.postForm(path, ["token": token, "user": user]).status == 400, "\(user)")
      }

      let preview = try relay.postForm(path, ["token": token, "user": "anna <b>"])
      #expect(preview.status == 200)
      #expect(preview.text.contains("Send it with these values?"))
      #expect(preview.text.contains("anna &lt;b&gt;"))
      #expect(preview.field("save") == "yes")
      #expect(try relay.receipt(of: checkout.subscription)?.state == .waiting, "nothing is changed yet")
      #expect(destination.ledger(of: checkout.subscription).isEmpty)

      let saved = try relay.postForm(
        path,
        [
          "token": try #require(preview.field("token")), "user": try #require(preview.field("user")),
          "save": "yes", "why": "asked support",
        ])
      #expect(saved.status == 303, "\(saved.text)")
      #expect(saved.header("Location") == "/receipts/\(waiting.id)?done=complete")
      try relay.reaches(.delivered, checkout.subscription)
      let entry = try #require(try relay.read { try $0.audit(AuditFilter(), limit: 2) }.first?.entry)
      #expect(entry.action == "receipts complete")
      #expect(entry.subject == waiting.id.text)
      #expect(entry.reason == "asked support")
      #expect(entry.details == #"{"supplied":["user"]}"#)

      let late = try relay.postForm(path, ["token": token, "user": "bob", "save": "yes"])
      #expect(late.status == 409)
      #expect(try relay.read { try $0.audit(AuditFilter(), limit: 3) }.count == 1)
    }
  }

  @Test("A delivered receipt is corrected once, with a reason, after a preview of what is different")
  func correction() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("jdo1")
      try relay.buy(checkout)
      let first = try relay.reaches(.delivered, checkout.subscription)
      let user = try #require(try relay.read { try $0.receipt(id: first.id) }?.purchase.userID)
      let path = "/receipts/\(first.id)/correct"
      #expect(try relay.admin.request("GET", "/receipts/\(first.id)").text.contains("Correct…"))
      let form = try relay.admin.request("GET", path)
      #expect(form.text.contains("name=\"user\" type=\"text\" value=\"\(user)\""))
      let token = try #require(form.field("token"))
      let same = try relay.postForm(path, ["token": token, "user": user.text])
      #expect(same.status == 400)
      #expect(same.text.contains("Nothing is different"))

      let preview = try relay.postForm(path, ["token": token, "user": " anna "])
      #expect(preview.status == 200)
      #expect(preview.text.contains("Send a second receipt for this purchase?"))
      #expect(preview.text.contains("<bdi>anna</bdi></strong>"))
      #expect(preview.text.contains(" instead of <bdi>\(user)</bdi>"))
      #expect(preview.text.contains("Purchasely does not document what it does with a second receipt"))
      #expect(preview.field("user") == "anna")
      var fields = ["token": try #require(preview.field("token")), "user": "anna", "save": "yes"]
      let unreasoned = try relay.postForm(path, fields)
      #expect(unreasoned.status == 400)
      #expect(unreasoned.text.contains("Say why"))
      #expect(destination.ledger(of: checkout.subscription).count == 1, "nothing is sent yet")

      fields["why"] = "wrong account"
      let saved = try relay.postForm(path, fields)
      #expect(saved.header("Location") == "/receipts/\(first.id)?done=correct", "\(saved.text)")
      try waitUntil("the second receipt is sent") {
        destination.ledger(of: checkout.subscription).count == 2
      }
      let entry = try #require(try relay.read { try $0.audit(AuditFilter(), limit: 2) }.first?.entry)
      #expect(entry.action == "receipts correct")
      #expect(entry.subject == first.id.text)
      #expect(entry.reason == "wrong account")
      #expect(entry.details == #"{"supplied":["user"],"user_replaced":true}"#)
      let page = try relay.admin.request("GET", "/receipts/\(first.id)").text
      #expect(!page.contains("Correct…"))
      let again = try relay.postForm(path, fields)
      #expect(again.status == 409)
      #expect(again.text.contains("Another receipt corrects it"))
    }
  }
}
