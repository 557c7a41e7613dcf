// The return page (SC24, PL24): its text in each state and language, and its links.

import Domain
import Platform
import SQLiteStore
import Store
import Testing

@testable import HTTPServer
@testable import Web

@Suite("The return page") struct ReturnPageTests {
  typealias Bed = ReturnPageBed

  @Test func `Every state has its text in every language, in less than 12 kB (SC24, PL24)`() throws {
    let bed = try Bed()
    let checkouts = try bed.everyState()
    #expect(checkouts.count == ReturnOutcome.allCases.count - 1, "all but a store that cannot be read")
    for (outcome, query) in checkouts {
      for language in PageLanguage.allCases {
        let page = try bed.page(query, language: language.tag)
        let message = language.words[outcome]
        let heading = message.heading.text(app: "Example")
        #expect(page.reply.status == 200, "\(outcome) \(language)")
        #expect(page.markup.utf8.count < 12_000, "\(outcome) \(language)")
        let direction = [.ar, .he].contains(language) ? " dir=\"rtl\"" : ""
        #expect(page.markup.contains("<html lang=\"\(language.tag)\"\(direction)>"))
        #expect(page.heading == heading, "\(outcome) \(language)")
        #expect(page.title == "\(heading) · Example", "\(outcome) \(language)")
        #expect(page.text.contains(message.text.text(app: "Example")), "\(outcome) \(language)")
        #expect(page.text.contains(language.words[.updatesItself].text) == outcome.isUnderWay)
        #expect((page.refreshSeconds != nil) == outcome.isUnderWay, "\(outcome)")
        #expect(page.reply.header("Content-Language") == language.tag)
      }
    }
  }

  @Test func `The query does not change a known state (PL24)`() throws {
    let bed = try Bed()
    for (outcome, query) in try bed.everyState() where outcome != .waiting && outcome != .noPaymentYet {
      let said = try bed.page(query).text
      for claim in ["success", "cancel", "paid", "<b>"] {
        #expect(try bed.page(query + "&result=\(claim)").text == said, "\(outcome)")
      }
    }
    let id = try bed.bench.post(100)
    let open = "?context_id=\(id)"
    let words = PageLanguage.en.words
    let cancelled = try bed.page(open + "&result=cancel").heading
    #expect(cancelled == words[.noPaymentYet].heading.text(app: "Example"))
    for query in ["", "&result=success", "&result=nonsense", "&result=%FF"] {
      #expect(try bed.page(open + query).heading == words[.waiting].heading.text(app: "Example"))
    }
    for query in [open, open + "&result=success", open + "&result=cancel"] {
      let text = try bed.page(query).text
      #expect(!text.contains("received and"), "nothing that is not known")
      #expect(!text.contains("Thank"), "nothing that is not known")
    }
  }

  @Test func `Any query gets the page, and nothing of the query is on it`() throws {
    let bed = try Bed()
    let hostile = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
    let queries = [
      "", "?", "?context_id=", "?context_id=ctx_1", "?context_id=\(hostile)", "?context_id=%FF", "?%",
      "?session_id=\(hostile)", "?session_id=cs_", "?session_id=cs_a%22b", "?session_id=cs_a%0d%0aX:y",
      "?session_id={CHECKOUT_SESSION_ID}", "?session_id=cs_" + String(repeating: "a", count: 300),
      "?context_id=ctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ%3B", "?result=\(hostile)&\(hostile)=\(hostile)",
      "?context_id[]=ctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ",
    ]
    let plain = try bed.page("")
    for query in queries {
      let page = try bed.page(query)
      #expect(page.reply.status == 200, "\(query)")
      #expect(page.markup == plain.markup, "\(query)")
    }
    #expect(plain.heading == "Your way back to Example")
    #expect(plain.refreshSeconds == nil)
    #expect(plain.links[0] == "https://pay.example.com/v1/shop/return")
  }

  @Test func `It shows no personal data, and ids only in the links back`() throws {
    let bed = try Bed()
    for (outcome, query) in try bed.everyState() {
      let page = try bed.page(query)
      for secret in ["user-", "ctx_", "cs_", "sub_", "rcp_", "price_", "blob", "http_422", "operator"] {
        #expect(!page.text.contains(secret), "\(outcome): \(secret)")
      }
    }
  }

