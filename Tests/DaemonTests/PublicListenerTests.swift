// What the public listener refuses before storing, and what it answers after the sync.

import Domain
import Formats
import Platform
import Store
import Testing

@testable import Config
@testable import HTTPServer
@testable import Service

@Suite("The public listener") struct PublicListenerTests {
  @Test("A flood of one app's requests is refused with Retry-After, another app's are accepted (R8, R11)")
  func flood() throws {
    let bench = try Bench([Bench.app(), Bench.app("other")], queue: 4, isStarted: false)
    let server = try bench.serve()
    func post(_ app: String, _ user: Int) throws -> RawClient {
      let client = try RawClient(port: server.port)
      try client.post("/v1/\(app)/contexts", #"{"ply_context":"YQ==","user_id":"u\#(user)"}"#)
      return client
    }
    for number in 1...2 {
      #expect(bench.committer.submit(bench.context(number), from: .external(app: "shop")) { _ in })
    }
    let refused = try post("shop", 3).reply()
    #expect(refused.status == 503)
    #expect(refused.header("Retry-After") == "1")
    #expect(try JSONValue(parsing: refused.body)["type"] == "urn:receiptd:problem:busy")
    let taken = try post("other", 4)
    #expect(!taken.hasNews)
    try bench.committer.start()
    #expect(try taken.reply().status == 201)
    #expect(try post("shop", 3).reply().status == 201)
    bench.committer.stop()
    #expect(try bench.reader.contexts(ContextFilter(), now: bench.now, limit: 10).count == 4)
    // A stopped committer accepts no request, because it could not store it (R1).
    #expect(try post("shop", 9).reply().status == 503)
  }

  @Test func `A body with a content coding is refused: 415, and 400 with the reason for a webhook`() throws {
    let bench = try Bench([Bench.app()])
    let server = try bench.serve()
    func post(_ target: String, _ body: String, _ coding: String) throws -> (status: Int, type: String?) {
      let client = try RawClient(port: server.port)
      try client.post(target, body, "Content-Encoding: \(coding)\r\n")
      let reply = try client.reply()
      return (reply.status, try JSONValue(parsing: reply.body)["type"]?.stringValue)
    }
    let body = #"{"ply_context":"YQ==","user_id":"u1"}"#
    for coding in ["gzip", "GZIP", "br, gzip", "identity, gzip", "x"] {
      let context = try post("/v1/shop/contexts", body, coding)
      #expect(context.status == 415)
      #expect(context.type == "urn:receiptd:problem:unsupported-content-encoding")
      let webhook = try post("/v1/shop/webhooks/stripe", body, coding)
      #expect(webhook.status == 400)
      #expect(webhook.type == "urn:receiptd:problem:unsupported-content-encoding")
    }
    #expect(try post("/v1/shop/contexts", body, "identity").status == 201)
    #expect(bench.metrics.signatureFailures.snapshot().values.reduce(0, +) == 5)
  }

  @Test func `A webhook for an app that does not exist is answered as one with a wrong signature`() throws {
    let bench = try Bench([Bench.app()])
    let server = try bench.serve()
    /// The answer but for its id and its time.
    func post(_ app: String, _ fields: String, to path: String = "webhooks/stripe") throws -> [String?] {
      let client = try RawClient(port: server.port)
      try client.post("/v1/\(app)/\(path)", "{}", fields)
      let reply = try client.reply()
      let problem = try JSONValue(parsing: reply.body)
      return ["\(reply.status)", problem["type"]?.stringValue, problem["detail"]?.stringValue]
        + reply.head.split(separator: "\r\n").map { String($0.prefix { $0 != ":" }) }
    }
    let digest = String(repeating: "0", count: 64)
    for fields in [
      "", "Stripe-Signature: x\r\n", "Stripe-Signature: t=1,v1=\(digest)\r\n", "Content-Encoding: gzip\r\n",
    ] {
      #expect(try post("none", fields) == post("shop", fields))
      #expect(try post("none", fields).first == "400")
    }
    #expect(
      try post("none", "", to: "webhooks/swedbank/secret") == post("shop", "", to: "webhooks/swedbank/secret")
    )
  }

