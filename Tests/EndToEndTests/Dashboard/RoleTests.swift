// Viewers and operators at the admin listener, over real sockets.

import Domain
import Formats
import Store
import TestSupport
import Testing

/// A relay with users of both roles.
enum Roles {
  static let admin: JSONValue = [
    "address": "127.0.0.1", "port": 0, "password": "the old password",
    "viewers": [["name": "bob", "password": "password of bob", "token": "a token of bob, 24 bytes"]],
    "operators": [
      ["name": "anna", "password": "password of anna", "token": "a token of anna, 24 bytes"],
      ["name": "olga"],
    ], "proxies": ["127.0.0.2"],
  ]

  static func basic(_ name: String, _ password: String? = nil) -> [String: String] {
    let text = "\(name):\(password ?? "password of \(name)")"
    return ["Authorization": "Basic \(Base64.encode(Array(text.utf8)))"]
  }

  static func token(_ name: String) -> [String: String] {
    ["Authorization": "Bearer a token of \(name), 24 bytes"]
  }
}

@Suite("Roles", .withDaemonLog) struct RoleTests {
  private func failed(_ relay: Relay) throws -> String {
    try #require(try relay.receipts { $0.reason = "http_422" }.first?.receipt?.id.text)
  }

  @Test func `A viewer sees every page but its controls and personal bodies, and changes nothing`() throws {
    try Relay.withPast(receipts: 60, failed: 20, admin: Roles.admin) { relay, _ in
      let id = try failed(relay)
      func text(_ path: String, _ name: String) throws -> String {
        let reply = try relay.admin.request("GET", path, headers: Roles.basic(name))
        #expect(reply.status == 200, "\(path) of \(name)")
        return reply.text
      }
      let event = try #require(try relay.events().first?.id.text)
      for (path, control) in [
        ("/receipts/\(id)", "/receipts/\(id)/replay"), ("/receipts/\(id)", "Cancel receipt…"),
        ("/apps/web", "/apps/web/pause"), ("/failed", "/failed/acknowledge"), ("/failed", "Replay…"),
        ("/receipts?state=failed", "Replay these…"), ("/", "/apps/web/retry-now"),
        ("/receipts/\(id)", "aria-label=\"What is sent\""), ("/event?id=\(event)", "aria-label=\"Body\""),
      ] {
        #expect(try text(path, "anna").contains(control), "\(path) has \(control)")
        #expect(try !text(path, "bob").contains(control), "\(path) hides \(control)")
      }
      #expect(try text("/event?id=\(event)", "bob").contains("Only operators may read it."))
      for path in [
        "/receipts/\(id)/replay", "/receipts/\(id)/complete", "/apps/web/pause", "/replay?state=failed",
      ] {
        #expect(try relay.admin.request("GET", path, headers: Roles.basic("bob")).status == 403, "\(path)")
        let refused = try relay.postForm(path, ["why": "x"], headers: Roles.basic("bob"))
        #expect(refused.status == 403, "\(path)")
        #expect(refused.text.contains("you may look, but change nothing"), "\(path)")
      }
      // A search is posted, and changes nothing.
      #expect(try relay.postForm("/find", ["q": id], headers: Roles.basic("bob")).status == 303)
      #expect(try relay.read { try $0.audit(AuditFilter(), limit: 10) }.isEmpty)
    }
  }

  @Test func `A viewer reads no context, nor a destination's answer that repeats it`() throws {
    try Relay.withPast(receipts: 20, failed: 5, admin: Roles.admin) { relay, destination in
      let checkout = Checkout("echo")
      destination.answerAll(.status(422, body: #"{"errors":["what is \#(checkout.context)?"]}"#))
      let context = try relay.post(checkout)
      try relay.ingest(checkout.completed)
      let id = try relay.reaches(.failed, checkout.subscription).id.text
      func ask(_ path: String, _ name: String) throws -> Reply {
        let login = path.hasPrefix("/api/") ? Roles.token(name) : Roles.basic(name)
        let reply = try relay.admin.request("GET", path, headers: login)
        #expect(reply.status == 200, "\(path) of \(name)")
        return reply
      }
      let (encoded, decoded) = (String(checkout.context.prefix(32)), "pres_echo")
      for (path, seen) in [
        ("/receipts/\(id)", [encoded, decoded]), ("/contexts/\(context)", [decoded]), ("/failed", [encoded]),
        ("/api/v1/receipts/\(id)", [encoded]), ("/api/v1/contexts/\(context)", [encoded]),
      ] {
        let (operators, viewers) = (try ask(path, "anna").text, try ask(path, "bob").text)
        for part in seen { #expect(operators.contains(part), "\(path) has \(part)") }
        for part in [encoded, decoded] { #expect(!viewers.contains(part), "\(path) hides \(part)") }
      }
      let lists = ["/attempts", "/contexts", "/receipts.json", "/attempts.json", "/contexts.csv"]
      for path in lists + ["/api/v1/attempts", "/api/v1/contexts", "/api/v1/status"] {
        #expect(try !ask(path, "bob").text.contains(encoded), "\(path)")
      }
    }
  }

  @Test func `The audit names the operator: by password, by the old password, or by the proxy`() throws {
    try Relay.withPast(receipts: 60, failed: 20, admin: Roles.admin) { relay, _ in
      var proxy = relay.admin
      proxy.source = 2
      let path = "/apps/web/pause"
      let form = ["Content-Type": "application/x-www-form-urlencoded"]
      for (client, login) in [
        (relay.admin, Roles.basic("anna")), (relay.admin, Roles.basic("somebody", "the old password")),
        (proxy, ["X-Remote-User": "olga", "Via": "1.1 nginx"]),
      ] {
        let page = try client.request("GET", path, headers: login)
        let token = try #require(page.field("token"), "\(page.text)")
        let reply = try client.request(
          "POST", path, body: formBody(["token": token, "why": "a test"]),
          headers: login.merging(form) { $1 })
        #expect(reply.status == 303)
      }
      let actors = try relay.read { try $0.audit(AuditFilter(), limit: 10) }.map(\.entry.actor)
      #expect(
        actors == [
          "dashboard olga (127.0.0.2)", #"dashboard "somebody" (127.0.0.1)"#,
          "dashboard anna (127.0.0.1)",
        ])
      // Only the proxy names the user, which a web page cannot pretend to be, and only a known one; no name
      // has another's password.
      for (client, headers, status) in [
        (relay.admin, ["X-Remote-User": "olga"], 401), (proxy, ["X-Remote-User": "olga"], 401),
        (proxy, ["X-Remote-User": "eve", "Via": "1.1 nginx"], 403), (proxy, [:], 401),
        (relay.admin, Roles.basic("anna", "the old password"), 401),
        (relay.admin, Roles.basic("olga", "the old password"), 401),
      ] {
        #expect(try client.request("GET", "/", headers: headers).status == status, "\(headers)")
      }
      #expect(try relay.admin.request("GET", "/metrics", headers: Roles.token("bob")).status == 200)
      #expect(!relay.log.contains("password of"))
    }
  }
}
