// The API for operators' programs, over real sockets.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Admin API", .withDaemonLog) struct AdminAPITests {
  private func get(_ relay: Relay, _ path: String, _ name: String = "bob") throws -> JSONValue {
    let reply = try relay.admin.request("GET", "/api/v1\(path)", headers: Roles.token(name))
    #expect(reply.status == 200, "\(path): \(reply.text)")
    #expect(reply.header("Content-Type") == "application/json")
    #expect(reply.header("Cache-Control") == "no-store")
    return try JSONValue(parsing: reply.body)
  }

  private func items(_ page: JSONValue) -> [JSONValue] {
    if case .array(let items)? = page["items"] { items } else { [] }
  }

  @Test func `Lists and objects are what receiptctl prints with --json`() throws {
    try Relay.withPast(receipts: 60, failed: 20, admin: Roles.admin) { relay, _ in
      func lines(_ words: [String]) throws -> [JSONValue] {
        try relay.receiptctl(words + ["--json"]).output.split(separator: "\n")
          .filter { $0.hasPrefix("{") }.map { try JSONValue(parsing: Array($0.utf8)) }
      }
      for (path, words) in [
        (
          "/receipts?app=shop&state=delivered", ["receipts", "list", "--app", "shop", "--state", "delivered"]
        ),
        ("/events?outcome=receipt&limit=7", ["events", "list", "--outcome", "receipt", "--limit", "7"]),
        ("/contexts", ["contexts", "list"]), ("/claims", ["claims", "list"]), ("/audit", ["audit", "list"]),
        ("/attempts?failed=yes", ["attempts", "list", "--failed"]),
        ("/failed?app=shop", ["failures", "list", "--app", "shop"]),
        ("/payments?app=shop", ["payments", "list", "--app", "shop"]),
      ] {
        #expect(try items(get(relay, path)) == lines(words), "\(path)")
      }
      let receipt = try #require(try relay.receipts { $0.state = .delivered }.first?.receipt?.id.text)
      #expect(try get(relay, "/receipts/\(receipt)", "anna") == lines(["receipts", "show", receipt]).first)
      let event = try #require(try relay.events().first?.id.text)
      #expect(try items(get(relay, "/events/\(event)", "anna")) == lines(["events", "show", event]))
      // It changes while it runs.
      _ = try relay.receiptctl("receipts", "replay", "--state", "failed", "--rate", "0.01/s", "--yes")
      let job = try #require(try items(get(relay, "/jobs")).first?["id"]?.stringValue)
      #expect(try get(relay, "/jobs/\(job)")["kind"] == "replay")
    }
  }

  @Test func `The status is what receiptctl status prints with --json, for viewers, too`() throws {
    try Relay.withPast(receipts: 60, failed: 20, admin: Roles.admin) { relay, _ in
      let lines = try relay.receiptctl("status", "--json").output.split(separator: "\n")
        .filter { $0.hasPrefix("{") }.map { try JSONValue(parsing: Array($0.utf8)) }
      func list(_ name: String, of object: JSONValue?) -> [JSONValue] {
        if case .array(let values)? = object?[name] { values } else { [] }
      }
      // Other members depend on the time.
      func same(_ names: [String]) -> (JSONValue) -> [JSONValue?] { { object in names.map { object[$0] } } }
      func down(_ object: JSONValue?) throws -> [JSONValue?] {
        let found = list("findings", of: object).first { $0["alert"] == "breaker_open" }
        return try same(["check", "severity", "title", "remedy", "app", "since"])(#require(found))
      }
      let whole = try get(relay, "/status")
      #expect(whole["service"]?["ready"] == true)
      #expect(whole["service"]?["configuration"] == lines.first?["service"]?["configuration"])
      #expect(try down(whole) == down(lines.first))
      let app = same(["app", "configured", "served", "failed", "pause"])
      #expect(list("apps", of: whole).map(app) == lines.dropFirst().map(app))
      let shop = try get(relay, "/status?app=shop")
      #expect(list("apps", of: shop).map { $0["app"] } == ["shop"])
      #expect(list("findings", of: shop).allSatisfy { $0["app"] == .null || $0["app"] == "shop" })
    }
  }

  @Test func `A cursor leads through the whole list, without a repeat`() throws {
    try Relay.withPast(receipts: 60, failed: 20, admin: Roles.admin) { relay, _ in
      var (seen, after): ([JSONValue], String?) = ([], nil)
      repeat {
        let page = try get(relay, "/receipts?app=shop&limit=25" + (after.map { "&after=\($0)" } ?? ""))
        seen += items(page)
        after = page["next"]?.stringValue
      } while after != nil
      #expect(seen.count == 60)
      #expect(Set(seen.map { $0["id"]?.stringValue }).count == 60)
    }
  }

  @Test func `What a program may not know or may not see is refused, as a problem with the remedy`() throws {
    try Relay.withPast(receipts: 20, failed: 5, admin: Roles.admin) { relay, _ in
      let none = "rcp_\(String(repeating: "0", count: 26))"
      func problem(_ path: String, _ headers: [String: String], _ status: Int) throws -> JSONValue {
        let reply = try relay.admin.request("GET", "/api/v1\(path)", headers: headers)
        #expect(reply.status == status, "\(path): \(reply.text)")
        #expect(reply.header("Content-Type") == "application/problem+json", "\(path)")
        return try JSONValue(parsing: reply.body)
      }
      let bob = Roles.token("bob")
      for (path, part) in [
        ("/jobs?stat=running", "`stat` is not known; the fields here are state, limit, after"),
        ("/jobs?state=running&state=paused", "`state` must be there once"), ("/jobs?state=", "with a value"),
        ("/jobs?state=sold", "must be one of preparing"), ("/jobs?limit=0", "from 1 to 500"),
        ("/failed?limit=5", "`limit` is not known"),
        ("/payments?limit=5", "`limit` is not known"), ("/failed?after=x", "`after` is not known"),
        ("/jobs?after=x", "must be the id of a job"), ("/jobs?state=%zz", "broken percent escape"),
        ("/receipts/\(none)?x=1", "there are none here"),
      ] {
        #expect(try problem(path, bob, 400)["detail"]?.stringValue?.contains(part) == true, "\(path)")
      }
      for path in [
        "/receipts/\(none)", "/receipts/x", "/events/none", "/claims/none", "/status?app=none", "/none", "",
      ] {
        _ = try problem(path, bob, 404)
      }
      // Passwords and a proxy's login come with requests of other sites, too, and tokens do not.
      var proxy = relay.admin
      proxy.source = 2
      let login = ["X-Remote-User": "olga", "Via": "1.1 nginx"]
      #expect(try proxy.request("GET", "/api/v1/jobs", headers: login).status == 401)
      for headers in [[:], Roles.basic("anna"), Roles.token("eve")] {
        let refused = try relay.admin.request("GET", "/%61pi/v1/jobs", headers: headers)
        #expect(refused.status == 401)
        #expect(refused.header("WWW-Authenticate") == "Bearer")
      }
      #expect(try relay.admin.request("DELETE", "/api/v1/jobs", headers: Roles.token("anna")).status == 405)
      #expect(try relay.admin.request("DELETE", "/api/v1/jobs", headers: bob).status == 403)
    }
  }

  @Test func `A viewer's program gets no personal bodies`() throws {
    try Relay.withPast(receipts: 20, failed: 5, admin: Roles.admin) { relay, _ in
      let context = try relay.post(Checkout("with-context"))
      let event = try #require(try relay.events().first?.id.text)
      for (path, field) in [("/contexts/\(context)", "ply_context"), ("/events/\(event)", "body")] {
        for (name, isSeen) in [("anna", true), ("bob", false)] {
          let found = try get(relay, path, name)
          let value = items(found).first?[field] ?? found[field]
          #expect((value?.stringValue != nil) == isSeen, "\(path) of \(name)")
          #expect(value != nil, "a field is never left out")
        }
      }
    }
  }

  private func post(
    _ relay: Relay, _ path: String, _ body: JSONValue, _ name: String = "anna",
    headers: [String: String] = ["Content-Type": "application/json"]
  ) throws -> (status: Int, json: JSONValue) {
    let reply = try relay.admin.request(
      "POST", "/api/v1\(path)", body: body.serialized(), headers: Roles.token(name).merging(headers) { $1 })
    return (reply.status, try JSONValue(parsing: reply.body))
  }

  @Test("An action says with preview what it would do, then does it, and the audit names the operator")
  func actions() throws {
    try Relay.withPast(receipts: 60, failed: 20, admin: Roles.admin) { relay, _ in
      let id = try #require(try relay.receipts { $0.reason = "http_422" }.first?.receipt?.id.text)
      let path = "/receipts/\(id)/replay"
      let preview = try post(relay, "\(path)?preview=true", [:])
      #expect(preview.status == 200)
      #expect(preview.json["question"] == "Replay this receipt?")
      #expect(try relay.read { try $0.audit(AuditFilter(), limit: 10) }.isEmpty)
      // The preview refuses what the change would refuse.
      let complete = "/receipts/\(id)/complete"
      for path in ["\(complete)?preview=true", complete] {
        let refused = try post(relay, path, ["user": "another-user"])
        #expect(refused.status == 409, "\(path)")
        #expect(refused.json["detail"]?.stringValue?.contains("`replace`") == true, "\(path)")
      }
      let replaced = try post(relay, "\(complete)?preview=true", ["user": "another-user", "replace": true])
      #expect(replaced.json["changes"]?.text.contains("another-user") == true)
      let all: JSONValue = ["filter": "state=failed&app=shop", "rate": .number(0.01)]
      let slow = try post(relay, "/replay?preview=true", all)
      #expect(slow.json["text"]?.text.contains("At 0.01 a second it takes about") == true)
      let done = try post(relay, path, ["why": "a test"])
      #expect(done.status == 200)
      #expect(done.json == ["id": .string(id), "resource": "receipts"])
      try waitUntil("it is delivered") {
        try relay.read { try $0.receipt(id: ReceiptID(id)) }?.receipt?.state == .delivered
      }
      // A delivered one is only sent again with force, and with a reason.
      #expect(try post(relay, path, [:]).status == 409)
      #expect(try post(relay, path, ["force": true]).status == 400)

      let correct = "/receipts/\(id)/correct"
      let values: JSONValue = ["price": "price_of_a_test", "why": "a test"]
      let difference = try post(relay, "\(correct)?preview=true", values).json["changes"]
      #expect(difference?.text.contains("price_of_a_test") == true)
      #expect(try relay.read { try $0.audit(AuditFilter(), limit: 10) }.count == 1)
      #expect(try post(relay, correct, values).json["id"] == .string(id))

      let paused = try post(relay, "/apps/web/pause", ["for": "1h", "why": "a test"])
      #expect(paused.json == ["id": "web", "resource": "apps"])
      let group: JSONValue = ["app": "shop", "reason": "http_422", "owner": "anna", "why": "known"]
      #expect(try post(relay, "/failed/acknowledge", group).json["resource"] == "failed")
      let replay = try post(relay, "/replay", all)
      let job = try #require(replay.json["id"]?.stringValue)
      #expect(try post(relay, "/jobs/\(job)/cancel", ["why": "a test"]).status == 200)
      let audit = try relay.read { try $0.audit(AuditFilter(), limit: 20) }.map(\.entry)
      #expect(Set(audit.map(\.actor)) == ["api anna (127.0.0.1)"])
      #expect(
        audit.map(\.action) == [
          "jobs cancel", "receipts replay", "failures ack", "apps pause", "receipts correct",
          "receipts replay",
        ])
    }
  }

  @Test("An action that is not understood changes nothing, nor does a viewer's or another site's")
  func refusedActions() throws {
    try Relay.withPast(receipts: 20, failed: 5, admin: Roles.admin) { relay, _ in
      let json = ["Content-Type": "application/json"]
      for (path, body, name, headers, status) in [
        ("/apps/web/pause", ["why": "x"], "bob", json, 403),
        ("/apps/web/pause?preview=true", ["why": "x"], "bob", json, 403),
        ("/apps/web/pause", ["why": "x"], "anna", ["Content-Type": "text/plain"], 415),
        (
          "/apps/web/pause", ["why": "x"], "anna", json.merging(["Origin": "https://evil.example"]) { $1 },
          403
        ),
        ("/apps/web/pause", [:], "anna", json, 400), ("/apps/web/pause", ["why": ""], "anna", json, 400),
        ("/apps/web/pause", ["why": "x", "hours": 1], "anna", json, 400),
        ("/apps/web/pause", ["why": 1], "anna", json, 400), ("/apps/web/pause", [], "anna", json, 400),
        ("/apps/web/pause", ["why": "x", "for": "soon"], "anna", json, 400),
        ("/apps/none/pause", ["why": "x"], "anna", json, 404),
        ("/apps/web/pause?preview=maybe", ["why": "x"], "anna", json, 400),
        ("/apps/web/pause", ["why": .string(String(repeating: "x", count: 20_000))], "anna", json, 413),
        ("/replay", ["filter": "state=failed&ap=shop"], "anna", json, 400),
        ("/replay", ["filter": "app=shop"], "anna", json, 400),
      ] as [(String, JSONValue, String, [String: String], Int)] {
        let reply = try post(relay, path, body, name, headers: headers)
        #expect(reply.status == status, "\(path)")
      }
      #expect(try relay.read { try $0.audit(AuditFilter(), limit: 10) }.isEmpty)
      #expect(try relay.read { try $0.pauses() }.isEmpty)
    }
  }

  @Test func `The description names each operation, its filters and its columns`() throws {
    try withRelay(top: ["admin": Roles.admin]) { relay, _ in
      let document = try get(relay, "/openapi.json")
      #expect(document["openapi"] == "3.1.0")
      guard case .object(let paths)? = document["paths"] else {
        Issue.record("no paths")
        return
      }
      #expect(Set(paths.map(\.name)).count == paths.count)
      let receipts = try #require(document["paths"]?["/receipts"]?["get"])
      #expect(receipts["parameters"]?.text.contains(#""name":"import_id""#) == true)
      #expect(receipts["responses"]?.text.contains(#""delivered_at""#) == true)
      let cancel = document["paths"]?["/receipts/{receipt}/cancel"]?["post"]?["requestBody"]
      #expect(cancel?.text.contains(#""required":["why"]"#) == true)
      let rate = document["paths"]?["/jobs/{job}/rate"]?["post"]?["requestBody"]
      #expect(rate?.text.contains(#""required":["rate"]"#) == true)
      #expect(document["paths"]?["/failed"]?["get"]?["parameters"]?.text.contains("limit") == false)
    }
  }
}
