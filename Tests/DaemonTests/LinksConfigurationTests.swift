// Valid and invalid `links`, and their faults.

import Domain
import Formats
import Testing

@testable import Config

@Suite("The configuration of links") struct LinksConfigurationTests {
  typealias Samples = ConfigurationSamples

  static let fingerprint = (0..<32).map { $0 < 10 ? "0\($0)" : "a\($0 % 10)" }

  static let whole = """
    links: {
      origin: "https://Pay.example.com/",
      ios: { app_ids: ["ABCDE12345.com.example.app"], scheme: "exampleapp", paths: ["NOT /admin/*", "/*"],
             webcredentials: true },
      android: {
        packages: [{ name: "com.example.app", sha256_cert_fingerprints: ["\(fingerprint.joined())"] }],
        scheme: "exampledroid", get_login_creds: true,
      },
      checkout: { "price_1": "https://buy.stripe.com/a", "plan.m": "https://www.example.com/c?plan=m" },
      "return": { name: "Example", ios_store: "https://apps.apple.com/app/id1", support: "help@example.com",
                  accent: "#0b57b0", accent_dark: "#84b9ff" },
      swedbank: { schemes: ["exampleapp"], packages: ["com.example.app"], redirect: 302 },
    },
    """

  @Test func `Every key of links is read, and shown with its effective value`() throws {
    let links = try #require(try Samples.app(Samples.text(app: Self.whole)).links)
    #expect(links.origin.text == "https://pay.example.com")
    #expect(links.ios?.appIDs.map(\.text) == ["ABCDE12345.com.example.app"])
    #expect(links.ios?.scheme?.text == "exampleapp")
    #expect(links.ios?.webcredentials == true)
    #expect(links.ios?.paths.map(\.text) == ["NOT /admin/*", "/*"])
    let package = try #require(links.android?.packages.first)
    #expect(package.name.text == "com.example.app")
    #expect(package.fingerprints.map(\.text) == [Self.fingerprint.joined(separator: ":").uppercased()])
    #expect(links.android?.scheme?.text == "exampledroid")
    #expect(links.android?.getsLoginCredentials == true)
    #expect(links.checkout["price_1"]?.url == "https://buy.stripe.com/a")
    #expect(links.checkout.count == 2)
    #expect(
      links.returnPage
        == .init(
          name: "Example", iosStore: "https://apps.apple.com/app/id1", support: .address("help@example.com"),
          accentLight: PageColor("#0b57b0"), accentDark: PageColor("#84b9ff")))
    let swedbank = try #require(links.swedbank)
    #expect(swedbank.schemes?.map(\.text) == ["exampleapp"])
    #expect(swedbank.redirect == .found)
    #expect(swedbank.trampoline == AppConfiguration.Links.Swedbank.defaultTrampoline)

