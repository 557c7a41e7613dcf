// Web pages of other origins that use an app's routes in a browser: the answers that it gets, over a socket.

import Domain
import Formats
import Platform
import Testing

@testable import Config
@testable import HTTPServer
@testable import Service

@Suite("Pages of other origins") struct CrossOriginTests {
  typealias Samples = ConfigurationSamples

  private static let shop = "https://shop.example.com"
  private static let post = #"{"ply_context":"YQ==","user_id":"u1"}"#

  private static func app(_ slug: AppSlug = "shop", origins: [String]) throws -> AppConfiguration {
    var app = Bench.app(slug, client: .keys([Secret("key-of-the-page")]))
    app.clientOrigins = try origins.map { try WebOrigin(page: $0) }
    app.links = .init(origin: try WebOrigin("https://pay.example.com"), returnPage: .init(name: "Shop"))
    return app
  }

  private final class Bed {
    let bench: Bench
    let apps: AppRegistry
    let server: Server

    init(
      limits: Configuration.Limits = .init(),
      origins: [String] = [CrossOriginTests.shop, "http://localhost:3000"]
    ) throws {
      bench = try Bench([
        CrossOriginTests.app(origins: origins),
        CrossOriginTests.app("other", origins: ["https://other.example.com"]),
        CrossOriginTests.app("closed", origins: []),
      ])
      apps = AppRegistry(bench.directory)
      server = try bench.serve(limits: limits, apps: apps)
    }

    deinit { server.stop(grace: .seconds(5)) }

    func send(
      _ method: String, _ target: String, origin: String?, _ fields: String = "", body: String? = nil
    ) throws -> RawClient.Reply {
      let client = try RawClient(port: server.port)
      let origin = origin.map { "Origin: \($0)\r\n" } ?? ""
      let length = body.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
      try client.send(
        "\(method) \(target) HTTP/1.1\r\nHost: test\r\n\(origin)\(fields)\(length)\r\n\(body ?? "")")
      return try client.reply(hasBody: method != "HEAD" && method != "OPTIONS")
    }

    /// What a browser sends before a post with a key.
    func preflight(_ target: String, origin: String?) throws -> RawClient.Reply {
      let client = try RawClient(port: server.port)
      let origin = origin.map { "Origin: \($0)\r\n" } ?? ""
      try client.send(
        "OPTIONS \(target) HTTP/1.1\r\nHost: test\r\n\(origin)Access-Control-Request-Method: POST\r\n"
          + "Access-Control-Request-Headers: content-type,x-api-key\r\nConnection: close\r\n\r\n")
      let text = client.untilClosed()
      let end = text.firstRange(of: "\r\n\r\n")
      let head = end.map { String(text[..<$0.lowerBound]) } ?? text
      let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      let body = end.map { Array(text[$0.upperBound...].utf8) } ?? []
      return .init(status: status, head: head, body: body)
    }
  }

  private static let key = "X-API-KEY: key-of-the-page\r\n"

  @Test(
    "A preflight of a listed origin gets the path's methods and the fields that clients send",
    arguments: [
      ("/v1/shop/contexts", "POST"), ("/v1/shop/users/u1/contexts", "POST"), ("/v1/shop/checkout", "POST"),
      ("/v1/shop/users/u1/checkout?x=1", "POST"), ("/v1/shop/contexts/ctx_1", "GET, HEAD"),
    ])
  func preflight(target: String, methods: String) throws {
    let bed = try Bed()
    for origin in [Self.shop, "http://localhost:3000"] {
      let reply = try bed.preflight(target, origin: origin)
      #expect(reply.status == 204)
      #expect(reply.body.isEmpty)
      #expect(reply.header("Access-Control-Allow-Origin") == origin)
      #expect(reply.header("Access-Control-Allow-Methods") == methods)
      let names = try #require(reply.header("Access-Control-Allow-Headers")).lowercased()
        .split(separator: ",").map { $0.drop { $0 == " " } }
      #expect(Set(names).isSuperset(of: ["content-type", "authorization", "x-api-key", "x-user-id"]))
      #expect(reply.header("Access-Control-Max-Age") == "7200")
      #expect(reply.header("Access-Control-Allow-Credentials") == nil)
      #expect(reply.header("Vary")?.contains("Origin") == true)
      #expect(reply.header("X-Request-Id") != nil)
    }
    #expect(bed.bench.metricsText.contains(#"receiptd_http_requests_total{route="preflight",code="204"} 2"#))
  }

