// Tokens, proxies and limits in the configuration: parsed, refused, printed.

import Cryptography
import Domain
import Formats
import Platform
import TestSupport
import Testing

@testable import Config

@Suite("The configuration of client access") struct TokenConfigurationTests {
  typealias Samples = ConfigurationSamples

  private static let secretKey = #"{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"}"#

  private static func text(_ jwt: String, keys: String = "") -> String {
    Samples.text(
      client: "client: { \(keys) jwt: { issuer: 'https://id/', audience: 'relay', \(jwt) } },")
  }

  private static func environment(_ keys: String) -> Environment {
    Environment([
      "CLIENT_KEY": "client-key", "WEBHOOK_SECRET": "whsec_one", "API_KEY": "ply-key", "KEYS": keys,
    ])
  }

  @Test func `Keys and tokens may be combined, and missing values have their defaults`() throws {
    let folder = try TestFolder()
    let file = try folder.write("{\"keys\":[\n\(Self.secretKey)\n]}\n", to: "keys.json")
    let alone = try Samples.app(Self.text("keys: 'file:\(file)'"))
    guard case .restricted(let keys, let tokens?, _) = alone.client else {
      Issue.record("no tokens")
      return
    }
    #expect(keys.isEmpty)
    #expect(tokens.rules == TokenRules(issuer: "https://id/", audiences: ["relay"]))
    #expect(tokens.rules.leeway == .seconds(60))
    #expect(tokens.rules.algorithms == [.rs256, .es256, .hs256])
    let both = Self.text(
      "jwks: 'https://id.example.com/keys', algorithms: ['ES256'], user_claim: 'uid', leeway: '5s'",
      keys: "keys: ['env:CLIENT_KEY'],")
    let app = try Samples.app(both)
    guard case .restricted(let shown, let rules?, _) = app.client else {
      Issue.record("no tokens")
      return
    }
    #expect(shown.count == 1)
    #expect(rules.keys == .fetched(url: "https://id.example.com/keys"))
    #expect(rules.rules.algorithms == [.es256])
    #expect(rules.rules.userClaim == "uid")
    let redacted = try Samples.read(both).configuration.redacted["apps"]?["shop"]?["client"]
    #expect(redacted?["jwt"]?["jwks"] == "https://id.example.com/keys")
    #expect(redacted?["jwt"]?["leeway"] == "5s")
    #expect(redacted?["keys"] == ["env:CLIENT_KEY"])
  }

  @Test func `Keys are shown by their source, never by their value, also in faults (R7)`() throws {
    let environment = Self.environment(Self.secretKey)
    let loaded = try Samples.read(Self.text("keys: 'env:KEYS'"), environment: environment)
    #expect(loaded.configuration.redacted.text.contains(#""keys":"env:KEYS""#))
    #expect(!"\(loaded)".contains("c2VjcmV0"))
    #expect(!loaded.configuration.redacted.text.contains("c2VjcmV0"))
    for text in [
      "keys: '\(Self.secretKey)'", "keys: 'env:KEYS', algorithms: ['RS256']",
      "keys: 'env:KEYS', jwks: 'https://id/'",
    ] {
      let faults = Samples.faults(Self.text(text), environment: environment)
      #expect(!faults.isEmpty)
      #expect(!"\(faults)".contains("c2VjcmV0"))
    }
    let short = #"{"keys":[{"kty":"OKP"},{"kty":"oct","k":"c2hvcnQ"}]}"#
    let faults = Samples.faults(Self.text("keys: 'env:KEYS'"), environment: Self.environment(short))
    #expect(faults.map(\.path) == ["apps.shop.client.jwt.keys"])
    #expect(faults.first?.message.contains("number 2, that is a secret of fewer than 32 bytes") == true)
  }

