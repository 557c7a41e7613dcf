// Tests of claims over HTTP: the offer on the return page, the link's page, and the app that brings the
// token.

import Domain
import Formats
import Store
import TestSupport
import Testing

@testable import Config
@testable import HTTPServer
@testable import Service
@testable import Web

@Suite("The routes of claims") struct ClaimRouteTests {
  /// A paid checkout `cs_test_1` of an app with links, which names no user.
  private final class Bed {
    let bench: Bench
    private let server: Server

    init(limits: Configuration.Limits = .init()) throws {
      var app = Bench.app(client: .keys([Secret("the-key")]))
      app.links = try ReturnPageBed.links()
      bench = try Bench([app, Bench.app("bare")])
      server = try bench.serve(limits: limits)
      for slug: AppSlug in ["shop", "bare"] {
        let report = PurchaseReport(
          key: PurchaseKey(type: .subscription, id: "sub_1"), sessionID: "cs_test_1", observations: .paid,
          prices: ["price_1"], happenedAt: bench.now)
        try bench.store(
          IngestEvent(
            app: slug, processor: "stripe", eventID: "evt_1", type: "test", body: Array("{}".utf8),
            content: .report(report, keep: true)))
      }
    }

    deinit { server.stop(grace: .zero) }

    func token(app: AppSlug = "shop") throws -> ClaimToken {
      let id = try #require(try bench.receipt(1, app: app)?.receiptID)
      let outcome = try bench.store(OfferClaim(id, app: app, origin: .operator, lifetime: .days(1)))
      guard case .offered(_, let token) = outcome else { throw NoToken() }
      return token
    }

    struct NoToken: Error {}

    func get(_ target: String, _ fields: String = "", method: String = "GET") throws -> RawClient.Reply {
      let client = try RawClient(port: server.port)
      try client.send("\(method) \(target) HTTP/1.1\r\nHost: test\r\n\(fields)Content-Length: 0\r\n\r\n")
      return try client.reply(hasBody: method != "HEAD")
    }

    static let key = "Authorization: Bearer the-key\r\n"

    func claim(
      _ token: String, by user: String = "u1", _ fields: String = key
    ) throws -> (status: Int, answer: JSONValue) {
      let client = try RawClient(port: server.port)
      try client.post("/v1/shop/users/\(user)/claims", "{\"token\":\"\(token)\"}", fields)
      let reply = try client.reply()
      return (reply.status, try JSONValue(parsing: reply.body))
    }

    func press(_ session: String, app: String = "shop") throws -> RawClient.Reply {
      let client = try RawClient(port: server.port)
      let body = "session_id=\(session)"
      try client.send(
        "POST /v1/\(app)/return/claim HTTP/1.1\r\nHost: test\r\n"
          + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
          + body)
      return try client.reply()
    }
  }

  private static func with(
    limits: Configuration.Limits = .init(), _ body: (Bed) throws -> Void
  ) throws {
    let bed = try Bed(limits: limits)
    try body(bed)
  }

  private static func problem(_ slug: String) -> JSONValue { .string("urn:receiptd:problem:\(slug)") }

  @Test func `The app that brings a token gets 201 and a status; again 200, and another user 409`() throws {
    try Self.with { bed in
      let token = try bed.token()
      let first = try bed.claim(token.text)
      #expect(first.status == 201)
      #expect(first.answer["replay"] == .bool(false))
      let again = try bed.claim(token.text)
      #expect(again.status == 200)
      #expect(again.answer["replay"] == .bool(true))
      #expect(again.answer["status_url"] == first.answer["status_url"])
      let other = try bed.claim(token.text, by: "u2")
      #expect(other.status == 409)
      #expect(other.answer["type"] == Self.problem("claimed-by-another-user"))
      let url = try #require(first.answer["status_url"]?.stringValue)
      let status = try JSONValue(parsing: bed.get(url, Bed.key).body)
      #expect(status["paid"] == .bool(true))
      #expect(status["claim_id"] == first.answer["claim_id"])
      #expect(try bed.get(url).status == 401)
      #expect(try bed.get(url.replacing("/u1/", with: "/u2/"), Bed.key).status == 404)
      #expect(try bed.bench.receipt(1)?.purchase.userID == "u1")
      #expect(!bed.bench.logText.contains(token.text))
    }
  }

  @Test func `A token that is unknown is a 404, one that was revoked a 410, and nothing changes`() throws {
    try Self.with { bed in
      let token = try bed.token()
      for text in ["clm_" + String(repeating: "0", count: 26), "nonsense", ""] {
        let unknown = try bed.claim(text)
        #expect(unknown.status == 404, "\(text)")
        #expect(unknown.answer["type"] == Self.problem("unknown-claim"))
      }
      #expect(try bed.claim(token.text, "").status == 401)
      let id = try #require(try bed.bench.receipt(1)?.receiptID)
      try bed.bench.store(RevokeClaims(.receipt(id)))
      let gone = try bed.claim(token.text)
      #expect(gone.status == 410)
      #expect(gone.answer["type"] == Self.problem("claim-gone"))
      #expect(try bed.bench.receipt(1)?.purchase.userID == nil)
      let counts = bed.bench.metrics.claims.snapshot()
      #expect(counts.values.reduce(0, +) == 4)
    }
  }

