// Requests of SDKs to a merchant backend, through the whole daemon: who may send them, and what each kind of
// step does.

import Domain
import Platform
import Store
import Testing

@testable import Config

@Suite("A merchant backend in the daemon")
struct ToyBackendTests {
  private static let key = "X-API-KEY: \(ToyBed.key)\r\n"

  @Test func `Its root ends in a slash; links in answers begin with it as the client wrote it`() throws {
    let bed = try ToyBed()
    for path in ["/v1/shop/toy/", "/v1/shop/users/u%31/toy/", "/v1/sh%6Fp/toy/"] {
      let reply = try bed.send("GET", path).reply()
      #expect(reply.status == 200)
      #expect(reply.text == path)
      #expect(reply.header("Cache-Control") == "max-age=60")
      #expect(reply.header("Content-Type") == "text/plain")
    }
    #expect(try bed.send("HEAD", "/v1/shop/toy/").reply(hasBody: false).status == 200)
    for path in ["/v1/shop/toy", "/v1/shop/toy//", "/v1/shop//toy/", "/v1/shop/users//toy/"] {
      #expect(try bed.send("GET", path).reply().status == 404)
    }
    #expect(bed.calls.isEmpty)
  }

  @Test func `SW02: Without the app's key nothing is served, nor sent to the processor`() throws {
    let bed = try ToyBed()
    for fields in ["", "X-API-KEY: other\r\n", "X-API-KEY: \r\n", "Authorization: Basic YTpi\r\n"] {
      for (method, path, body) in [
        ("GET", "/v1/shop/toy/", nil), ("POST", "/v1/shop/users/u1/toy/orders", "gold" as String?),
      ] {
        let reply = try bed.send(method, path, body, fields).reply()
        #expect(reply.status == 401)
        #expect(reply.text == "unauthorized 401")
        #expect(reply.header("Content-Type") == "application/toy-error")
        #expect(reply.header("WWW-Authenticate") == "Bearer")
      }
    }
    #expect(bed.calls.isEmpty)
  }

  @Test func `SW03: An app that any client may use cannot have a backend`() throws {
    let refusal = #expect(throws: ConfigurationFaults.self) { _ = try ToyBed(client: "client: 'open'") }
    #expect(refusal?.faults.map(\.path) == ["apps.shop.toy"])
  }

  @Test func `Refusals of the relay have the form that the SDK parses`() throws {
    let bed = try ToyBed { _ in nil }
    let longest = String(repeating: "x", count: 256 << 10)
    let replies = [
      (405, "method-not-allowed", try bed.send("DELETE", "/v1/shop/toy/orders/o1").reply()),
      (404, "unknown-app", try bed.send("GET", "/v1/none/toy/").reply()),
      (413, "body-too-large", try bed.start(longest + "x").reply()),
      (400, "missing-user", try bed.send("POST", "/v1/shop/toy/orders", "gold").reply()),
    ]
    for (status, slug, reply) in replies {
      #expect(reply.status == status)
      #expect(reply.text == "\(slug) \(status)")
      #expect(reply.header("Content-Type") == "application/toy-error")
      #expect(reply.header("Cache-Control") == "no-store")
    }
    #expect(replies[0].2.header("Allow") == "GET, HEAD, PATCH")
    #expect(bed.calls.isEmpty)
    #expect(try bed.start(longest).reply().status == 502, "a body of this length is passed on")
  }

  @Test func `An app without the processor has no such path`() throws {
    let bed = try ToyBed()
    try bed.reload(["other"])
    #expect(try bed.send("GET", "/v1/shop/toy/").reply().text == "unknown-app 404")
    let withoutKey = try ToyBed(hasKey: false)
    #expect(try withoutKey.send("GET", "/v1/shop/toy/").reply().text == "not-found 404")
  }

  @Test func `A backend that never comes to an end is stopped`() throws {
    let bed = try ToyBed()
    let reply = try bed.send("GET", "/v1/shop/users/u1/toy/circle").reply()
    #expect(reply.status == 500)
    #expect(reply.text == "internal 500")
    _ = try bed.waitForLog("did not come to an end")
  }

  // MARK: Starting a payment

  @Test func `What is answered is stored, with its user and facts (R1)`() throws {
    let bed = try ToyBed()
    let reply = try bed.start("gold", "User-Agent: app/1\r\nX-Forwarded-For: 192.0.2.7\r\n").reply()
    #expect(reply.status == 201)
    #expect(reply.text == "/v1/shop/users/u1/toy/orders/o1")
    let record = try #require(try bed.stored("o1"))
    #expect(record.purchase.userID == "u1")
    #expect(record.purchase.payment?.amount == "59.99")
    #expect(record.receipt == nil)
    let call = try #require(bed.calls.first)
    #expect(call.hasPrefix("POST /orders HTTP/1.1\r\n"))
    #expect(call.contains("\r\nX-Toy-Key: toy-key\r\n"))
    #expect(call.contains("\r\nUser-Agent: receiptd/"))
    #expect(call.contains("\r\nX-Client: 192.0.2.7 app/1\r\n"))
    #expect(!call.contains(ToyBed.key), "the client's key stays here")
    let words = try #require(call.split(separator: "\r\n\r\n").last).split(separator: " ")
    #expect(words.last == "gold")
    #expect(words.first?.wholeMatch(of: /[A-Za-z0-9]{30}/) != nil)
    #expect(words.first.map(String.init) == record.purchase.payment?.reference)
    let read = try bed.send("GET", "/v1/shop/users/u1/toy/orders/o1").reply()
    #expect(read.text == "o1 59.99 USD")
    #expect(bed.calls.count == 1)
  }

