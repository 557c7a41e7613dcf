// The file with which Apple verifies a host for Apple Pay on the web: served, and in the configuration.

import Domain
import Formats
import Platform
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import HTTPServer

@Suite("Apple Pay's file") struct ApplePayFileTests {
  typealias Samples = ConfigurationSamples

  private static let path = "/.well-known/apple-developer-merchantid-domain-association"
  private static let content = Array("7B227073704964223A2239423733\n\r\t é".utf8) + [0xFF]

  private static func app(
    _ slug: AppSlug, _ host: String, _ content: [UInt8]?
  ) throws -> AppConfiguration {
    var app = Bench.app(slug)
    app.links = .init(origin: try WebOrigin("https://\(host)"))
    app.links?.applePay = content.map { .init(path: "/file", content: $0) }
    return app
  }

  private static func get(
    _ port: UInt16, host: String, method: String = "GET", _ fields: String = ""
  ) throws -> RawClient.Reply {
    let client = try RawClient(port: port)
    try client.send("\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n")
    return try client.reply(hasBody: method != "HEAD")
  }

  @Test func `The host of an app with the file serves its bytes, and no other host does`() throws {
    let bench = try Bench([
      Self.app("shop", "pay.example.com", nil), Self.app("second", "pay.example.com", Self.content),
      Self.app("bare", "bare.example.com", nil),
    ])
    let server = try bench.serve()
    for host in ["pay.example.com", "PAY.example.com:443", "pay.example.com."] {
      let reply = try Self.get(server.port, host: host)
      #expect(reply.status == 200)
      #expect(reply.body == Self.content)
      #expect(reply.header("Content-Type") == "text/plain")
      #expect(reply.header("X-Content-Type-Options") == "nosniff")
      #expect(reply.header("Location") == nil)
    }
    let tag = try #require(try Self.get(server.port, host: "pay.example.com").header("ETag"))
    #expect(try Self.get(server.port, host: "pay.example.com", "If-None-Match: \(tag)\r\n").status == 304)
    #expect(try Self.get(server.port, host: "pay.example.com", method: "HEAD").status == 200)
    #expect(try Self.get(server.port, host: "pay.example.com", method: "POST").status == 405)
    for (host, problem) in [("bare.example.com", "not-found"), ("evil.test", "unknown-host")] {
      let reply = try Self.get(server.port, host: host)
      #expect(reply.status == 404)
      #expect(try JSONValue(parsing: reply.body)["type"] == .string("urn:receiptd:problem:\(problem)"))
    }
  }

  @Test func `A reload serves the new content, or none`() throws {
    let bench = try Bench([Self.app("shop", "pay.example.com", Self.content)])
    let server = try bench.serve()
    for content in [[1, 2, 3], nil] as [[UInt8]?] {
      try bench.core.reload(
        Configuration(database: .file(bench.path), apps: [Self.app("shop", "pay.example.com", content)]))
      let reply = try Self.get(server.port, host: "pay.example.com")
      #expect(reply.status == (content == nil ? 404 : 200))
      if let content { #expect(reply.body == content) }
    }
  }

  private static func text(_ file: String, app: String = "", apps: String = "") -> String {
    Samples.text(app: "links: { origin: 'https://a.test', apple_pay_file: '\(file)' }, \(app)", apps: apps)
  }

  @Test func `The file is read with the configuration, also by a relative path`() throws {
    let folder = try TestFolder()
    let file = try folder.write("7B22", to: "apple-developer-merchantid-domain-association")
    for name in [file, "apple-developer-merchantid-domain-association"] {
      let read = try Samples.read(Self.text(name), path: folder.path + "/receiptd.json5")
      let links = try #require(read.configuration.apps.first?.links)
      #expect(links.applePay == .init(path: file, content: Array("7B22".utf8)))
      let shown = read.configuration.redacted["apps"]?["shop"]?["links"]?["apple_pay_file"]
      #expect(shown == .string(file))
    }
    #expect(try Samples.app(Samples.text(app: "links: { origin: 'https://a.test' },")).links?.applePay == nil)
  }

  @Test func `A file that cannot be served is a fault`() throws {
    let folder = try TestFolder()
    let key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\n"
    let cases = [
      (folder.path + "/missing", "cannot read"), (folder.path, "cannot read"),
      (try folder.write("", to: "empty"), "is empty"),
      (try folder.write(key, to: "key"), "has a private key in it"),
      (try folder.write(String(repeating: "a", count: 65_537), to: "long"), "cannot read"),
    ]
    for (file, message) in cases {
      let faults = Samples.faults(Self.text(file))
      #expect(
        faults.contains { $0.path == "apps.shop.links.apple_pay_file" && $0.message.contains(message) },
        "\(faults)")
    }
    let most = try folder.write(String(repeating: "a", count: 65_536), to: "most")
    #expect(Samples.faults(Self.text(most)).isEmpty)
    // receiptctl may lack access to the file, and needs it for nothing.
    let open = try Samples.read(Self.text(folder.path + "/missing"), secrets: .whereAvailable)
    #expect(open.configuration.apps.first?.links?.applePay?.content == [])
  }

  @Test func `Two apps of one host must name the same file`() throws {
    let folder = try TestFolder()
    let (one, two) = (try folder.write("1", to: "one"), try folder.write("2", to: "two"))
    func second(_ file: String, host: String = "a.test") -> String {
      """
      other: { client: 'open', stripe: { webhook_secrets: ['env:SECOND_SECRET'] },
               purchasely: { api_key: 'env:API_KEY' },
               links: { origin: 'https://\(host):8443', apple_pay_file: '\(file)' } },
      """
    }
    let faults = Samples.faults(Self.text(one, apps: second(two)))
    #expect(faults.map(\.path) == ["apps.shop.links.apple_pay_file"])
    #expect(faults.first?.message.contains("differs from apps.other.links.apple_pay_file") == true)
    #expect(Samples.faults(Self.text(one, apps: second(one))).isEmpty)
    #expect(Samples.faults(Self.text(one, apps: second(two, host: "b.test"))).isEmpty)
  }
}
