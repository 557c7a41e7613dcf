// A post that opens the checkout page: stored as a context, answered with a redirect.

import Domain
import Formats
import Platform
import Store
import Testing

@testable import Config
@testable import HTTPServer
@testable import Service

@Suite("A post to the checkout") struct CheckoutPostTests {
  private static func bench() throws -> Bench {
    var app = Bench.app()
    app.links = .init(
      origin: try WebOrigin("https://pay.example.com"),
      checkout: [
        "price_1": CheckoutPage(url: "https://buy.stripe.com/a"),
        "plan.m": CheckoutPage(url: "https://www.example.com/checkout?plan=m"),
      ])
    return try Bench([app])
  }

  private static func body(price: String?) -> String {
    let blob = price.map { #"{"stripe_price_id":"\#($0)"}"# } ?? "{}"
    return #"{"ply_context":"\#(Base64.encode(Array(blob.utf8)))"}"#
  }

  @Test func `A browser is redirected to the price's page with the context's id as reference`() throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    for (price, page) in [
      ("price_1", "https://buy.stripe.com/a?client_reference_id="),
      ("plan.m", "https://www.example.com/checkout?plan=m&client_reference_id="),
    ] {
      let client = try RawClient(port: server.port)
      try client.post("/v1/shop/users/u-\(price)/checkout", Self.body(price: price))
      let reply = try client.reply()
      let location = try #require(reply.header("Location"))
      #expect(reply.status == 303)
      #expect(reply.body.isEmpty)
      #expect(location.hasPrefix(page))
      let id = ContextID(String(location.dropFirst(page.count)))
      #expect(id.isWellFormed)
      #expect(try bench.reader.status(app: "shop", contextID: id, now: bench.now)?.state == .open)
    }
  }

  @Test func `A request for JSON gets the address, also in posts of contexts`() throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    var ids: Set<String> = []
    for (path, status) in [("checkout", 201), ("contexts", 200), ("checkout", 200)] {
      let client = try RawClient(port: server.port)
      try client.post(
        "/v1/shop/users/u1/\(path)", Self.body(price: "price_1"), "Accept: application/json\r\n")
      let reply = try client.reply()
      let answer = try JSONValue(parsing: reply.body)
      let id = try #require(answer["context_id"]?.stringValue)
      #expect(reply.status == status)
      #expect(reply.header("Location") == answer["status_url"]?.stringValue)
      #expect(answer["checkout_url"] == .string("https://buy.stripe.com/a?client_reference_id=\(id)"))
      ids.insert(id)
    }
    #expect(ids.count == 1)
    let client = try RawClient(port: server.port)
    try client.post("/v1/shop/users/u1/contexts", Self.body(price: "price_of_no_page"))
    let reply = try client.reply()
    #expect(reply.status == 201)
    #expect(try JSONValue(parsing: reply.body)["checkout_url"] == nil)
  }

  @Test func `A price without a page is refused, nothing is stored, and there is no redirect`() throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    for price in [nil, "price_2", "https://evil.test/", "PRICE_1"] {
      let client = try RawClient(port: server.port)
      try client.post("/v1/shop/users/u1/checkout", Self.body(price: price))
      let reply = try client.reply()
      #expect(reply.status == 422)
      #expect(reply.header("Location") == nil)
      #expect(try JSONValue(parsing: reply.body)["type"] == "urn:receiptd:problem:unknown-price")
      #expect(!String(decoding: reply.body, as: UTF8.self).contains("evil"))
    }
    #expect(try bench.reader.contexts(ContextFilter(), now: bench.now, limit: 10).isEmpty)
  }

  @Test(
    "JSON is chosen if Accept names it and prefers no type for browsers",
    arguments: [
      (["application/json"], true), (["application/json; charset=utf-8"], true),
      (["text/html, application/json;q=0.9"], false), (["Application/JSON", "text/html;q=0.1"], true),
      (["*/*"], false), ([], false), (["application/json;q=0"], false), (["application/*"], false),
      (["text/html,application/xhtml+xml,*/*;q=0.8"], false), ([";;,,q=1,application/json;q=x"], false),
    ])
  func accept(fields: [String], prefersJSON: Bool) {
    #expect(MediaRanges(fields).preferJSON == prefersJSON)
  }
}
