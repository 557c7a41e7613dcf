// `receiptctl links check`: files, verdicts, files from disk, and what hosts serve.

import Domain
import Formats
import FoundationEssentials
import HTTPServer
import Platform
import Terminal
import Testing

@Suite("Links") struct LinksTests {
  private static let fingerprint = String(repeating: "ab", count: 32)

  /// A relay with three apps on two hosts.
  private static func harness(origin: String = "https://pay.example.com") throws -> OperatorHarness {
    let harness = try OperatorHarness(apps: ["ios", "second", "third"])
    let links = [
      "ios": """
      links: { origin: '\(origin)', swedbank: {}, 'return': {},
        ios: { app_ids: ['ABCDE12345.com.example.app'], paths: ['/buy/*', 'NOT /buy/gift/*'],
               webcredentials: true },
        android: { packages: [{ name: 'com.example.app', sha256_cert_fingerprints: ['\(fingerprint)'] }] } },
      """,
      "second":
        "links: { origin: '\(origin)', ios: { app_ids: ['OTHER12345.org.example'], paths: ['/else'] } },",
      "third": "links: { origin: 'https://third.example.com' },",
    ]
    try harness.configure { text in
      links.reduce(text) { $0.replacing("'\($1.key)': {", with: "'\($1.key)': { \($1.value)") }
    }
    return harness
  }

  @Test func `The files of each host are shown with their rules`() throws {
    let harness = try Self.harness()
    Snapshot.check(harness.run("links", "check").out, "links-check")
    let objects = try harness.run("links", "check", "--json").objects
    #expect(objects.map { $0["host"] } == ["pay.example.com", "third.example.com"])
    let apple = try #require(objects[0]["apple"]?["file"])
    #expect(objects[0]["apple"]?["bytes"] == .integer(Int64(apple.serialized().count)))
    #expect(try harness.run("links", "check", "--app", "third", "--json").objects.count == 1)
  }

