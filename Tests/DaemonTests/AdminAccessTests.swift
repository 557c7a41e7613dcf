// Access to the admin listener, and parsing of receipt searches, without a socket.

import Cryptography
import Domain
import Formats
import HTTPServer
import Platform
import Store
import Testing

@testable import Config
@testable import Daemon
@testable import SQLiteStore
@testable import Service
@testable import Web

@Suite("Admin access") struct AdminAccessTests {
  @Test(
    "Only numeric addresses and localhost are names of this machine",
    arguments: [
      ("127.0.0.1", true), ("127.0.0.1:8081", true), ("localhost", true), ("LocalHost:80", true),
      ("[::1]:8081", true), ("[::1]", true), ("192.0.2.1", true), (nil, false), ("", false),
      ("[::1]evil", false), ("[127.0.0.1]", false), ("::1", false), ("localhost.", false), ("a", false),
      ("127.0.0.1.example.com", false), ("127.1", false), ("0x7f000001", false), ("[", false),
    ] as [(String?, Bool)])
  func hosts(host: String?, isLocal: Bool) { #expect(AdminAccess.isLocalHost(host) == isLocal) }

  @Test func `Basic credentials are a user and a password with any colons; other values are refused`() {
    let found = AdminAccess.credentials("bAsIc YW5uYTphOmI=")
    #expect(found?.user == "anna")
    #expect(found?.password == Array("a:b".utf8))
    #expect(AdminAccess.credentials("Basic Og==")?.password == [])
    for field in [
      nil, "", "Basic", "Basic YW5uYQ==", "Basic !!!!", "Bearer YW5uYTphOmI=", "Basic /zo6",
      "Basic " + String(repeating: "A", count: 9000),
    ] {
      #expect(AdminAccess.credentials(field) == nil, "\(field ?? "nothing")")
    }
  }

  @Test func `Wrong passwords are counted for a minute, by address, in a bounded table`() {
    let clock = ManualClock()
    let failures = FailedLogins(clock: clock)
    // Attempts with the right password do not count.
    for _ in 0..<(2 * FailedLogins.perMinuteMax) {
      #expect(failures.begin("a") == nil)
      failures.forgive("a")
    }
    for _ in 0..<FailedLogins.perMinuteMax { #expect(failures.begin("a") == nil) }
    #expect(failures.begin("a") == 61)
    #expect(failures.begin("b") == nil)
    for number in 0..<(3 * FailedLogins.addressesMax) { _ = failures.begin("address \(number)") }
    #expect(failures.addressCount <= FailedLogins.addressesMax)
    clock.advance(.seconds(60))
    #expect(failures.begin("a") == nil)
  }

  /// Asks with a password.
  private static func ask(
    _ access: AdminAccess, _ password: String, user: String = "anna", cookie: String? = nil,
    from address: String = "10.0.0.1"
  ) -> Result<Visitor, Problem> {
    let field = "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
    let cookies = cookie.map { [(name: "Cookie", value: "a=b; \($0)")] } ?? []
    return access.visitor(
      RequestSamples.head("GET", "/", [("Authorization", field)] + cookies, from: address))
  }

  private static func cookie(_ result: Result<Visitor, Problem>) throws -> String? {
    let fields = try result.get().fields
    let field = fields.first { $0.name == "Set-Cookie" }?.value
    if let field { #expect(field.contains("; HttpOnly; SameSite=Strict")) }
    return field.map { String($0.prefix { $0 != ";" }) }
  }

  private static let key = [UInt8](repeating: 7, count: 32)

  @Test(
    "An address over the limit of wrong passwords gets the same answer to the right one, also after a login")
  func guessing() throws {
    let clock = ManualClock()
    let access = try AdminAccess(.init(password: Secret("right")), key: AdminKey(Self.key), clock: clock)
    let cookie = try #require(try Self.cookie(Self.ask(access, "right")))
    for address in ["10.0.0.1", "10.0.0.2"] {
      for _ in 0..<FailedLogins.perMinuteMax {
        #expect(Self.ask(access, "wrong", from: address).refusal == .passwordNeeded)
      }
      for password in ["wrong", "right"] {
        #expect(Self.ask(access, password, from: address).refusal == .tooManyLogins(61))
      }
    }
    // Only a browser that logged in before is let in, from any address.
    #expect(Self.ask(access, "right", cookie: cookie).refusal == nil)
    #expect(Self.ask(access, "right", cookie: cookie, from: "10.0.0.2").refusal == nil)
    clock.advance(.seconds(60))
    #expect(Self.ask(access, "right", from: "10.0.0.2").refusal == nil)
  }

  @Test("Without the database's key no cookie is given and no form accepted, until it can be read")
  func unreadKey() throws {
    let bench = try Bench([Bench.app()], isStarted: false)
    let stored = try bench.reader.adminKey()
    let file = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(1))
    try file.execute("DELETE FROM admin_key")
    let key = AdminKey(try StoreReader(path: bench.path))
    let access = try AdminAccess(.init(password: Secret("right")), key: key, clock: ManualClock())
    let login = Self.ask(access, "right")
    #expect(login.refusal == nil)
    #expect(try Self.cookie(login) == nil)
    let tokens = FormTokens(key: key)
    #expect(tokens.token(for: "replay rcp_1").isEmpty)
    #expect(!tokens.accepts("", for: "replay rcp_1"))
    try file.execute("INSERT INTO admin_key (row_id, key) VALUES (1, x'\(Hex.encode(stored))')")
    #expect(try Self.cookie(Self.ask(access, "right")) != nil)
    #expect(tokens.accepts(tokens.token(for: "replay rcp_1"), for: "replay rcp_1"))
  }

  @Test("A login's cookie is for one user, one password and one database, and ends after a week")
  func cookies() throws {
    let clock = ManualClock()
    func access(_ password: String = "right", key: [UInt8] = Self.key) throws -> AdminAccess {
      let access = try AdminAccess(.init(password: Secret(password)), key: AdminKey(key), clock: clock)
      for _ in 0..<FailedLogins.perMinuteMax { _ = Self.ask(access, "wrong") }
      return access
    }
    let login = try AdminAccess(.init(password: Secret("right")), key: AdminKey(Self.key), clock: clock)
    let cookie = try #require(try Self.cookie(Self.ask(login, "right")))
    #expect(try Self.cookie(Self.ask(login, "right", cookie: cookie)) == nil, "it has one already")
    #expect(Self.ask(login, "wrong", cookie: cookie).refusal == .passwordNeeded, "a cookie is no password")
    #expect(Self.ask(try access(), "right", cookie: cookie).refusal == nil)
    for foreign in [
      Self.ask(try access(), "right", user: "bob", cookie: cookie),
      Self.ask(try access("other"), "other", cookie: cookie),
      Self.ask(try access(key: [1]), "right", cookie: cookie),
      Self.ask(try access(), "right", cookie: cookie + "0"),
      Self.ask(try access(), "right", cookie: cookie.replacing("=", with: "=9")),
      Self.ask(try access(), "right", cookie: "receiptd_login=."),
    ] {
      #expect(foreign.refusal == .tooManyLogins(61))
    }
    clock.advance(.seconds(7 * 86_400))
    #expect(Self.ask(try access(), "right", cookie: cookie).refusal == .tooManyLogins(61))
  }

  @Test func `A configured name has its own password only, and no other name's cookie`() throws {
    let access = try AdminAccess(
      .init(
        password: Secret("right"), viewers: [.init(name: "bob", password: Secret("bob's"))],
        operators: [.init(name: "olga", token: Secret("a token of olga"))]),
      key: AdminKey(Self.key), clock: ManualClock())
    let viewer = try Self.ask(access, "bob's", user: "bob").get()
    #expect(!viewer.mayChange)
    #expect(viewer.name == "dashboard bob (10.0.0.1)")
    let other = try Self.ask(access, "right", user: "anna").get()
    #expect(other.mayChange)
    #expect(other.name == #"dashboard "anna" (10.0.0.1)"#, "she is no user of the lists")
    #expect(Self.ask(access, "right", user: "bob").refusal == .passwordNeeded)
    // She has a token, but no password.
    #expect(Self.ask(access, "right", user: "olga").refusal == .passwordNeeded)
    #expect(Self.ask(access, "bob's", user: "anna").refusal == .passwordNeeded)
    let cookie = try #require(try Self.cookie(.success(viewer)))
    while Self.ask(access, "wrong").refusal == .passwordNeeded {}
    #expect(Self.ask(access, "bob's", user: "bob", cookie: cookie).refusal == nil)
    #expect(Self.ask(access, "right", user: "anna", cookie: cookie).refusal == .tooManyLogins(61))
  }

  @Test func `Paths for programs accept tokens only, which are not counted as guesses`() throws {
    let access = try AdminAccess(
      .init(password: Secret("right"), operators: [.init(name: "olga", token: Secret("a token of olga"))]),
      key: AdminKey(Self.key), clock: ManualClock())
    func ask(_ field: String, isProgram: Bool) -> Result<Visitor, Problem> {
      access.visitor(
        RequestSamples.head("GET", "/", [("Authorization", field)], from: "10.0.0.1"), isProgram: isProgram)
    }
    for _ in 0...FailedLogins.perMinuteMax {
      #expect(ask("Bearer a token of olg", isProgram: true).refusal == .tokenNeeded)
    }
    let program = try ask("bearer a token of olga", isProgram: true).get()
    #expect(program.name == "api olga (10.0.0.1)")
    #expect(try ask("Bearer a token of olga", isProgram: false).get().name == "dashboard olga (10.0.0.1)")
    let basic = "Basic " + Base64.encode(Array("anna:right".utf8))
    #expect(ask(basic, isProgram: true).refusal == .tokenNeeded)
    #expect(ask(basic, isProgram: false).refusal == nil)
  }

  @Test func `Only a trusted proxy may name the user, in one field`() throws {
    var admin = Configuration.Admin(
      viewers: [.init(name: "bob", password: Secret("bob's"))], operators: [.init(name: "olga")])
    admin.proxies = [try #require(AddressPrefix("10.0.0.1"))]
    let access = try AdminAccess(admin, key: AdminKey(Self.key), clock: ManualClock())
    func ask(_ names: [String], from address: String = "10.0.0.1") -> Result<Visitor, Problem> {
      access.visitor(
        RequestSamples.head("GET", "/", names.map { ("x-remote-user", $0) }, from: address))
    }
    #expect(try ask(["olga"]).get().mayChange)
    #expect(try !ask(["bob"]).get().mayChange)
    for names in [["eve"], ["Olga"], ["olga", "bob"], ["", "olga"], ["olga, bob"]] {
      #expect(ask(names).refusal == .notInLists, "\(names)")
    }
    #expect(ask([]).refusal == .passwordNeeded)
    #expect(ask([""]).refusal == .passwordNeeded)
    #expect(ask(["olga"], from: "10.0.0.2").refusal == .passwordNeeded)
    // A web page on this machine can send the name, but no Via.
    admin.proxies = [try #require(AddressPrefix("127.0.0.1"))]
    let local = try AdminAccess(admin, key: AdminKey(Self.key), clock: ManualClock())
    let page = RequestSamples.head("GET", "/", [("X-Remote-User", "olga")])
    #expect(local.visitor(page).refusal == .passwordNeeded)
    let proxied = RequestSamples.head("GET", "/", [("X-Remote-User", "olga"), ("Via", "1.1 nginx")])
    #expect(try local.visitor(proxied).get().mayChange)
    let program = RequestSamples.head("GET", "/api/v1/", [("X-Remote-User", "olga")], from: "10.0.0.1")
    #expect(access.visitor(program, isProgram: true).refusal == .tokenNeeded)
  }

  @Test func `Wrong passwords write at most one line a second, with a count`() throws {
    let clock = ManualClock()
    let lines = Monitor<[String]>([])
    let log = Log(level: .warning, clock: clock) { line in
      lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    let requestLog = RequestLog(log, clock: clock)
    for number in 0..<1000 { requestLog.refusedPassword(from: "192.0.2.\(number % 256)") }
    #expect(lines.withLock { $0.count } == 1)
    clock.advance(LogLimiter.pause)
    requestLog.refusedPassword(from: "192.0.2.1")
    #expect(lines.withLock { $0.last?.contains(" left_out=999") } == true)
    #expect(lines.withLock { $0.count } == 2)
  }

  @Test("A form's token is for one purpose, one user and one database, and says nothing about the password")
  func tokens() throws {
    let tokens = FormTokens(key: try AdminKey(Self.key))
    try check(tokens, FormTokens(key: AdminKey(Self.key)), FormTokens(key: AdminKey([1])))
    func bound(_ visitor: String, from address: String) -> FormTokens {
      tokens.bound(
        to: Visit(head: RequestSamples.head("GET", "/", from: address), visitor: visitor, parameters: []))
    }
    let anna = bound("dashboard anna (10.0.0.1)", from: "10.0.0.1")
    // The client's address may change between the page and its form.
    try check(
      anna, bound("dashboard anna (10.0.0.2)", from: "10.0.0.2"),
      bound("dashboard bob (10.0.0.1)", from: "10.0.0.1"))
    try check(
      bound("dashboard (uid 1)", from: "uid 1"), bound("dashboard (uid 1)", from: "uid 1"),
      bound("dashboard (uid 2)", from: "uid 2"))
  }

  @Test(
    "All relays on one database have the same random key for forms and cookies, and no other database has it")
  func key() throws {
    let (one, other) = (
      try Bench([Bench.app()], isStarted: false), try Bench([Bench.app()], isStarted: false)
    )
    let key = try one.reader.adminKey()
    #expect(key.count == 32)
    #expect(try StoreReader(path: one.path).adminKey() == key)
    #expect(try other.reader.adminKey() != key)
  }

  /// - Parameters:
  ///   - tokens: those of the page.
  ///   - same: those that accept its forms.
  ///   - others: those that do not.
  private func check(_ tokens: FormTokens, _ same: FormTokens, _ others: FormTokens) throws {
    let token = tokens.token(for: "replay rcp_1")
    #expect(tokens.accepts(token, for: "replay rcp_1"))
    #expect(same.accepts(token, for: "replay rcp_1"))
    #expect(!tokens.accepts(token, for: "cancel rcp_1"))
    #expect(!tokens.accepts(token, for: "replay rcp_2"))
    #expect(!others.accepts(token, for: "replay rcp_1"))
    #expect(!tokens.accepts(nil, for: "replay rcp_1"))
    #expect(!tokens.accepts("", for: "replay rcp_1"))
    #expect(!tokens.accepts(token + "0", for: "replay rcp_1"))
  }

  @Test func `A search keeps its filters from page to page, and ignores empty fields`() throws {
    let query = "app=shop&state=failed&reason=&user=a%26b%3D%22&object=&since=24h"
    let now = Timestamp(unixMilliseconds: 100_000_000)
    func search(_ query: String?) throws -> ListSearch<ReceiptFilter> {
      try ListSearch(query: query, now: now)
    }
    let found = try search(query)
    #expect(found["app"] == "shop")
    #expect(found.filter.state == .failed)
    #expect(found["reason"] == nil)
    #expect(found.filter.userID == "a&b=\"")
    #expect(!found.isCanonical, "it has empty fields")
    let id = "rcp_" + String(repeating: "0", count: 26)
    let next = found.link(after: id).text
    let expected = "/receipts?app=shop&state=failed&user=a%26b%3D%22&since=24h&after=\(id)"
    #expect(next == expected)
    let canonical = try search(String(next.dropFirst("/receipts?".count)))
    #expect(canonical.isCanonical)
    #expect(canonical.filter.since?.unixMilliseconds == 13_600_000)
    #expect(canonical.after == id)
    #expect(try !search(nil).isFiltered)
    #expect(try search(nil).isCanonical)
    #expect(found.isFiltered)
    #expect(throws: Fault.self) { try search("since=\(Int64.max)d") }
    #expect(try !search("state=failed&app=shop").isCanonical, "its fields are in another order")
    #expect(try !search("app=shop&app=web").isCanonical)
    let permanent = found.permanentLink(now: now).text
    #expect(
      permanent == "/receipts?app=shop&state=failed&user=a%26b%3D%22&since=1970-01-01T03%3A46%3A40.000Z"
        + "&until=1970-01-02T03%3A46%3A40.000Z")
  }

  @Test("`error` is another name of `cause`, which the URL has")
  func otherName() throws {
    let search = try ListSearch<ReceiptFilter>(query: "error=timeout", now: Timestamp(unixMilliseconds: 0))
    #expect(search.filter.cause == "timeout")
    #expect(search.link(after: nil).text == "/receipts?cause=timeout")
    #expect(throws: Fault.self) {
      try ListSearch<ReceiptFilter>(
        query: "cause=timeout&error=http_503", now: Timestamp(unixMilliseconds: 0))
    }
  }

  @Test func `Paths are matched whole`() throws {
    let bench = try Bench([Bench.app()], isStarted: false)
    let services = ListenerServices(metrics: bench.metrics, log: bench.log, clock: bench.clock)
    let health = HealthMonitor(
      readiness: bench.core.readiness,
      ledger: ConfigurationLedger(Configuration(database: .file(bench.path), apps: []), now: bench.now),
      metrics: bench.metrics, startedAt: bench.now, freeBytes: { nil })
    let table = RouteTable(
      Dashboard(
        services: services, apps: bench.core.apps, committer: bench.committer, health: health,
        tokens: FormTokens(key: try AdminKey(Self.key)),
        alerts: AlertFacts(troubles: { _, _, _, _, _ in [] }, digest: { _ in nil }),
        reader: try StoreReader(path: bench.path)
      ).routes)
    let id = "rcp_" + String(repeating: "0", count: 26)
    /// The path of the matching route that admits the request.
    func found(_ path: String) -> String? {
      guard case .route(let route, let parameters) = table.find(method: "GET", path: path) else { return nil }
      let visit = Visit(head: RequestSamples.head("GET", path), visitor: "", parameters: parameters)
      return (try? route.admit(visit)) == nil ? nil : route.path
    }
    #expect(found("/") == "/")
    #expect(found("/receipts/\(id)/cancel") == "/receipts/{receipt}/cancel")
    for path in [
      "", "//", "/x", "/healthz/", "/receipts/", "/receipts/\(id)/", "/receipts/\(id)/none", "receipts",
      "/receipts/../audit", "/Receipts", "/failed/replay/", "/jobs/\(id)",
    ] {
      #expect(found(path) == nil, "\(path)")
    }
  }

  @Test func `A chart shows a single failure beside any number of deliveries`() {
    let now = Timestamp(unixMilliseconds: 1_795_168_800_123)
    var counts = Array(repeating: DeliveryCount(delivered: 1_000_000, failed: 0), count: 24)
    counts[3].failed = 1
    counts[5].failed = 1000
    let markup = DeliveryChart(.day, counts, now: now).html.markup
    #expect(
      markup.contains(#"<rect class="bad" x="31" y="74" width="8" height="2">"#), "\(markup.prefix(900))")
    #expect(markup.matches(of: #/<rect class="good"/#).count == 24)
    #expect(!markup.contains("nan"))
    // The scale: the most delivered, and the most failed. There is no room for 0 beside the latter.
    #expect(markup.contains(#"<text x="56" y="8" text-anchor="end">1,000,000</text>"#))
    #expect(markup.contains(#"<text x="56" y="79" text-anchor="end">1,000</text>"#))
    #expect(!markup.contains(">0</text>"))
    let none = DeliveryChart(.week, [], now: now).html.markup
    #expect(none.contains("Nothing was delivered"))
    #expect(!none.contains("<svg"))
    let huge = Array(repeating: DeliveryCount(delivered: .max, failed: .max), count: 3)
    #expect(DeliveryChart(.day, huge, now: now).html.markup.contains("<svg"))
  }
}

extension Result where Success == Visitor, Failure == Problem {
  fileprivate var refusal: Problem? { if case .failure(let problem) = self { problem } else { nil } }
}