  @Test func `Each payment has its own reference`() throws {
    let bed = try ToyBed { _ in ToyBed.answer("201 Created", "o1") }
    for _ in 0..<5 { #expect(try bed.start().reply().status == 201) }
    #expect(Set(bed.calls.map { $0.split(separator: "\r\n\r\n").last }).count == 5)
  }

  @Test func `The user is named by the path or the header; several places must agree`() throws {
    let bed = try ToyBed()
    func start(_ path: String, _ header: String) throws -> RawClient.Reply {
      try bed.send("POST", path, "gold", Self.key + header).reply()
    }
    #expect(try start("/v1/shop/toy/orders", "X-User-Id: u2\r\n").status == 201)
    #expect(try bed.stored("o1", by: "u2") != nil)
    #expect(try start("/v1/shop/users/u2/toy/orders", "X-User-Id: u2\r\n").status == 201)
    let calls = bed.calls.count
    #expect(try start("/v1/shop/users/u1/toy/orders", "X-User-Id: u2\r\n").text == "users-differ 400")
    #expect(try start("/v1/shop/toy/orders", "X-User-Id: a\r\nX-User-Id: b\r\n").text == "users-differ 400")
    #expect(try start("/v1/shop/toy/orders", "X-User-Id: \r\n").text == "invalid-user 400")
    #expect(try start("/v1/shop/users/%00/toy/orders", "").text == "invalid-user 400")
    #expect(bed.calls.count == calls)
  }

  @Test func `A context must be one of the app and the user`() throws {
    let bed = try ToyBed()
    let (own, foreign) = (try bed.postContext("u1"), try bed.postContext("u2"))
    for id in [foreign, "ctx_none", "no context"] {
      #expect(try bed.start("gold", "X-Context-Id: \(id)\r\n").reply().status == 422)
    }
    let both = "X-Context-Id: \(own)\r\nX-Context-Id: \(foreign)\r\n"
    #expect(try bed.start("gold", both).reply().text == "invalid-context 400")
    #expect(bed.calls.isEmpty)
    #expect(try bed.start("gold", "X-Context-Id: \(own)\r\n").reply().status == 201)
    #expect(try bed.stored("o1")?.purchase.contextID?.text == own)
  }

  @Test func `Orders and customers of another user do not exist`() throws {
    let bed = try ToyBed()
    #expect(try bed.start("gold payer-1").reply().status == 201)
    func get(_ path: String, by user: String) throws -> Int {
      try bed.send("GET", "/v1/shop/users/\(user)/toy/\(path)").reply().status
    }
    #expect(try get("orders/o1", by: "u1") == 200)
    #expect(try get("customers/payer-1", by: "u1") == 200)
    #expect(try get("orders/o1", by: "u2") == 404)
    #expect(try get("customers/payer-1", by: "u2") == 404)
    #expect(try get("orders/o2", by: "u1") == 404)
    // A user who writes another's customer into a payment starts none.
    let calls = bed.calls.count
    #expect(try bed.start("gold payer-1", user: "u2").reply().status == 404)
    #expect(bed.calls.count == calls)
    #expect(try get("customers/payer-1", by: "u2") == 404)
    #expect(try get("customers/payer-1", by: "u1") == 200)
  }

  @Test("Of two users who start with one customer at once, one gets it, and the other starts no payment")
  func oneOwner() throws {
    let bed = try ToyBed()
    for number in 1...10 {
      let calls = bed.calls.count
      let requests = try ["u1", "u2"].map { user in try bed.start("gold payer-\(number)", user: user) }
      #expect(try requests.map { try $0.reply().status }.sorted() == [201, 404])
      #expect(bed.calls.count == calls + 1)
    }
  }

  @Test func `A change reads the order first, and its outcome is stored`() throws {
    let bed = try ToyBed()
    #expect(try bed.start().reply().status == 201)
    bed.use { request in
      ToyBed.answer("200 OK", request.hasPrefix("PATCH") ? "cancelled" : "open", "Content-Type: a/b\r\n")
    }
    let reply = try bed.send("PATCH", "/v1/shop/users/u1/toy/orders/o1", "cancel").reply()
    #expect(reply.status == 200)
    #expect(reply.text == "cancelled")
    #expect(reply.header("Content-Type") == "a/b")
    #expect(bed.called == ["POST /orders", "GET /orders/6f-31", "PATCH /orders/6f-31"])
    #expect(bed.calls.last?.hasSuffix("\r\n\r\ncancel") == true)
    #expect(try bed.stored("o1")?.purchase.observations == [.started, .closed])
  }

  // MARK: Cached values

  @Test func `A cached value is fetched once for an app, and again after a reload`() throws {
    let bed = try ToyBed(apps: ["shop", "other"]) { _ in ToyBed.answer("200 OK", "10-100") }
    func limits(_ app: String) throws -> String {
      try bed.send("GET", "/v1/\(app)/toy/limits").reply().text
    }
    bed.hold { _ in true }
    let waiting = try (0..<5).map { _ in try bed.send("GET", "/v1/shop/toy/limits") }
    try bed.waitForCalls(1)
    bed.hold { _ in false }
    for client in waiting { #expect(try client.reply().text == "10-100") }
    #expect(try limits("shop") == "10-100")
    #expect(bed.called == ["GET /limits"])
    #expect(try limits("other") == "10-100")
    #expect(bed.calls.count == 2, "another app has other values")
    try bed.reload(["shop", "other"])
    bed.use { _ in ToyBed.answer("200 OK", "20-200", "Cache-Control: no-store\r\n") }
    #expect(try limits("shop") == "20-200")
    #expect(try limits("shop") == "20-200")
    #expect(bed.calls.count == 4, "the processor forbids to keep it")
  }
}
