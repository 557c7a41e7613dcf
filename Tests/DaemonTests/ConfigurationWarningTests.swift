// The warnings of `--check`, and what a printed configuration omits.

import Formats
import Platform
import Testing

@testable import Config

@Suite struct ConfigurationWarningTests {
  typealias Samples = ConfigurationSamples

  private func warnings(_ text: String) throws -> [Fault] { try Samples.read(text).warnings }

  @Test func `A client key that can be guessed is a warning, a key of 16 bytes is not`() throws {
    let found = try warnings(Samples.text(client: "client: { keys: ['k', '0123456789abcdef'] },"))
    #expect(found.map(\.path) == ["apps.shop.client.keys[0]"])
    #expect(found.first?.message.contains("has 1 byte and can be guessed") == true)
    #expect(found.first?.message.contains("openssl rand -hex 24") == true)
  }

  @Test(arguments: ["0.0.0.0/0", "::/0", "128.0.0.0/1", "0.0.0.0/7", "2000::/3"])
  func `A network that is too large for proxies is a warning`(network: String) throws {
    let found = try warnings(Samples.text(root: "listen: { proxies: ['127.0.0.1', '\(network)'] },"))
    #expect(found.map(\.path) == ["listen.proxies[1]"])
    #expect(found.first?.message.contains("write the address of your proxy") == true)
  }

  @Test(arguments: ["10.0.0.0/8", "127.0.0.0/8", "fd00::/8", "fc00::/7", "2001:db8::/32", "192.0.2.1", "::1"])
  func `A usual network of proxies is not a warning`(network: String) throws {
    #expect(try warnings(Samples.text(root: "listen: { proxies: ['\(network)'] },")).isEmpty)
  }

  @Test func `A relative database path is a warning: it moves with the configuration`() throws {
    let text = Samples.text().replacing("/etc/receiptd/receiptd.db", with: "receiptd.db")
    let loaded = try Samples.read(text)
    #expect(loaded.configuration.database == .file("/etc/receiptd/receiptd.db"))
    #expect(loaded.warnings.map(\.path) == ["database"])
  }

  @Test func `A webhook secret that is not Stripe's is a warning, an API key in its place a fault`() throws {
    let found = try warnings(Samples.text(webhookSecrets: "['whsec_a', 'shh']"))
    #expect(found.map(\.path) == ["apps.shop.stripe.webhook_secrets[1]"])
    #expect(found.first?.message.contains("does not begin with whsec_") == true)
    for key in ["sk_live_1", "rk_live_1", "pk_test_1"] {
      let faults = Samples.faults(Samples.text(webhookSecrets: "['\(key)']"))
      #expect(faults.map(\.path) == ["apps.shop.stripe.webhook_secrets[0]"])
      #expect(faults.first.map { $0.message.contains("is an API key") && !$0.message.contains(key) } == true)
    }
  }

  @Test("Two apps on one Stripe account, of which one does not say what it sells, are a warning")
  func sharedAccount() throws {
    func found(_ stripe: String, _ other: String) throws -> [String] {
      let secret = "webhook_secrets: ['whsec_other']"
      let apps =
        "tv: { client: { keys: ['env:CLIENT_KEY'] }, stripe: { \(secret), \(other) }, "
        + "purchasely: { api_key: 'env:API_KEY' } },"
      return try warnings(Samples.text(stripe: stripe, apps: apps)).map(\.path)
        .filter { $0.hasSuffix("sells") }
    }
    let sells = "sells: { prices: ['price_1'] }"
    #expect(try found("api_key: 'rk_1',", "api_key: 'rk_2'") == [])
    #expect(try found("api_key: 'rk_1',", "api_key: 'rk_1', \(sells)") == ["apps.shop.stripe.sells"])
    let both = try found("account: 'acct_1',", "account: 'acct_1'")
    #expect(both == ["apps.shop.stripe.sells", "apps.tv.stripe.sells"])
    #expect(try found("account: 'acct_1', \(sells),", "account: 'acct_1', \(sells)") == [])
  }

  @Test func `Tokens in URLs are not printed with the configuration (R7)`() throws {
    let links = """
      links: { origin: "https://pay.example.com",
        checkout: { price_1: "https://buy.stripe.com/x?token=hidden-5" },
        return: { name: "Shop", ios_store: "https://apps.apple.com/app?pt=hidden-6",
                  android_store: "https://play.google.com/store?id=hidden-7" } },
      """
    let configuration = try Samples.read(
      Samples.text(
        stripe: "api_base: 'https://example.com/?key=hidden-1',",
        purchasely: "url: 'https://example.com/receipts?token=hidden-2&v=hidden-3&hidden-4',", app: links)
    ).configuration
    let shown = configuration.redacted.text
    #expect(!shown.contains("hidden-"), "\(shown)")
    #expect(shown.contains("https://example.com/receipts?token=***&v=***&***"))
    #expect(shown.contains("https://play.google.com/store?id=***"))
  }

  @Test(arguments: [
    ("https://host/path", "https://host/path"),
    ("https://user:pass@host:8443/p?a=1", "https://***@host:8443/p?a=***"),
    ("https://a@b@host/p@q", "https://***@host/p@q"),
    ("https://host?t=a=b&&c#frag", "https://host?t=***&&***"),
    ("https://host/?", "https://host/?"),
  ])
  func `A printed URL keeps the server's address and hides credentials`(pair: (String, String)) {
    #expect(RedactedURL.text(pair.0) == pair.1)
  }

  @Test func `A change of a value that is not printed counts as a change`() throws {
    func snapshot(_ token: String) throws -> ConfigurationSnapshot {
      let text = Samples.text(purchasely: "url: 'https://example.com/r?token=\(token)',")
      return ConfigurationSnapshot(try Samples.read(text).configuration)
    }
    let changes = try snapshot("a").changes(to: snapshot("b"))
    #expect(changes.reloadable == ["apps.shop.purchasely"])
    #expect(changes.fixed.isEmpty)
  }
}
