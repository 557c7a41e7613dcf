// The association files over a socket, by host.

import Domain
import Formats
import Testing

@testable import Config
@testable import HTTPServer

@Suite("Association files") struct AssociationFileTests {
  typealias Samples = ConfigurationSamples

  static let apple = "/.well-known/apple-app-site-association"
  static let android = "/.well-known/assetlinks.json"
  static let fingerprints = ["ab", "01"].map { String(repeating: $0, count: 32) }

  private static func links(
    _ host: String, ios ids: [String] = [], paths: [String] = [], packages: [String] = [],
    swedbank: Bool = false
  ) throws -> AppConfiguration.Links {
    AppConfiguration.Links(
      origin: try WebOrigin("https://\(host)"),
      ios: ids.isEmpty
        ? nil
        : .init(
          appIDs: try ids.map { try AppleAppID("ABCDE12345.\($0)") },
          paths: try paths.map { try LinkPath($0) },
          webcredentials: true),
      android: packages.isEmpty
        ? nil
        : .init(
          packages: try packages.map {
            .init(
              name: try PackageName($0), fingerprints: try fingerprints.map { try CertificateFingerprint($0) }
            )
          }),
      swedbank: swedbank ? .init() : nil)
  }

  private static func bench() throws -> Bench {
    var shop = Bench.app()
    shop.links = try links(
      "pay.example.com", ios: ["com.example.a", "com.example.b"], paths: ["/*", "NOT /admin/*"],
      packages: ["com.example.a", "com.example.b"], swedbank: true)
    var other = Bench.app("other")
    other.links = try links("pay.example.com", packages: ["com.example.c"])
    var bare = Bench.app("bare")
    bare.links = try links("bare.example.com:8443")
    return try Bench([shop, other, bare, Bench.app("none")])
  }

  private static func get(
    _ port: UInt16, _ target: String, host: String = "pay.example.com", method: String = "GET",
    _ fields: String = ""
  ) throws -> RawClient.Reply {
    let client = try RawClient(port: port)
    try client.send("\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n")
    return try client.reply()
  }