  @Test func `A checkout is found by its session, only by its own app`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    let words = PageLanguage.en.words
    func heading(_ query: String, app: String = "shop") throws -> String {
      try bed.page(query, app: app).heading
    }
    // Before the first event the checkout counts as open, and the page refreshes.
    let before = try bed.page("?session_id=cs_test_1&result=success")
    #expect(before.heading == words[.waiting].heading.text(app: "Example"))
    #expect(before.refreshSeconds == 10)
    try bed.buy(1, .paid)
    let after = try bed.page("?session_id=cs_test_1")
    #expect(after.heading == words[.paid].heading.text(app: "Example"))
    #expect(after.links[0] == "https://pay.example.com/v1/shop/return?context_id=\(id)")
    // A known context takes precedence over the session; an unknown one does not hide the session.
    #expect(try heading("?context_id=\(id)&session_id=cs_none") == after.heading)
    let other = "ctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ"
    #expect(try heading("?session_id=cs_test_1&context_id=\(other)") == after.heading)
    // Another app's ids are unknown.
    for query in ["?context_id=\(id)", "?context_id=\(other)"] {
      #expect(try bed.page(query, app: "other").heading == words[.unknown].heading.text(app: "other"))
    }
    #expect(
      try heading("?session_id=cs_test_1", app: "other") == heading("?session_id=cs_test_9", app: "other"))
  }

  @Test func `CA30: Afterpay's order token shows the state of its payment, and leads back with it`() throws {
    let bed = try Bed()
    let words = PageLanguage.en.words
    func heading(_ query: String, app: String = "shop") throws -> String {
      try bed.page(query, app: app).heading
    }
    func shown(_ outcome: ReturnOutcome, app: String = "Example") -> String {
      words[outcome].heading.text(app: app)
    }
    let (token, query) = ("005.2fkv5o963b132z8ppa34", "?status=SUCCESS&orderToken=005.2fkv5o963b132z8ppa34")
    func report(_ observations: Observations, by user: UserID? = nil) throws {
      let said = PurchaseReport(
        key: PurchaseKey(processor: "afterpay", type: "payment", id: ObjectID(token)),
        observations: observations, startedBy: user,
        happenedAt: Timestamp(unixMilliseconds: bed.clock.wallMilliseconds))
      try bed.bench.store(StorePayment(app: "shop", said))
    }
    #expect(try heading(query) == shown(.unknown))
    try report(.started, by: "u1")
    #expect(try heading(query) == shown(.waiting))
    #expect(try heading("?status=CANCELLED&orderToken=\(token)") == shown(.noPaymentYet))
    #expect(try heading(query, app: "other") == shown(.unknown, app: "other"))
    #expect(try bed.page(query).links[0] == "https://pay.example.com/v1/shop/return?orderToken=\(token)")
    try report(.paid)
    #expect(try heading(query) == shown(.paid))
    // What the address says of the outcome decides nothing.
    #expect(try heading("?status=DECLINED&orderToken=\(token)") == shown(.paid))
    #expect(try heading("?orderToken=\(token)%2F..") == shown(.unknown))
  }

  @Test("With a context and a session the paid one decides: who paid never reads \"expired, start again\"")
  func paidDecides() throws {
    let bed = try Bed()
    let expired = try bed.bench.post(1)
    bed.clock.advance(.milliseconds(86_400_001))
    let words = PageLanguage.en.words
    func heading(_ outcome: ReturnOutcome) -> String { words[outcome].heading.text(app: "Example") }
    #expect(try bed.page("?context_id=\(expired)").heading == heading(.expired))
    let both = "?context_id=\(expired)&session_id=cs_test_2"
    // The customer is back before the first event of the session.
    let early = try bed.page(both)
    #expect(early.heading == heading(.waiting))
    #expect(early.links[0] == "https://pay.example.com/v1/shop/return?session_id=cs_test_2")
    // Another identity of the customer pays in the session.
    try bed.buy(2, .promised)
    #expect(try bed.page(both).heading == heading(.underWay))
    try bed.buy(2, .paid, event: "b")
    let paid = try bed.page(both)
    #expect(paid.heading == heading(.paid))
    #expect(paid.links[0] == "https://pay.example.com/v1/shop/return?session_id=cs_test_2")
    // The paid context decides, too, if it is the session that ended.
    let context = try bed.bench.post(3)
    try bed.buy(3, .paid)
    try bed.buy(4, .expired)
    #expect(try bed.page("?context_id=\(context)&session_id=cs_test_4").heading == heading(.paid))
    // Nothing was paid: the context that waits for the next attempt counts.
    let open = try bed.bench.post(5)
    #expect(try bed.page("?context_id=\(open)&session_id=cs_test_4").heading == heading(.waiting))
    #expect(try bed.page("?context_id=\(expired)&session_id=cs_test_4").heading == heading(.expired))
  }

  @Test func `The page is brought up to date less often with the age of its checkout`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    var paces: [Int?] = []
    for milliseconds: Int64 in [0, 120_000, 480_000, 3_000_000] {
      bed.clock.advance(.milliseconds(milliseconds))
      paces.append(try bed.page("?context_id=\(id)").refreshSeconds)
    }
    #expect(paces == [3, 5, 15, 60])
    // A repeated context starts a new checkout.
    try bed.bench.post(1)
    #expect(try bed.page("?context_id=\(id)").refreshSeconds == 3)
    #expect(ReturnPage.refreshSeconds(age: .milliseconds(-5)) == 3)
  }

  @Test("The same request gives the same answer, HEAD gives its head, and nothing is written (SC16, SC17)")
  func idempotent() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    let before = try bed.bench.reader.contexts(ContextFilter(), now: bed.bench.now, limit: 10)
    let first = try bed.page("?context_id=\(id)")
    let second = try bed.page("?context_id=\(id)")
    #expect(first.markup == second.markup)
    #expect(first.stableHead == second.stableHead)
    let head = try bed.page("?context_id=\(id)", method: "HEAD")
    #expect(head.markup.isEmpty)
    #expect(head.stableHead == first.stableHead)
    #expect(try bed.bench.reader.contexts(ContextFilter(), now: bed.bench.now, limit: 10) == before)
    let posted = try bed.page("?context_id=\(id)", method: "POST")
    #expect(posted.reply.status == 405)
    #expect(posted.reply.header("Allow") == "GET, HEAD")
  }

  @Test func `The headers forbid loading, caching and referrers (SC18)`() throws {
    let bed = try Bed()
    let reply = try bed.page("").reply
    #expect(reply.header("Content-Type") == "text/html; charset=utf-8")
    #expect(reply.header("Cache-Control") == "no-store")
    #expect(reply.header("Set-Cookie") == nil)
    #expect(reply.header("X-Content-Type-Options") == "nosniff")
    #expect(reply.header("Referrer-Policy") == "no-referrer")
    #expect(reply.header("Vary") == "Accept-Language, User-Agent")
    let policy = try #require(reply.header("Content-Security-Policy"))
    for directive in ["default-src 'none'", "style-src 'sha256-", "frame-ancestors 'none'"] {
      #expect(policy.contains(directive))
    }
    #expect(!policy.contains("unsafe-inline"))
    #expect(!policy.contains("script-src"))
    #expect(try bed.page("").markup.contains("<meta name=\"robots\" content=\"noindex, nofollow\">"))
  }

  @Test func `An app without links has no such page`() throws {
    let bench = try Bench([Bench.app()], isStarted: false)
    let server = try bench.serve()
    let client = try RawClient(port: server.port)
    try client.get("/v1/shop/return")
    let reply = try client.reply()
    #expect(reply.status == 404)
    #expect(reply.header("Content-Type") == "application/problem+json")
  }

  @Test func `If the store cannot be read, the page says so, and tries again`() throws {
    let bed = try Bed()
    let query = "?context_id=\(try bed.bench.post(1))"
    #expect(try bed.page(query).reply.status == 200)
    let connection = try Connection(path: bed.bench.path, mode: .readWrite, busyTimeout: .seconds(5))
    try connection.execute("ALTER TABLE contexts RENAME TO away")
    let page = try bed.page(query, language: "de")
    #expect(page.reply.status == 503)
    #expect(page.reply.header("Retry-After") != nil)
    #expect(page.heading == "Einen Moment, bitte")
    #expect(page.refreshSeconds != nil)
    #expect(page.reply.header("Content-Type") == "text/html; charset=utf-8")
  }
}