  @Test func `Apps that open each other's way back, and apps that open nothing, are warnings`() throws {
    let harness = try Self.harness()
    #expect(harness.run("links", "check").notes.isEmpty)
    try harness.configure { $0.replacing("paths: ['/else']", with: "paths: ['/*']") }
    let broad = harness.run("links", "check")
    #expect(broad.code == .done)
    #expect(
      broad.notes.contains("note: apps.second.links.ios.paths also opens /v1/ios/swedbank/sdk-callback/*"))
    #expect(broad.notes.contains("also opens /v1/ios/return"))
    #expect(broad.notes.contains(#"add "NOT /v1/ios/*""#))
    try harness.configure { $0.replacing("paths: ['/*']", with: "paths: ['NOT /v1/ios/*', '/*']") }
    #expect(harness.run("links", "check").notes.isEmpty)
    try harness.configure { $0.replacing("paths: ['NOT /v1/ios/*', '/*']", with: "paths: ['NOT /x']") }
    let empty = try #require(try harness.run("links", "check", "--json").objects.first?["findings"])
    #expect(empty.text.contains("lets nothing in"))
    #expect(empty.text.contains("apps.second.links.ios.paths"))
  }

  @Test func `A URL's verdict names the rule that decided`() throws {
    let harness = try Self.harness()
    Snapshot.check(harness.run("links", "check", "https://pay.example.com/buy/1").out, "links-check-url")
    func verdict(_ path: String, _ app: String = "ABCDE12345.com.example.app") throws -> [JSONValue?] {
      let ran = harness.run("links", "check", "https://PAY.example.com:443\(path)", "--json")
      #expect(ran.code == .done)
      let line = try #require(try ran.objects.first { $0["app"] == .string(app) })
      return ["opens", "outcome", "entry", "list", "rule", "ios12"].map { line[$0] }
    }
    #expect(try verdict("/buy/1") == ["app", "opens", 0, "components", 4, "app"])
    #expect(try verdict("/buy/gift/1") == ["browser", "excluded", 0, "components", 0, "browser"])
    #expect(
      try verdict("/v1/ios/swedbank/sdk-callback/ios-universal-link?a") == [
        "app", "opens", 0, "components", 1, "app",
      ])
    #expect(try verdict("/v1/ios/return?context_id=ctx_1")[1] == "opens")
    #expect(try verdict("/none") == ["browser", "unmatched", nil, nil, nil, "browser"])
    #expect(try verdict("/else", "OTHER12345.org.example") == ["app", "opens", 1, "components", 0, "app"])
    #expect(try verdict("/any", "com.example.app").prefix(2) == ["app", "opens"])
    let one = try harness.run("links", "check", "/else", "--app", "second", "--json").objects
    #expect(one.map { $0["app"] } == ["OTHER12345.org.example"])
  }

  @Test(arguments: [
    (["/buy"], ExitCode.notFound, "may be of any of"),
    (["https://evil.test/"], .notFound, "not the origin of an app"),
    (["javascript:x"], .usage, "not a whole address"), (["ftp://a/"], .usage, "not a web address"),
    (["--app", "thrd"], .notFound, "did you mean 'third'?"),
    (["--app", "none\u{1B}[2J"], .notFound, "no app 'none"),
    (["--file", "x", "--fetch"], .usage, "goes without --file"),
    (["--file", "/none"], .notFound, "there is no file"),
  ])
  func `A refused URL has a reason`(arguments: [String], code: ExitCode, words: String) throws {
    let ran = try Self.harness().run(arguments: ["links", "check"] + arguments)
    #expect(ran.code == code, "\(ran.notes)")
    #expect(ran.notes.contains(words), "\(ran.notes)")
    #expect(!ran.notes.contains("\u{1B}"))
  }

  @Test func `Without links there is nothing to check`() throws {
    let ran = try OperatorHarness().run("links", "check")
    #expect(ran.code == .notFound)
    #expect(ran.notes.contains("links: {"))
  }

  @Test func `A file from disk is checked and matched`() throws {
    let harness = try OperatorHarness()
    let good =
      #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.a","paths":["NOT /x","/*"]}]}}"#
    let ok = harness.run("links", "check", "--file", "-", input: good)
    #expect(ok.code == .done)
    #expect(ok.out.hasPrefix("stdin: ok (apple-app-site-association, "))
    #expect(ok.notes.isEmpty)
    let asked = harness.run("links", "check", "https://any.test/x", "--file", "-", "--json", input: good)
    #expect(try asked.objects.map { [$0["opens"], $0["list"], $0["rule"]] } == [["browser", "paths", 0]])
    let unlisted = harness.run(
      "links", "check", "/x", "--file", "-", "--app", "ZZZZZ12345.z", "--json", input: good)
    #expect(try unlisted.objects.map { $0["outcome"] } == ["unlisted"])

    let faulty =
      #"{"applinks":{"details":[{"appIDs":["ABCDE12345.a"],"components":[{"/":"/$(no)"},{"?":{"a":1}}]}]}}"#
    let path = harness.folder + "/file"
    try Data(faulty.utf8).write(to: URL(filePath: path))
    let bad = harness.run("links", "check", "--file", path)
    #expect(bad.code == .badData)
    #expect(bad.out.contains("FOLDER/file: faulty"))
    #expect(bad.notes.contains("fault: applinks.details[0].components[1].? has a value that is not a string"))
    #expect(bad.notes.contains("fault: applinks.details[0].components[0] names an unknown variable"))
    #expect(bad.notes.contains("note: applinks.apps must be there and empty"))
    let report = try #require(try harness.run("links", "check", "--file", path, "--json").objects.first)
    #expect(report["ok"] == false)
    #expect(report["kind"] == "apple-app-site-association")

    let both =
      #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.a","appIDs":["ABCDE12345.b"],"#
      + #""components":[{"/":"/*"}]}]}}"#
    let ignored = harness.run("links", "check", "--file", "-", input: both)
    #expect(ignored.code == .badData)
    #expect(ignored.notes.contains("has an appID that is not in its appIDs"))
    let judged = harness.run("links", "check", "/x", "--file", "-", "--json", input: both)
    #expect(try judged.objects.map { $0["app"] } == ["ABCDE12345.b"])

    let android = AssetLinks([
      .init(package: try PackageName("a.b"), fingerprints: [try CertificateFingerprint(Self.fingerprint)])
    ])
    let text = android.json.text
    #expect(harness.run("links", "check", "--file", "-", input: text).out.contains("(assetlinks.json, "))
    let opened = harness.run("links", "check", "/x", "--file", "-", "--json", input: text)
    #expect(try opened.objects.map { $0["system"] } == ["android"])
    for (input, words) in [
      ("{", "is not JSON"), ("7", "is not a JSON object"),
      (good + String(repeating: " ", count: 131_072), "131072"),
    ] {
      let refused = harness.run("links", "check", "--file", "-", input: input)
      #expect(refused.code == .badData)
      #expect(refused.notes.contains(words))
    }
  }

  @Test func `The files that a host serves are compared with the configuration`() throws {
    StandardStream.ignoreBrokenPipes()
    let host = Host()
    let server = try Server(ServerConfiguration(address: "127.0.0.1"), handler: host)
    let harness = try Self.harness(origin: "http://127.0.0.1:\(server.port)")
    func fetch() -> Ran { harness.run("links", "check", "--app", "ios", "--fetch", "--json") }
    func reports(_ ran: Ran) throws -> [String] {
      try ran.objects.filter { $0["url"] != nil }.map { $0["faults"]?.text ?? "" }
    }
    let files = try #require(try fetch().objects.first)
    let apple = try #require(files["apple"]?["file"]).serialized()
    let android = try #require(files["android"]?["file"]).serialized()
    let paths = ["/.well-known/apple-app-site-association", "/.well-known/assetlinks.json"]
    func serve(_ first: Response, _ second: Response) {
      host.answers.withLock { $0 = [paths[0]: first, paths[1]: second] }
    }
    func json(_ body: [UInt8]) -> Response {
      Response(status: 200, type: "application/json; charset=utf-8", body: body)
    }

    serve(json(apple), json(android))
    #expect(fetch().code == .done)
    #expect(try reports(fetch()) == ["[]", "[]"])
    serve(
      Response(status: 301, headers: [("Location", "https://www.example.com/")]),
      Response(status: 200, type: "text/html", body: android))
    let wrong = fetch()
    #expect(wrong.code == .failed)
    #expect(try reports(wrong)[0].contains("redirect (301 to https://www.example.com/)"))
    #expect(try reports(wrong)[1].contains("not sent as application/json"))
    serve(json(Array("{}".utf8)), json(Array(repeating: 0x20, count: 131_073)))
    let other = try reports(fetch())
    #expect(other[0].contains("differs from the configuration"))
    #expect(other[1].contains("larger than 131072"))
    serve(Response(status: 404), Response(status: 503))
    #expect(try reports(fetch())[0].contains("status 404"))
    server.stop(grace: .zero)
    #expect(fetch().code == .unavailable)
  }
}