  @Test func `A placeholder, or the id of a context, is no user who can claim a purchase`() throws {
    try Self.with { bed in
      let token = try bed.token()
      for user in ["undefined", "Anonymous", "ctx_123", "CTX_01KAGFN8X2M5R7QZ3C6V9WJ4TD"] {
        let refused = try bed.claim(token.text, by: user)
        #expect(refused.status == 422, "\(user)")
        #expect(refused.answer["type"] == Self.problem("placeholder-user"))
      }
      #expect(try bed.bench.receipt(1)?.purchase.userID == nil)
      #expect(try bed.claim(token.text, by: "%20u1%20").status == 201)
      #expect(try bed.bench.receipt(1)?.purchase.userID == "u1")
    }
  }

  @Test func `Too many tokens from one user, or from one address, are a 429 with Retry-After`() throws {
    for isOfUser in [true, false] {
      var limits = Configuration.Limits()
      if isOfUser {
        limits.contextsPerUser = RateLimit(1, per: .minute)
      } else {
        limits.contextsPerAddress = RateLimit(1, per: .minute)
      }
      try Self.with(limits: limits) { bed in
        // This machine's own address is not limited.
        let fields = Bed.key + "X-Forwarded-For: 203.0.113.9\r\n"
        #expect(try bed.claim("clm_1", fields).status == 404)
        let second = try bed.claim("clm_1", fields)
        #expect(second.status == 429, "of a user: \(isOfUser)")
        #expect(second.answer["type"] == Self.problem("too-many-claims"))
      }
    }
  }

  @Test("Opening a link writes nothing, is always a 200, and leads into the app; a scanner learns nothing")
  func page() throws {
    try Self.with { bed in
      let token = try bed.token()
      let before = try bed.bench.receipt(1)
      for _ in 0..<3 {
        let reply = try bed.get("/v1/shop/claim/\(token.text)", "User-Agent: Mozilla (iPhone)\r\n")
        #expect(reply.status == 200)
        #expect(reply.header("Cache-Control") == "no-store")
        #expect(reply.header("Referrer-Policy") == "no-referrer")
        #expect(reply.header("X-Robots-Tag")?.contains("noindex") == true)
        let page = ReturnPageBed.Page(reply: reply)
        #expect(page.heading == PageLanguage.en.words[.claimHeading].text)
        #expect(page.links.contains("https://pay.example.com/v1/shop/claim/\(token.text)"))
      }
      #expect(try bed.bench.receipt(1) == before)
      #expect(try bed.get("/v1/shop/claim/\(token.text)", method: "HEAD").status == 200)
      #expect(!bed.bench.logText.contains(token.text))
    }
  }

  @Test func `Tokens that are unknown, revoked or used have the same page`() throws {
    try Self.with { bed in
      let (used, other) = (try bed.token(), try bed.token())
      #expect(try bed.claim(used.text).status == 201)
      let unknown = "clm_" + String(repeating: "0", count: 26)
      let pages = try [used.text, other.text, unknown, "nonsense"].map { text in
        let reply = try bed.get("/v1/shop/claim/\(text)")
        #expect(reply.status == 200)
        return String(decoding: reply.body, as: UTF8.self)
      }
      #expect(Set(pages).count == 1)
      #expect(pages[0].contains(PageLanguage.en.words[.claimGoneHeading].text))
    }
  }

  @Test func `An app without links has the page, too, which opens nothing`() throws {
    try Self.with { bed in
      let reply = try bed.get("/v1/bare/claim/\(try bed.token(app: "bare").text)")
      #expect(reply.status == 200)
      #expect(ReturnPageBed.Page(reply: reply).heading == PageLanguage.en.words[.claimHeading].text)
      #expect(try bed.press("cs_test_1", app: "bare").status == 404)
    }
  }

  @Test("The return page of a paid checkout without a user offers a claim, whose button leads to its page")
  func offered() throws {
    try Self.with { bed in
      let page = ReturnPageBed.Page(reply: try bed.get("/v1/shop/return?session_id=cs_test_1"))
      #expect(page.markup.contains("action=\"/v1/shop/return/claim\""))
      #expect(page.reply.header("Content-Security-Policy")?.contains("form-action 'self'") == true)
      #expect(try bed.bench.reader.claims(ClaimFilter(), now: bed.bench.now, limit: 1).entries.isEmpty)
      let pressed = try bed.press("cs_test_1")
      #expect(pressed.status == 303)
      let path = try #require(pressed.header("Location"))
      let token = try #require(ClaimToken(String(path.dropFirst("/v1/shop/claim/".count))))
      #expect(try bed.claim(token.text).status == 201)
      let after = ReturnPageBed.Page(reply: try bed.get("/v1/shop/return?session_id=cs_test_1"))
      #expect(!after.markup.contains("/return/claim"))
    }
  }

  @Test func `The button leads back to the return page when nothing can be claimed`() throws {
    try Self.with { bed in
      #expect(try bed.claim(try bed.token().text).status == 201)
      for session in ["cs_test_1", "cs_test_unknown"] {
        let pressed = try bed.press(session)
        #expect(pressed.status == 303)
        #expect(pressed.header("Location") == "/v1/shop/return?session_id=\(session)")
      }
    }
  }
}
