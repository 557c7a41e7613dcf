// Apple's association file: read in all its formats, made from configured apps, and read again.

import Testing

@testable import Formats

struct AppSiteAssociationFileTests {
  private let first = "TEAMID1234.com.example.first"
  private let second = "TEAMID1234.com.example.second"

  private static let callback = LinkedApp.OwnPath(
    pattern: "/v1/ios/swedbank/sdk-callback/*", example: "/v1/ios/swedbank/sdk-callback/ios-universal-link",
    isOptional: false, comment: "Pattern for all iOS Universal Links")
  private static let back = LinkedApp.OwnPath(
    pattern: "/v1/ios/return", example: "/v1/ios/return", isOptional: true)

  private func app(
    _ ids: [String], _ paths: [String], own: [LinkedApp.OwnPath] = [], credentials: Bool = false
  ) throws -> LinkedApp {
    LinkedApp(
      ids: try ids.map { try AppleAppID($0) }, paths: try paths.map { try LinkPath($0) }, ownPaths: own,
      sharesWebCredentials: credentials)
  }

  /// SC20: old and new format in one entry, byte for byte.
  @Test func `One app has both forms in one entry`() throws {
    let file = AppSiteAssociation(apps: [try app([first], [], own: [Self.callback])])
    #expect(
      String(decoding: try file.serialized(), as: UTF8.self)
        == #"{"applinks":{"apps":[],"details":[{"appID":"TEAMID1234.com.example.first","#
        + #""paths":["/v1/ios/swedbank/sdk-callback/*"],"appIDs":["TEAMID1234.com.example.first"],"#
        + #""components":[{"/":"/v1/ios/swedbank/sdk-callback/*","#
        + #""comment":"Pattern for all iOS Universal Links"}]}]}}"#)
  }