  static let faultCases: [(String, String, String)] = [
    ("jwks: 'http://id.example.com/'", "apps.shop.client.jwt.jwks", "must begin with https://"),
    ("jwks: 'https://id/', algorithms: ['HS256']", "apps.shop.client.jwt.jwks", "which are secret"),
    ("jwks: 'https://id/', algorithms: ['none']", "apps.shop.client.jwt.algorithms[0]", "must be one of"),
    ("jwks: 'https://id/', algorithms: []", "apps.shop.client.jwt.algorithms", "must have from 1 to 3"),
    ("jwks: 'https://id/', leeway: '2h'", "apps.shop.client.jwt.leeway", "from 0s to 1h"),
    ("jwks: 'https://id/', user_claim: ''", "apps.shop.client.jwt.user_claim", "is empty"),
    ("jwks: 'https://id/', claim: 'sub'", "apps.shop.client.jwt.claim", "is not a known key"),
    ("", "apps.shop.client.jwt.keys", "is missing"),
    ("keys: ['env:KEYS']", "apps.shop.client.jwt.keys", "must say where it is"),
    ("keys: 'env:NO_SUCH'", "apps.shop.client.jwt.keys", "is not set"),
    ("keys: 'file:/no/such/file'", "apps.shop.client.jwt.keys", "cannot read"),
    ("keys: 'env:CLIENT_KEY'", "apps.shop.client.jwt.keys", "is neither a JWK Set"),
  ]

  @Test(arguments: faultCases)
  func `Every fault names its key`(text: String, path: String, message: String) {
    let faults = Samples.faults(Self.text(text))
    #expect(faults.contains { $0.path == path && $0.message.contains(message) }, "\(faults)")
  }

  @Test("SW31: One header field or several may have a client's key; none that means something else")
  func headers() throws {
    func headers(_ text: String) throws -> [String]? {
      let app = try Samples.app(
        Samples.text(client: "client: { keys: ['env:CLIENT_KEY'], header: \(text) },"))
      guard case .restricted(_, _, let headers) = app.client else { return nil }
      return headers
    }
    #expect(try headers("'x-payex-sample-apikey'") == ["x-payex-sample-apikey"])
    #expect(try headers("['X-A', 'x-b']") == ["X-A", "x-b"])
    for wrong in [
      "'X-API-KEY'", "'Authorization'", "'x-user-id'", "'Content-Type'", "'Host'", "'X-Forwarded-For'", "''",
      "'a b'", "'a_b'", "'1a'", "7",
    ] {
      let faults = Samples.faults(
        Samples.text(client: "client: { keys: ['env:CLIENT_KEY'], header: \(wrong) },"))
      #expect(faults.map(\.path) == ["apps.shop.client.header"], "\(wrong)")
    }
    let keyless = Samples.faults(Self.text("jwks: 'https://id/'", keys: "header: 'x-a',"))
    #expect(keyless.map(\.path) == ["apps.shop.client.header"])
  }

  @Test func `An issuer and an audience are required, and at least one kind of access`() {
    let bare = Samples.faults(Samples.text(client: "client: { jwt: { jwks: 'https://id/' } },"))
    #expect(Set(bare.map(\.path)) == ["apps.shop.client.jwt.issuer", "apps.shop.client.jwt.audience"])
    #expect(Samples.faults(Samples.text(client: "client: {},")).map(\.path) == ["apps.shop.client.keys"])
  }

  @Test func `Limits and proxies are read, and invalid values are refused`() throws {
    let text = Samples.text(
      root: "listen: { proxies: ['10.0.0.0/8'] }, "
        + "limits: { contexts_per_user: '5/s', contexts_per_address: 'off' },")
    let configuration = try Samples.read(text).configuration
    #expect(configuration.limits.contextsPerUser == RateLimit(5, per: .second))
    #expect(configuration.limits.contextsPerAddress == nil)
    #expect(configuration.listen.proxies.map(\.description) == ["10.0.0.0/8"])
    for (root, path) in [
      ("limits: { contexts_per_user: '5/d' },", "limits.contexts_per_user"),
      ("limits: { contexts_per_address: 5 },", "limits.contexts_per_address"),
      ("listen: { proxies: ['10.0.0.1/8'] },", "listen.proxies[0]"),
      ("listen: { proxies: 'localhost' },", "listen.proxies"),
    ] {
      #expect(Samples.faults(Samples.text(root: root)).map(\.path) == [path])
    }
  }
}
