// A receipt is completed with the dashboard's forms: what it lacks, a preview, and then the change.

import Domain
import Formats
import HTTPServer
import Store
import Testing

@Suite(.withDaemonLog) struct DashboardCompleteTests {
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
      #expect(try relay.postForm(path, ["token": "x", "user": "anna"]).status == 403)
      #expect(try relay.postForm(path, ["token": token, "user": "a\u{1}"]).status == 400)

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
}