  /// SC21.
  @Test func `No app makes a file without details`() throws {
    let bytes = try AppSiteAssociation(apps: []).serialized()
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"applinks":{"apps":[],"details":[]}}"#)
  }

  /// SC22.
  @Test func `Apps with the same rules share the new form and keep the old one each`() throws {
    let file = AppSiteAssociation(apps: [try app([first, second], ["/sdk-callback/*"], credentials: true)])
    #expect(
      file.json.text
        == #"{"applinks":{"apps":[],"details":[{"appID":"TEAMID1234.com.example.first","#
        + #""paths":["/sdk-callback/*"],"#
        + #""appIDs":["TEAMID1234.com.example.first","TEAMID1234.com.example.second"],"#
        + #""components":[{"/":"/sdk-callback/*"}]},"#
        + #"{"appID":"TEAMID1234.com.example.second","paths":["/sdk-callback/*"]}]},"#
        + #""webcredentials":{"apps":["TEAMID1234.com.example.first","TEAMID1234.com.example.second"]}}"#)
  }

  /// SH05.
  @Test func `Exclusions come first in their order, then the relay's own paths, then the others`() throws {
    let configured = ["/*", "NOT /admin/*", "/shop/*", "NOT /*/amazon_payments/callback"]
    let file = AppSiteAssociation(apps: [try app([first], configured, own: [Self.callback, Self.back])])
    let entry = try #require(file.links?.entries.first)
    #expect(
      entry.paths == [
        "NOT /admin/*", "NOT /*/amazon_payments/callback", "/v1/ios/swedbank/sdk-callback/*", "/*", "/shop/*",
      ])
    #expect(
      entry.components?.map(\.json.text) == [
        #"{"/":"/admin/*","exclude":true}"#, #"{"/":"/*/amazon_payments/callback","exclude":true}"#,
        #"{"/":"/v1/ios/swedbank/sdk-callback/*","comment":"Pattern for all iOS Universal Links"}"#,
        #"{"/":"/*"}"#, #"{"/":"/shop/*"}"#,
      ])
    let narrow = AppSiteAssociation(apps: [
      try app([first], ["/shop/*", Self.callback.pattern], own: [Self.callback, Self.back])
    ])
    #expect(
      narrow.links?.entries.first?.paths
        == ["/v1/ios/return", "/shop/*", "/v1/ios/swedbank/sdk-callback/*"])
  }

  @Test(arguments: [
    "NOT /v1/*", "NOT /*", "NOT /v1/ios/swedbank/*", "NOT /*/sdk-callback/ios-universal-link",
  ])
  func `An exclusion of a path that the relay needs is found`(path: String) throws {
    let linked = try app([first], ["/shop/*", path, "/*", "NOT /admin/*"], own: [Self.callback])
    #expect(linked.paths.map { linked.ownPath(shutOutBy: $0) } == [nil, Self.callback, nil, nil])
  }

  @Test func `An app that is configured twice has one entry with the rules of both`() throws {
    let file = AppSiteAssociation(apps: [
      try app([first], ["/a/*"]), try app([second, first], ["NOT /b/x", "/b/*"]),
    ])
    #expect(file.links?.entries.map(\.appID) == [first, second])
    #expect(file.links?.entries.map(\.paths) == [["NOT /b/x", "/a/*", "/b/*"], ["NOT /b/x", "/b/*"]])
  }

  /// SH12.
  @Test func `A file that is larger than devices accept is not made`() throws {
    let ids = (0..<1_400).map { "TEAMID1234.com.example.app\($0)" }
    let fault = #expect(throws: AssociationFault.self) {
      try AppSiteAssociation(apps: [try app(ids, ["/a/*", "/b/*", "/c/*"])]).serialized()
    }
    #expect(fault?.description.contains("131072") == true)
  }

  @Test(arguments: [
    "", "a", "NOT", "NOT ", "NOT a", "/a b", "/é", "/a\"b", "/$(lang)/x", "/a#b", "/a\n",
    "/" + String(repeating: "a", count: 1_024),
  ])
  func `A path that devices would read differently is refused`(text: String) {
    #expect(throws: NameFault.self) { try LinkPath(text) }
  }

  /// SH08 and SC23: both formats of a generated file give the same, correct verdict for every URL.
  @Test func `The old and the new form of a file agree`() throws {
    let apps = [
      try app([first, second], ["NOT /admin/*", "/*", "NOT /*/x/?"], own: [Self.callback, Self.back]),
      try app(["OTHER12345.org.example"], ["/buy/*", "NOT /buy/??"], own: [Self.back]),
      try app([second], ["/only", "NOT /never*"]),
    ]
    let bytes = try AppSiteAssociation(apps: apps).serialized()
    let (file, findings) = try AppSiteAssociation.read(bytes)
    #expect(findings == [])
    #expect(file == AppSiteAssociation(apps: apps))
    let current = AssociationMatcher(file)
    let legacy = AssociationMatcher(file, system: .legacy)
    #expect(current.apps == legacy.apps)
    var opened = 0
    for path in [
      "/", "/admin", "/admin/", "/admin/x", "/admins", "/a/x/1", "/a/x/12", "/buy", "/buy/1", "/buy/12",
      "/buy/123",
      "/v1/ios/return", "/v1/ios/returns", "/v1/ios/swedbank/sdk-callback/ios-universal-link?a=b&c", "/only",
      "/v1/ios/swedbank/consumers", "/never", "/nevermore", "/%61dmin", "//", "/a#b", "/ADMIN/x",
    ] {
      for app in current.apps {
        let url = try LinkURL("https://pay.example.com\(path)")
        let (now, then) = (current.verdict(for: url, app: app), legacy.verdict(for: url, app: app))
        #expect(now.opensApp == then.opensApp, "\(path) \(app)")
        #expect(now.place?.rule == then.place?.rule, "\(path) \(app)")
        opened += now.opensApp ? 1 : 0
      }
    }
    #expect((20..<60).contains(opened))
    let strict = AssociationMatcher(AppSiteAssociation(apps: [try app([first], [], own: [Self.callback])]))
    for (path, opens) in [
      ("/v1/ios/swedbank/sdk-callback/android-intent?package=a.b", true),
      ("/v1/ios/swedbank/sdk-callback/ios-universal-link?scheme=x", true),
      ("/v1/ios/swedbank/consumers", false),
      ("/", false),
    ] {
      #expect(strict.verdict(for: try LinkURL(path), app: first).opensApp == opens)
    }
  }

  /// SH06: typical exclusions of shops, in both formats.
  @Test(arguments: [
    ("/", true), ("/cart", true), ("/checkouts/cn/abc/thank-you", true), ("/admin", false),
    ("/admin/", false),
    ("/admin/users?x=1", false), ("/admins", true), ("/Admin/x", true), ("/7/shop_payments/callback", false),
    ("/7/shop_payments/callback/", false), ("/7/shop_payments/callback/x", true),
    ("/a/b/shop_payments/callback", false),
    ("/7/checkouts/abc/express/callback", false), ("/7/checkouts/express/callback", true),
    ("/7/checkouts/abc/express/callback/x", true),
  ])
  func `A shop's exclusions keep links in the browser`(path: String, opens: Bool) throws {
    let paths = [
      "/*", "NOT /admin/*", "NOT /*/shop_payments/callback", "NOT /*/checkouts/*/express/callback",
    ]
    let file = AppSiteAssociation(apps: [try app([first], paths)])
    for system in AssociationMatcher.System.allCases {
      let verdict = AssociationMatcher(file, system: system).verdict(for: try LinkURL(path), app: first)
      #expect(verdict.opensApp == opens)
      #expect(opens || verdict.place?.text.contains(system == .legacy ? "NOT " : "exclude") == true)
    }
  }

  @Test func `The oldest forms are read`() throws {
    let text =
      #"{"applinks":{"apps":[],"details":{"B.b":{"paths":["/b/","NOT /a/*"]},"#
      + #""A.a":{"paths":["NOT /a/x","/a/*"]}}},"webcredentials":{"apps":["A.a"]},"#
      + #""appclips":{"apps":["A.a.Clip"]},"activitycontinuation":{"apps":["B.b"]}}"#
    let (file, findings) = try AppSiteAssociation.read(Array(text.utf8))
    #expect(file.links?.entries.map(\.appID) == ["A.a", "B.b"])
    #expect(findings.contains { $0.place == "applinks.details" && $0.severity == .note })
    #expect(
      [file.webCredentials, file.appClips, file.activityContinuation] == [["A.a"], ["A.a.Clip"], ["B.b"]])
    for matcher in [AssociationMatcher(file), AssociationMatcher(file, system: .legacy)] {
      #expect(matcher.verdict(for: try LinkURL("/a/y"), app: "A.a").place?.rule == 1)
      let excluded = matcher.verdict(for: try LinkURL("/a/x"), app: "A.a")
      #expect(excluded == .excluded(.init(entry: 0, list: "paths", rule: 0, text: "NOT /a/x")))
      #expect(matcher.verdict(for: try LinkURL("/b"), app: "B.b").opensApp)
      #expect(matcher.verdict(for: try LinkURL("/b"), app: "C.c") == .unlisted)
    }
  }

  @Test(arguments: [
    ("{}", "none of applinks"), (#"{"applinks":[]}"#, "must be an object"),
    (#"{"applinks":{"apps":[],"details":1}}"#, "must be a list"),
    (#"{"applinks":{"apps":[],"details":[7]}}"#, "must be an object"),
    (#"{"applinks":{"apps":[],"details":[{"paths":["/"]}]}}"#, "names no app"),
    (#"{"applinks":{"apps":[],"details":[{"appID":"x","paths":["/"]}]}}"#, "is not an app id"),
    (#"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.a"}]}}"#, "neither components nor paths"),
    (#"{"applinks":{"details":[]}}"#, "iOS 12"), (#"{"webcredentials":{"apps":"x"}}"#, "list of strings"),
    (
      #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.a","components":[{"?":{"a":1}}]}]}}"#,
      "not a string"
    ),
    (
      #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.a","components":[{"exclude":1}]}]}}"#,
      "true or false"
    ),
    (#"{"applinks":{"apps":[],"details":[],"substitutionVariables":{"lang":["x"]}}}"#, "predefined variable"),
  ])
  func `Each fault of a file has a finding`(text: String, words: String) throws {
    let findings = try AppSiteAssociation.read(Array(text.utf8)).findings
    #expect(findings.contains { $0.message.contains(words) }, "\(findings)")
  }

  @Test(arguments: ["", "[]", "{", "\u{FEFF}{}x", "null"])
  func `A text that is not an association file is refused`(text: String) {
    #expect(throws: AssociationFault.self) { try AppSiteAssociation.read(Array(text.utf8)) }
  }

  @Test func `A file of 131072 bytes is read and a larger one is not`() throws {
    let text = #"{"applinks":{"apps":[],"details":[]}}"#
    let whole = Array(text.utf8) + Array(repeating: 0x20, count: 131_072 - text.utf8.count)
    #expect(try AppSiteAssociation.read(whole).findings == [])
    #expect(throws: AssociationFault.self) { try AppSiteAssociation.read(whole + [0x20]) }
  }
}