  @Test(
    "Apple's file is served to all clients, with all apps in both forms (SC20, SC22, SC23, SH05, SH10)")
  func appleFile() throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    let reply = try Self.get(server.port, Self.apple)
    #expect(reply.status == 200)
    #expect(reply.header("Content-Type") == "application/json")
    #expect(reply.header("Cache-Control") == "public, max-age=3600")
    #expect(reply.header("Location") == nil)
    #expect(reply.header("X-Content-Type-Options") == "nosniff")
    #expect(reply.header("Set-Cookie") == nil)
    #expect(reply.body.count < AppSiteAssociation.byteCountMax)
    let json = try JSONValue(parsing: reply.body)
    #expect(json["applinks"]?["apps"] == [])
    #expect(json["webcredentials"]?["apps"] == ["ABCDE12345.com.example.a", "ABCDE12345.com.example.b"])
    let (file, findings) = try AppSiteAssociation.read(reply.body)
    #expect(findings.isEmpty)
    let callback = "/v1/shop/swedbank/sdk-callback/*"
    #expect(
      file.links?.entries.map(\.paths) == [
        ["NOT /admin/*", callback, "/*"], ["NOT /admin/*", callback, "/*"],
      ])
    #expect(file.links?.entries.first?.appIDs.count == 2)
    let matcher = AssociationMatcher(file)
    let url = try LinkURL("https://pay.example.com/v1/shop/swedbank/sdk-callback/ios-universal-link?scheme=a")
    #expect(matcher.verdict(for: url, app: "ABCDE12345.com.example.b").place?.rule == 1)

    // The path at the root has the same file; so has a second request.
    for target in ["/apple-app-site-association", Self.apple] {
      let again = try Self.get(server.port, target)
      #expect(again.status == 200)
      #expect(again.body == reply.body)
      #expect(again.header("ETag") == reply.header("ETag"))
    }
  }

  @Test func `Android's file has a statement for each package of the host (SH01, SH02, SH03)`() throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    let reply = try Self.get(server.port, Self.android)
    #expect(reply.status == 200)
    #expect(reply.header("Content-Type") == "application/json")
    #expect(reply.header("Location") == nil)
    let (file, findings) = try AssetLinks.read(reply.body)
    #expect(findings.isEmpty)
    #expect(
      file.statements.map(\.package.text).sorted() == ["com.example.a", "com.example.b", "com.example.c"])
    #expect(file.statements.allSatisfy { $0.fingerprints.map(\.text).first?.hasPrefix("AB:AB:") == true })
    #expect(file.statements.allSatisfy { $0.fingerprints.count == 2 })
    guard case .array(let statements) = try JSONValue(parsing: reply.body) else {
      Issue.record("no list")
      return
    }
    for statement in statements {
      #expect(statement["relation"] == ["delegate_permission/common.handle_all_urls"])
      #expect(statement["target"]?["namespace"] == "android_app")
    }
  }

  @Test(arguments: [
    ("TAG", true), ("W/TAG", true), ("\"x\", TAG", true), ("\"x\",\tW/TAG , \"y\"", true), ("*", true),
    ("\"x\"", false), ("W/\"x\"", false), ("", false), ("x", false),
  ])
  func `A client that has the file gets 304 (SH09)`(field: String, isKnown: Bool) throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    for target in [Self.apple, Self.android] {
      let whole = try Self.get(server.port, target, "Accept-Encoding: gzip, br\r\n")
      let tag = try #require(whole.header("ETag"))
      #expect(tag.hasPrefix("\""))
      #expect(tag.hasSuffix("\""))
      #expect(tag.utf8.count > 20)
      #expect(whole.header("Content-Encoding") == nil)
      let text = field.replacing("TAG", with: tag)
      let again = try Self.get(server.port, target, "If-None-Match: \(text)\r\n")
      #expect(again.status == (isKnown ? 304 : 200))
      #expect(again.body.isEmpty == isKnown)
      #expect(again.header("ETag") == tag)
      #expect(again.header("Cache-Control") == whole.header("Cache-Control"))
    }
  }

  @Test func `HEAD has the fields and no body, and only GET and HEAD are accepted (SH09)`() throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    for target in [Self.apple, Self.android] {
      let whole = try Self.get(server.port, target)
      let client = try RawClient(port: server.port)
      try client.send("HEAD \(target) HTTP/1.1\r\nHost: pay.example.com\r\nConnection: close\r\n\r\n")
      let head = client.untilClosed()
      #expect(head.hasPrefix("HTTP/1.1 200"))
      #expect(head.hasSuffix("\r\n\r\n"))
      #expect(head.contains("ETag: \(try #require(whole.header("ETag")))"))
      #expect(head.contains("Content-Length: \(whole.body.count)\r\n"))
      let refused = try Self.get(server.port, target, method: "DELETE")
      #expect(refused.status == 405)
      #expect(refused.header("Allow") == "GET, HEAD")
    }
  }

  @Test("Each host has its own files, in any case and with any port; an unknown host has none (SC21, SH11)")
  func hosts() throws {
    let bench = try Self.bench()
    let server = try bench.serve()
    let own = try Self.get(server.port, Self.apple).body
    for host in ["PAY.Example.com", "pay.example.com:443", "pay.example.com:8080", "pay.example.com."] {
      #expect(try Self.get(server.port, Self.apple, host: host).body == own)
    }
    for host in ["bare.example.com", "bare.example.com:8443"] {
      let reply = try Self.get(server.port, Self.apple, host: host)
      #expect(reply.status == 200)
      #expect(reply.body == Array(#"{"applinks":{"apps":[],"details":[]}}"#.utf8))
      #expect(try Self.get(server.port, Self.android, host: host).body == Array("[]".utf8))
    }
    for host in [
      "evil.test", "127.0.0.1", "example.com", "xpay.example.com", "pay.example.com.evil.test",
    ] {
      let reply = try Self.get(
        server.port, Self.apple, host: host,
        "X-Forwarded-Host: pay.example.com\r\nX-Forwarded-Proto: http\r\n")
      #expect(reply.status == 404)
      #expect(reply.header("Content-Type") == "application/problem+json")
      let problem = try JSONValue(parsing: reply.body)
      #expect(problem["type"] == "urn:receiptd:problem:unknown-host")
      #expect(!String(decoding: reply.body, as: UTF8.self).contains("evil"))
    }
  }

  @Test(arguments: [
    ("swedbank: {}", "NOT /v1/*"), ("swedbank: {}", "NOT /*/swedbank/*"),
    ("'return': {}", "NOT /v1/shop/return"),
    ("'return': {}", "NOT /*"),
  ])
  func `An exclusion of the way back is a fault that names it`(part: String, path: String) {
    let app = "app_ids: ['ABCDE12345.a.b']"
    func text(_ more: String) -> String {
      Samples.text(
        app: "links: { origin: 'https://a.test', \(more), ios: { \(app), paths: ['/*', '\(path)'] } },")
    }
    let faults = Samples.faults(text(part))
    #expect(faults.map(\.path) == ["apps.shop.links.ios.paths[1]"])
    #expect(faults.first?.message.contains("the way back") == true)
    #expect(Samples.faults(text("checkout: {}")).isEmpty)
  }

  @Test func `Files that devices would reject are faults (SH12)`() {
    let ids = (0..<100).map { "'ABCDE12345.com.example.\(String(repeating: "a", count: 200))\($0)'" }
    let paths = (0..<500).map { "'/\(String(repeating: "b", count: 20))\($0)/*'" }
    let faults = Samples.faults(
      Samples.text(
        app: "links: { origin: 'https://a.test', ios: { app_ids: [\(ids.joined(separator: ","))], "
          + "paths: [\(paths.joined(separator: ","))] } },"))
    #expect(faults.map(\.path) == ["apps.shop.links.ios"])
    #expect(faults.first?.message.contains("131072") == true)
  }
}