  @Test(arguments: [
    "null", "http://shop.example.com", "https://shop.example.com:8443", "https://shop.example.com/",
    "https://SHOP.example.com", "https://shop.example.com.evil.test", "https://xshop.example.com",
    "https://example.com", "https://other.example.com", "http://localhost", "*",
    "https://shop.example.com\r\nOrigin: https://evil.test",
    "https://evil.test\r\nOrigin: https://shop.example.com",
  ])
  func `An origin that is not listed exactly gets 403 and no permission`(origin: String) throws {
    let bed = try Bed()
    let reply = try bed.preflight("/v1/shop/contexts", origin: origin)
    #expect(reply.status == 403)
    #expect(try JSONValue(parsing: reply.body)["type"] == "urn:receiptd:problem:origin-not-allowed")
    #expect(reply.header("Access-Control-Allow-Origin") == nil)
    #expect(reply.header("Access-Control-Allow-Methods") == nil)
    #expect(reply.header("Vary") == "Origin")
    // A post without a preflight is accepted as from any client, but the page cannot read the answer.
    let post = try bed.send("POST", "/v1/shop/contexts", origin: origin, Self.key, body: Self.post)
    #expect(post.status == 201)
    #expect(post.header("Access-Control-Allow-Origin") == nil)
    #expect(post.header("Vary") == "Origin")
  }

  @Test func `Every answer of a client's route can be read by a listed page, also a problem`() throws {
    let bed = try Bed(limits: .init(contextBodyBytes: 1024, contextsPerUser: RateLimit(2, per: .hour)))
    let path = "/v1/shop/contexts"
    let long = #"{"ply_context":"\#(String(repeating: "a", count: 2000))"}"#
    var replies: [(Int, RawClient.Reply)] = []
    func expect(_ status: Int, _ reply: RawClient.Reply) { replies.append((status, reply)) }
    expect(201, try bed.send("POST", path, origin: Self.shop, Self.key, body: Self.post))
    expect(401, try bed.send("POST", path, origin: Self.shop, body: Self.post))
    expect(400, try bed.send("POST", path, origin: Self.shop, Self.key, body: "{}"))
    expect(413, try bed.send("POST", path, origin: Self.shop, Self.key, body: long))
    expect(415, try bed.send("POST", path, origin: Self.shop, Self.key + "Content-Length: 0\r\n"))
    expect(405, try bed.send("DELETE", path, origin: Self.shop))
    expect(422, try bed.send("POST", "/v1/shop/checkout", origin: Self.shop, Self.key, body: Self.post))
    expect(404, try bed.send("GET", path + "/ctx_unknown", origin: Self.shop))
    expect(200, try bed.send("POST", path, origin: Self.shop, Self.key, body: Self.post))
    expect(429, try bed.send("POST", path, origin: Self.shop, Self.key, body: Self.post))
    let id = try #require(try JSONValue(parsing: replies[0].1.body)["context_id"]?.stringValue)
    expect(200, try bed.send("GET", path + "/" + id, origin: Self.shop))
    expect(200, try bed.send("HEAD", path + "/" + id, origin: Self.shop))
    for (status, reply) in replies {
      #expect(reply.status == status)
      #expect(reply.header("Access-Control-Allow-Origin") == Self.shop, "\(status)")
      #expect(reply.header("Access-Control-Expose-Headers")?.contains("Retry-After") == true)
      #expect(reply.header("Access-Control-Allow-Credentials") == nil)
      #expect(reply.header("Vary") == "Origin")
    }
  }

  @Test func `Webhooks, pages for people, and apps without origins answer as before`() throws {
    let bed = try Bed()
    for (target, allowed) in [
      ("/v1/shop/webhooks/stripe", "POST"), ("/v1/shop/return", "GET, HEAD"),
      ("/.well-known/apple-app-site-association", "GET, HEAD"), ("/v1/closed/contexts", "POST"),
      ("/v1/closed/contexts/ctx_1", "GET, HEAD"), ("/v1/nobody/contexts", "POST"),
    ] {
      let reply = try bed.preflight(target, origin: Self.shop)
      #expect(reply.status == 405, "\(target)")
      #expect(reply.header("Allow") == allowed)
      #expect(!reply.head.lowercased().contains("access-control"))
      #expect(reply.header("Vary") == nil)
    }
    // Without both fields it is no preflight.
    #expect(try bed.preflight("/v1/shop/contexts", origin: nil).status == 405)
    let plain = try RawClient(port: bed.server.port)
    try plain.send("OPTIONS /v1/shop/contexts HTTP/1.1\r\nHost: test\r\nOrigin: \(Self.shop)\r\n\r\n")
    #expect(try plain.reply().status == 405)
    for target in ["/v1/shop/return", "/v1/closed/contexts/ctx_1", "/v1/nobody/contexts/ctx_1", "/v1/shop/x"]
    {
      let reply = try bed.send("GET", target, origin: Self.shop)
      #expect(!reply.head.lowercased().contains("access-control"), "\(target)")
    }
    let webhook = try bed.send("POST", "/v1/shop/webhooks/stripe", origin: Self.shop, body: "{}")
    #expect(webhook.status == 400)
    #expect(!webhook.head.lowercased().contains("access-control"))
    // A request without an origin has the field for caches only.
    let app = try bed.send("POST", "/v1/shop/contexts", origin: nil, Self.key, body: Self.post)
    #expect(app.status == 201)
    #expect(app.header("Vary") == "Origin")
    #expect(app.header("Access-Control-Allow-Origin") == nil)
  }

