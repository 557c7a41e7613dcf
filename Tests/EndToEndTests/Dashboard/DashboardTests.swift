// The dashboard over real sockets: its pages, its refusals, and its logins.

import Domain
import Formats
import Glibc
import HTTPServer
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DashboardTests {
  private func failed(_ relay: Relay) throws -> String {
    var filter = ReceiptFilter()
    filter.reason = "http_422"
    let wanted = filter
    return try #require(try relay.read { try $0.outlines(wanted, limit: 1) }.first?.id.text)
  }

  @Test(
    "Each page is HTML that loads nothing from other hosts and cannot be framed, for GET and HEAD")
  func pages() throws {
    try Relay.withPast(receipts: 300, failed: 50) { relay, _ in
      let id = try failed(relay)
      for path in [
        "/", "/receipts", "/receipts?app=shop&state=failed&reason=http_422&since=24h", "/receipts/\(id)",
        "/receipts/\(id)/replay", "/receipts/\(id)/cancel", "/failed",
        "/failed/replay?app=shop&reason=http_422",
        "/event?id=evt_77", "/events", "/events?app=shop&outcome=receipt&since=24h", "/jobs", "/audit",
        "/find", "/find?q=user-7",
        "/receipts?user=user-7&object=sub_7",
      ] {
        let reply = try relay.admin.request("GET", path)
        #expect(reply.status == 200, "\(path)")
        #expect(reply.header("Content-Type") == "text/html; charset=utf-8", "\(path)")
        #expect(reply.header("Content-Security-Policy")?.hasPrefix("default-src 'none'; style-src") == true)
        #expect(reply.header("Cache-Control") == "no-store")
        #expect(reply.header("X-Frame-Options") == "DENY")
        #expect(reply.header("X-Content-Type-Options") == "nosniff")
        #expect(reply.header("X-Request-Id") != nil)
        #expect(!reply.text.contains("<script"), "\(path)")
        #expect(!reply.text.contains("onerror=\"document"), "\(path)")
        let head = try relay.admin.request("HEAD", path)
        #expect(head.status == 200, "\(path)")
        #expect(head.body.isEmpty, "\(path)")
      }
      let style = try relay.admin.request("GET", "/style.css")
      let tag = try #require(style.header("ETag"))
      #expect(style.status == 200)
      #expect(style.header("Content-Type")?.hasPrefix("text/css") == true)
      #expect(try relay.admin.request("GET", "/style.css", headers: ["If-None-Match": tag]).status == 304)
    }
  }

  @Test(
    "An invalid filter is 400 with its form, an unknown item 404, a wrong method 405")
  func astray() throws {
    try Relay.withPast(receipts: 20, failed: 5) { relay, _ in
      let none = "rcp_\(String(repeating: "0", count: 26))"
      let cases: [(Int, String, String)] = [
        (400, "GET", "/receipts?state=sold"), (400, "GET", "/receipts?since=yesterday"),
        (400, "GET", "/receipts?after=1"), (400, "GET", "/receipts?user=%zz"),
        (400, "GET", "/receipts?user=%00"),
        (400, "GET", "/receipts?app=\(String(repeating: "a", count: 256))"), (400, "GET", "/audit?after=x"),
        (400, "GET", "/failed/replay"), (404, "GET", "/receipts/\(none)"), (404, "GET", "/receipts/x"),
        (404, "GET", "/receipts/\(none)/replay"), (404, "GET", "/receipts/"), (404, "GET", "//"),
        (404, "GET", "/event?id=none"), (404, "GET", "/failed/replay?app=shop&reason=session_expired"),
        (400, "GET", "/failed/replay?app=shop&reason=none"), (400, "GET", "/receipts?reason=422"),
        (404, "GET", "/jobs/job_\(String(repeating: "0", count: 26))"), (404, "GET", "/v1/shop/contexts"),
        (405, "POST", "/"), (405, "DELETE", "/receipts"), (405, "PUT", "/receipts/\(none)/replay"),
        (405, "POST", "/metrics"),
      ]
      for (status, method, path) in cases {
        let reply = try relay.admin.request(method, path, body: method == "POST" ? [] : nil)
        #expect(reply.status == status, "\(method) \(path): \(reply.status)")
      }
      let reply = try relay.admin.request("GET", "/receipts?state=sold&user=jdo-1")
      #expect(reply.text.contains("State must be one of waiting, pending"))
      #expect(reply.text.contains(#"name="state" aria-invalid="true" aria-describedby="complaint""#))
      #expect(reply.text.contains(#"name="user" type="text" value="jdo-1""#), "what was typed stays")
      #expect(reply.text.matches(of: /aria-invalid/).count == 1)
      #expect(reply.header("Content-Type")?.hasPrefix("text/html") == true)
      #expect(try relay.admin.request("GET", "/receipts?reason=422").text.contains("did you mean http_422?"))
      let nowhere = try relay.admin.request("GET", "/nowhere").text
      #expect(nowhere.contains("There is no such page."))
      #expect(nowhere.contains("The box at the top finds receipts"))
    }
  }

  @Test func `A list continues after its last receipt, to the end and without a repeat`() throws {
    try Relay.withPast(receipts: 120, failed: 5) { relay, _ in
      let ofReceipt = try Regex("href=\"/receipts/(rcp_\\w+)\"", as: (Substring, Substring).self)
      let ofNext = try Regex("class=\"next\" href=\"([^\"]+)\"", as: (Substring, Substring).self)
      var path = "/receipts?app=shop"
      var seen: [Substring] = []
      while true {
        let text = try relay.admin.request("GET", path).text
        seen += text.matches(of: ofReceipt).map(\.1)
        guard let next = text.firstMatch(of: ofNext)?.1 else { break }
        path = String(next).replacing("&amp;", with: "&")
      }
      #expect(seen.count == 120)
      #expect(Set(seen).count == 120)
    }
  }

  @Test("A form is accepted only from the dashboard's own page, and its change is in the audit")
  func forms() throws {
    try Relay.withPast(receipts: 100, failed: 50) { relay, destination in
      let id = try failed(relay)
      let path = "/receipts/\(id)/replay"
      let token = try #require(try relay.admin.request("GET", path).field("token"))
      func post(_ fields: [String: String], _ headers: [String: String] = [:], to other: String? = nil) throws
        -> Reply
      {
        try relay.postForm(other ?? path, fields, headers: headers)
      }
      #expect(try post([:]).status == 403)
      #expect(try post(["token": String(token.reversed())]).status == 403)
      #expect(try post(["token": token], ["Origin": "https://evil.example"]).status == 403)
      #expect(try post(["token": token], ["Origin": "null"]).status == 403)
      #expect(try post(["token": token], ["Sec-Fetch-Site": "cross-site"]).status == 403)
      #expect(try post(["token": token], ["Content-Type": "text/plain"]).status == 415)
      #expect(try post(["token": token, "why": "x"], to: "/receipts/\(id)/cancel").status == 403)
      #expect(try relay.read { try $0.audit(AuditFilter(), limit: 10) }.isEmpty)
      #expect(destination.ledger.filter { $0.head.query == nil }.isEmpty, "nothing was sent")

      let done = try post(["token": token], ["Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"])
      #expect(done.status == 303)
      #expect(done.header("Location") == "/receipts/\(id)?done=replay")
      try waitUntil("it is delivered") {
        try relay.read { try $0.receipt(id: ReceiptID(id)) }?.receipt?.state == .delivered
      }
      #expect(try relay.read { try $0.audit(AuditFilter(), limit: 10) }.map(\.entry.subject) == [id])

      // A second delivery needs a confirmation in words, which names the consequence.
      let again = try relay.admin.request("GET", path)
      #expect(again.text.contains("will receive it twice"))
      #expect(again.field("force") == "yes")
      #expect(try post(["token": token, "force": "yes"]).status == 400)
      #expect(try post(["token": token]).status == 409)
      let question = try relay.admin.request("GET", "/receipts/\(id)/cancel")
      #expect(question.text.contains("class=\"danger\">Cancel receipt"))
      let cancel = try #require(question.field("token"))
      #expect(try post(["token": cancel, "why": "no"], to: "/receipts/\(id)/cancel").status == 409)
    }
  }

  @Test("An unpaid receipt is sent only after a warning, one without its subscription not at all")
  func incomplete() throws {
    try withRelay { relay, _ in
      let unpaid = Checkout("unpaid")
      try relay.ingest(unpaid.completed.merging(["data": ["object": ["payment_status": "unpaid"]]]))
      let promised = try relay.reaches(.waiting, unpaid.subscription)
      let page = try relay.admin.request("GET", "/receipts/\(promised.id)").text
      #expect(page.contains("Replay…"))
      let question = try relay.admin.request("GET", "/receipts/\(promised.id)/replay").text
      #expect(question.contains("It is not paid"))
      #expect(!question.contains("the same bytes as before"))

      let unnamed = Checkout("unnamed")
      try relay.ingest(unnamed.sessionEvent("completed", ["subscription": .null]))
      let waiting = try relay.reaches(.waiting, unnamed.session)
      #expect(waiting.reason == .subscription)
      let other = try relay.admin.request("GET", "/receipts/\(waiting.id)").text
      #expect(!other.contains("Replay…"))
      #expect(other.contains("Cancel receipt…"))
    }
  }

  @Test func `With a password only probes are served without it, and guessing is limited`() throws {
    let secret = "a password with a colon: and ü"
    let admin: JSONValue = ["address": "127.0.0.1", "port": 0, "password": .string(secret)]
    try withRelay(top: ["admin": admin]) { relay, _ in
      func basic(_ user: String, _ password: String) -> [String: String] {
        ["Authorization": "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))"]
      }
      for path in ["/healthz", "/readyz"] { #expect(try relay.admin.request("GET", path).status == 200) }
      for path in ["/", "/metrics", "/receipts", "/style.css", "/nothing", "/failed/replay"] {
        let reply = try relay.admin.request("GET", path)
        #expect(reply.status == 401)
        #expect(reply.header("WWW-Authenticate")?.hasPrefix("Basic realm=") == true)
        #expect(!reply.text.contains("shop"))
        #expect(try relay.admin.request("GET", path, headers: basic("anna", secret)).status != 401)
      }
      let named = ["Host": "relay.example.com"].merging(basic("anna", secret)) { $1 }
      let wire = try Wire(relay.admin.port)
      let lines = named.map { "\($0.key): \($0.value)\r\n" }.joined()
      try wire.send("GET / HTTP/1.1\r\n\(lines)\r\n")
      #expect(try wire.reply().status == 200, "a name is fine where a password is asked for")
      for header in ["Basic", "Basic !", "Bearer x", "Basic \(Base64.encode(Array(secret.utf8)))"] {
        #expect(try relay.admin.request("GET", "/", headers: ["Authorization": header]).status == 401)
      }
      let login = try relay.admin.request("GET", "/", headers: basic("anna", secret)).header("Set-Cookie")
      let cookie = ["Cookie": String(try #require(login).prefix { $0 != ";" })]
      var answers: [Int] = []
      while answers.count < 20, answers.last != 429 {
        answers.append(try relay.admin.request("GET", "/", headers: basic("anna", "wrong")).status)
      }
      #expect(answers.last == 429)
      let waiting = try relay.admin.request("GET", "/", headers: basic("anna", "wrong"))
      #expect(waiting.status == 429)
      #expect(waiting.header("Retry-After") != nil)
      // Failed guesses do not lock out a browser that logged in before; the right password is not told from
      // others.
      #expect(try relay.admin.request("GET", "/", headers: basic("anna", secret)).status == 429)
      let browser = basic("anna", secret).merging(cookie) { $1 }
      #expect(try relay.admin.request("GET", "/", headers: browser).status == 200)
      #expect(try relay.admin.request("GET", "/healthz").status == 200)
      var elsewhere = relay.admin
      elsewhere.source = 2
      #expect(try elsewhere.request("GET", "/", headers: basic("anna", secret)).status == 200)
      #expect(!relay.log.contains(secret))
    }
  }

  @Test func `Without a password a request under another host name is refused (DNS rebinding)`() throws {
    try withRelay { relay, _ in
      func status(_ host: String, _ path: String = "/") throws -> Int {
        let wire = try Wire(relay.admin.port)
        try wire.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        return try wire.reply().status
      }
      for host in ["127.0.0.1:8081", "localhost", "LOCALHOST:1", "[::1]:8081", "[::1]"] {
        let code = try status(host)
        #expect(code == 200, "\(host)")
      }
      for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[evil]", "1"] {
        let codes = try ["/", "/metrics", "/healthz"].map { path in try status(host, path) }
        #expect(codes == [421, 421, 200], "\(host)")
      }
    }
  }

  @Test("Without a password receiptd does not start on a reachable address, and names the remedy")
  func openDoor() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination, top: ["admin": ["address": "0.0.0.0", "port": 0]])
    try relay.writeConfiguration()
    for arguments in [["--check"], []] {
      let (code, output) = try relay.runAgain(arguments)
      #expect(code == 78)
      #expect(output.contains("admin.password: is missing"))
      #expect(output.contains("admin.socket"))
    }
  }

  @Test func `On a Unix socket the owner and the group have access, and a stale socket is replaced`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    let path = relay.directory.file("admin.sock")
    relay.configuration = .object(
      (try #require(relay.configuration.membersForTest)).filter { $0.name != "admin" }
        + [.init(name: "admin", value: ["socket": .string(path)])])
    func status(_ target: String) throws -> Int {
      let wire = try Wire(socketPath: path)
      try wire.send("GET \(target) HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n")
      return try wire.reply().status
    }
    for _ in 0..<2 {
      let process = try relay.launch()
      try waitUntil("the socket answers") { (try? status("/readyz")) == 200 }
      let codes = try ["/", "/metrics"].map { target in try status(target) }
      #expect(codes == [200, 200])
      var entry = stat()
      #expect(unsafe lstat(path, &entry) == 0)
      #expect(entry.st_mode & 0o777 == 0o660)
      // After a kill its socket file stays.
      process.send(SIGKILL)
      _ = try process.end()
      #expect(unsafe access(path, F_OK) == 0)
    }
    try relay.launch()
    try waitUntil("the socket answers") { (try? status("/readyz")) == 200 }
    #expect(try relay.stop() == 0)
    #expect(unsafe access(path, F_OK) != 0, "an orderly stop takes the file away")
    try relay.directory.write("mine", to: "admin.sock")
    let (code, output) = try relay.runAgain()
    #expect(code == 69)
    #expect(output.contains("is not a socket"))
    #expect(TextFile.read(path) == "mine")
  }
}

extension JSONValue {
  fileprivate var membersForTest: [Member]? { if case .object(let members) = self { members } else { nil } }
}