  @Test func `The secret of an app's path does not show which other apps exist`() throws {
    let bench = try Bench([Bench.toyApp("toys"), Bench.app()], isStarted: false)
    try bench.committer.start()
    let server = try bench.serve(processors: .withToy)
    func post(_ app: String, secret: String) throws -> [String?] {
      let client = try RawClient(port: server.port)
      try client.post("/v1/\(app)/webhooks/toy/\(secret)", "e1 callback o1")
      let reply = try client.reply()
      return ["\(reply.status)", try JSONValue(parsing: reply.body)["type"]?.stringValue]
    }
    #expect(try post("toys", secret: "t").first == "200")
    let wrong = try post("toys", secret: "wrong")
    #expect(wrong == ["404", "urn:receiptd:problem:not-found"])
    for app in ["none", "shop"] {
      #expect(try post(app, secret: "t") == wrong, "\(app)")
      #expect(try post(app, secret: "wrong") == wrong, "\(app)")
    }
  }

  @Test func `A context whose id is of another time is refused, and not stored`() throws {
    let bench = try Bench([Bench.app()])
    let server = try bench.serve()
    var random = SeededGenerator(seed: 1)
    for (offset, status) in [(.days(-8), 422), (.hours(2), 422), (.zero, 201)] as [(Duration, Int)] {
      let id = ContextID.make(now: bench.now + offset, random: &random)
      let client = try RawClient(port: server.port)
      try client.post("/v1/shop/contexts", #"{"ply_context":"YQ==","user_id":"u1","id":"\#(id.text)"}"#)
      let reply = try client.reply()
      #expect(reply.status == status, "\(offset)")
      let type = try JSONValue(parsing: reply.body)["type"]?.stringValue
      #expect(type == (status == 422 ? "urn:receiptd:problem:context-id-time" : nil), "\(offset)")
    }
    #expect(try bench.reader.contexts(ContextFilter(), now: bench.now, limit: 10).count == 1)
  }

  @Test func `A fault of the head is answered before the body is read`() throws {
    let keys = AppConfiguration.ClientAccess.keys([Secret("k1")])
    let own = AppConfiguration.ClientAccess.restricted(keys: [Secret("k1")], tokens: nil, headers: ["X-Own"])
    let bench = try Bench([Bench.app(client: keys), Bench.app("own", client: own)], isStarted: false)
    let listener = bench.listener()
    func status(_ method: String, _ target: String, _ fields: [(name: String, value: String)] = []) -> Int {
      switch listener.admit(RequestSamples.head(method, target, fields)) {
      case .answer(let response): response.status
      case .body(let maximumBytes, _): -maximumBytes
      }
    }
    let json = ("Content-Type", "application/json")
    #expect(status("POST", "/v1/shop/contexts", [json]) == 401)
    #expect(status("POST", "/v1/shop/contexts", [json, ("X-API-KEY", "k2")]) == 401)
    #expect(status("POST", "/v1/shop/contexts", [("X-API-KEY", "k1")]) == 415)
    #expect(status("POST", "/v1/shop/contexts", [json, ("X-API-KEY", "k1")]) == -65_536)
    #expect(status("POST", "/v1/shop/contexts", [json, ("Authorization", "Bearer k1")]) == -65_536)
    #expect(status("POST", "/v1/shop/contexts", [json, ("X-Own", "k1")]) == 401)
    #expect(status("POST", "/v1/own/contexts", [json, ("X-Own", "k1")]) == -65_536)
    #expect(status("POST", "/v1/own/contexts", [json, ("X-Own", "k2")]) == 401)
    #expect(status("POST", "/v1/none/contexts", [json, ("X-API-KEY", "k1")]) == 404)
    #expect(status("POST", "/v1/shop/webhooks/stripe") == -4_194_304)
    #expect(status("GET", "/v1/shop/webhooks/stripe") == 405)
    #expect(status("GET", "/v1/shop/contexts/ctx_1") == 0)
    #expect(status("GET", "/v1/shop/contexts/ctx_1/") == 404)
    #expect(status("POST", "/v1/shop/users/%FF/contexts") == 400)
    bench.committer.stop()
    #expect(status("POST", "/v1/shop/webhooks/stripe") == 503)
    #expect(status("GET", "/v1/shop/contexts/ctx_1") == 0)
  }
}