  @Test func `Preflights use up no limit of contexts`() throws {
    let bed = try Bed(
      limits: .init(contextsPerUser: RateLimit(2, per: .hour), contextsPerAddress: RateLimit(2, per: .hour)))
    for _ in 1...20 { #expect(try bed.preflight("/v1/shop/contexts", origin: Self.shop).status == 204) }
    #expect(
      try bed.send("POST", "/v1/shop/contexts", origin: Self.shop, Self.key, body: Self.post).status == 201)
    #expect(
      try bed.send("POST", "/v1/shop/contexts", origin: Self.shop, Self.key, body: Self.post).status == 200)
    let text = bed.bench.metricsText
    #expect(text.contains(#"receiptd_http_requests_total{route="preflight",code="204"} 20"#))
    #expect(text.contains(#"receiptd_http_requests_total{route="contexts",code="201"} 1"#))
  }

  @Test func `A reload adds and removes origins`() throws {
    let bed = try Bed()
    let new = try Self.app(origins: ["https://new.example.com"])
    let path = "/v1/shop/contexts"
    bed.apps.replace(with: try AppDirectory(Configuration(database: .file(bed.bench.path), apps: [new])))
    #expect(try bed.preflight(path, origin: Self.shop).status == 403)
    #expect(try bed.preflight(path, origin: "https://new.example.com").status == 204)
  }

  @Test(
    "An origin in the configuration is a scheme, a host and a port",
    arguments: [
      ("['*']", "[0]", "list each of them"), ("['https://*.example.com']", "[0]", "list each of them"),
      ("['https://a.test/shop']", "[0]", "must be a scheme, a host and nothing else"),
      ("['http://a.test']", "[0]", "must begin with https://"), ("['null']", "[0]", "must be a scheme"),
      ("['a.test']", "[0]", "must be a scheme"), ("['file://localhost']", "[0]", "is not an origin"),
      ("['capacitor://localhost/app']", "[0]", "must be a scheme, a host and nothing else"),
      ("['://localhost']", "[0]", "must be a scheme"), ("['ca pa://localhost']", "[0]", "must be a scheme"),
      ("['https://a.test', 'https://A.test:443/']", "[1]", "already"),
      ("'https://a.test'", "", "must be a list"), ("[5]", "[0]", "must be an address"),
    ])
  func faults(value: String, place: String, message: String) throws {
    let faults = Samples.faults(Samples.text(app: "client_origins: \(value),"))
    #expect(
      faults.contains { $0.path == "apps.shop.client_origins\(place)" && $0.message.contains(message) },
      "\(faults)")
  }

  @Test func `Origins are kept as browsers write them`() throws {
    let text = Samples.text(
      app: "client_origins: ['https://Shop.example.com:443/', 'http://localhost:3000', 'http://[::1]:80'],")
    let app = try Samples.app(text)
    #expect(app.clientOriginTexts == [Self.shop, "http://localhost:3000", "http://[::1]"])
    #expect(try Samples.app(Samples.text()).clientOrigins.isEmpty)
  }

  @Test(arguments: [
    "capacitor://localhost", "ionic://localhost", "tauri://localhost", "http://tauri.localhost",
    "myapp://localhost",
  ])
  func `The page of an app in a WebView may post: its framework has its own scheme`(origin: String) throws {
    let app = try Samples.app(Samples.text(app: "client_origins: ['\(origin)'],"))
    #expect(app.clientOriginTexts == [origin])
    let bed = try Bed(origins: [origin])
    #expect(try bed.preflight("/v1/shop/contexts", origin: origin).status == 204)
    #expect(throws: NameFault.self) { try WebOrigin(origin) }
  }
}