    let shown = try Samples.read(Samples.text(app: Self.whole)).configuration.redacted["apps"]?["shop"]
    let again = try #require(shown?["links"])
    // Query values are not printed.
    let text = String(decoding: again.serialized(), as: UTF8.self).replacing("?plan=***", with: "?plan=m")
    #expect(try Samples.app(Samples.text(app: "links: \(text),")).links == links)
  }

  @Test("A trampoline on the origin's host is allowed with a warning, because it opens no app there")
  func trampolineOfTheSameHost() throws {
    let links =
      "links: { origin: 'https://a.test', swedbank: { trampoline: 'https://a.test/v1/shop/trampoline' } },"
    let warnings = try Samples.read(Samples.text(app: links)).warnings
    #expect(warnings.map(\.path) == ["apps.shop.links.swedbank.trampoline"])
  }

  @Test func `Without links there are no links; an origin alone has no target`() throws {
    #expect(try Samples.app(Samples.text()).links == nil)
    let text = Samples.text(app: "links: { origin: 'http://127.0.0.1:8080' },")
    let links = try #require(try Samples.app(text).links)
    #expect(links == .init(origin: try WebOrigin("http://127.0.0.1:8080")))
  }

  typealias Case = Samples.Case

  static let app = "app_ids: ['ABCDE12345.a.b']"
  static let package = "packages: [{ name: 'a.b', sha256_cert_fingerprints: ['\(fingerprint.joined())'] }]"

  /// Each is the faulty part of `links`, next to a valid origin.
  static let faults = [
    Case("ios.app_ids", "is missing", "ios: {}"),
    Case("ios.app_ids[0]", "is not an app id", "ios: { app_ids: ['x'] }"),
    Case("ios.scheme", "belongs to the device", "ios: { \(app), scheme: 'javascript' }"),
    Case("android.scheme", "belongs to the device", "android: { \(package), scheme: 'intent' }"),
    Case("android.get_login_creds", "must be", "android: { \(package), get_login_creds: 'yes' }"),
    Case("ios.paths[0]", "must be a path that begins with /", "ios: { \(app), paths: ['admin/*'] }"),
    Case("ios.paths[1]", "is in the list already", "ios: { \(app), paths: ['/*', '/*'] }"),
    Case("android.packages", "is missing", "android: {}"),
    Case(
      "android.packages[0].name", "is not the name of an Android package",
      "android: { packages: [{ name: 'app' }] }"),
    Case(
      "android.packages[0].sha256_cert_fingerprints[0]", "has 1 bytes",
      "android: { packages: [{ name: 'a.b', sha256_cert_fingerprints: ['aa'] }] }"),
    Case("checkout.p", "must begin with https://", "checkout: { p: 'http://a.test' }"),
    Case("checkout.p", "must be an address", "checkout: { p: 5 }"),
    Case(
      "checkout.p", "has client_reference_id in it",
      "checkout: { p: 'https://a.test/?x=1&client_reference_id=1' }"),
    Case("return.ios_store", "must begin with https://", "return: { ios_store: 'itms://a' }"),
    Case("return.support", "must be an e-mail address", "return: { support: 'help@@example.com' }"),
    Case("return.support", "must begin with https://", "return: { support: 'http://example.com/help' }"),
    Case("return.support", "must be a whole address", "return: { support: 'help' }"),
    Case(
      "return.support", "must begin with https:// and a host's name",
      "return: { support: 'https://example.com/@team' }"),
    Case(
      "return.ios_store", "must begin with https:// and a host's name",
      "return: { ios_store: 'http://localhost/app' }"),
    Case("return.accent", "must be a colour", "return: { accent: 'red' }"),
    Case(
      "return.accent", "has a contrast of 1.9 to the page's background #f3f4f7",
      "return: { accent: '#ff9900' }"),
    Case("return.accent", "#a16000 has that", "return: { accent: '#ff9900' }"),
    Case("return.accent_dark", "to the page's background #171b22", "return: { accent_dark: '#0b57b0' }"),
    Case("return.logo", "cannot read /nonexistent.svg", "return: { logo: '/nonexistent.svg' }"),
    Case("return.logo", "is neither an SVG nor a PNG picture", "return: { logo: '/etc/passwd' }"),
    Case("swedbank.redirect", "must be 301 or 302", "swedbank: { redirect: 307 }"),
    Case("swedbank.schemes[0]", "belongs to the device", "swedbank: { schemes: ['https'] }"),
    Case("swedbank.trampoline", "has a query", "swedbank: { trampoline: 'https://b.test/?x' }"),
    Case("checkout[\"\"]", "needs the price as its key", "checkout: { '': 'https://a.test/' }"),
    Case("returns", "did you mean \"return\"?", "returns: {}"),
  ]

  @Test(arguments: faults)
  func `An invalid value is a fault that names its key (SH04)`(_ sample: Case) {
    let text = Samples.text(app: "links: { origin: 'https://a.test', \(sample.text) },")
    let faults = Samples.faults(text)
    #expect(
      faults.contains {
        $0.path == "apps.shop.links.\(sample.path)" && $0.message.contains(sample.message)
      }, "\(faults)")
  }

  @Test(arguments: [
    "pay.example.com", "https://a.test/x", "https://u@a.test", "http://a.test", "https://", "https:///",
    "https://a.test?x", "https://a.test:0", "https://a.test:99999", "https://-a.test", "https://a b.test",
    "https://évil.test", "https://a.test//", "javascript://a.test", "https://[::g]", "https://a.test.",
    "https://a..test",
  ])
  func `An origin is a scheme, a host and nothing else`(text: String) {
    #expect(throws: NameFault.self) { try WebOrigin(text) }
    let faults = Samples.faults(Samples.text(app: "links: { origin: '\(text)' },"))
    #expect(faults.map(\.path) == ["apps.shop.links.origin"])
  }

  @Test func `A default port is omitted, and hosts compare without case`() throws {
    #expect(try WebOrigin("HTTPS://Pay.Example.com:443/").text == "https://pay.example.com")
    #expect(try WebOrigin("https://a.test:8443").authority == "a.test:8443")
    #expect(try WebOrigin("http://[::1]:80").text == "http://[::1]")
    #expect(WebOrigin.host(of: "Pay.Example.com:8080") == "pay.example.com")
    #expect(WebOrigin.host(of: "evil\"><script>") == nil)
    #expect(WebOrigin.host(of: "") == nil)
  }
}
