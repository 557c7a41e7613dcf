import Platform
import Testing

@testable import Config

extension ConfigurationSamples {
  static let rootFaults = [
    Case("", "must be an object", "[]"),
    Case(
      "database", "is missing; write the path",
      "{ apps: { a: { client: 'open', stripe: { webhook_secrets: ['s'] }, "
        + "purchasely: { api_key: 'k' } } } }"),
    Case("apps", "is missing; configure at least one app", "{ database: '/d' }"),
    Case("apps", "must have from 1 to 1000 apps, but has 0", "{ database: '/d', apps: {} }"),
    Case("apps", "must be an object, { … }, but is a list", "{ database: '/d', apps: [] }"),
    Case("listne", "did you mean \"listen\"?", text(root: "listne: {},")),
    Case("zebra", "the keys here are admin, alerts, apps, backup, database", text(root: "zebra: {},")),
    Case(
      "listen.port", "a whole number from 0 to 65535, but is 65536",
      text(root: "listen: { port: 65536 },")),
    Case("listen.port", "but is -1", text(root: "listen: { port: -1 },")),
    Case("listen.port", "but is a text", text(root: "listen: { port: '8080' },")),
    Case("listen.port", "but is 80.5", text(root: "listen: { port: 80.5 },")),
    Case("listen.port", "leave the key out", text(root: "listen: { port: null },")),
    Case("listen.address", "names are not looked up", text(root: "listen: { address: 'localhost' },")),
    Case("listen.address", "is empty", text(root: "listen: { address: '' },")),
    Case("listen.tls.key", "TLS needs both", text(root: "listen: { tls: { certificate: '/dev/null' } },")),
    Case("admin.port", "is the port of listen", text(root: "admin: { port: 8080 },")),
    Case(
      "admin.port", "is the port of listen",
      text(root: "admin: { address: '0.0.0.0', port: 8080, password: 'long enough for all' },")),
    Case("admin.password", "lets others than this machine in", text(root: "admin: { address: '::' },")),
    Case("admin.password", "is not set", text(root: "admin: { address: '::', password: 'env:NO_SUCH' },")),
    Case("admin.socket", "keep one of", text(root: "admin: { socket: '/run/a.sock', port: 8081 },")),
    Case(
      "admin.operators[0]", "has the name of a viewer",
      text(
        root: "admin: { viewers: [{ name: 'a', password: 'long enough for all' }], "
          + "operators: [{ name: 'a', password: 'long enough for all' }] },")),
    Case(
      "admin.viewers[1]", "has the name of admin.viewers[0]",
      text(
        root: "admin: { viewers: [{ name: 'a' }, { name: 'a' }], proxies: ['127.0.0.1'] },")),
    Case("admin.viewers[0]", "has no way in", text(root: "admin: { viewers: [{ name: 'a' }] },")),
    Case(
      "admin.viewers[0].name", "must be a name",
      text(root: "admin: { viewers: [{ name: 'a:b', password: 'long enough for all' }] },")),
    Case(
      "admin.viewers[0].token", "is short; take 24",
      text(root: "admin: { viewers: [{ name: 'a', token: 'long enough for a' }] },")),
    Case(
      "admin.operators[0].token", "is the token of admin.viewers[0], too",
      text(
        root: "admin: { viewers: [{ name: 'a', token: 'a token of 24 characters' }], "
          + "operators: [{ name: 'b', token: 'a token of 24 characters' }] },")),
    Case("admin.proxies", "needs viewers or operators", text(root: "admin: { proxies: ['::1'] },")),
    Case(
      "admin.proxies", "has no effect on admin.socket",
      text(
        root: "admin: { socket: '/run/a.sock', operators: [{ name: 'a', password: 'long enough for all' }], "
          + "proxies: ['::1'] },")),
    Case(
      "admin.proxies[0]", "of nearly everyone",
      text(root: "admin: { viewers: [{ name: 'a' }], proxies: ['0.0.0.0/0'] },")),
    Case("admin.tls", "is not a known key", text(root: "admin: { tls: {} },")),
    Case("database", "ends with /", "{ database: '/var/lib/', apps: {} }"),
    Case("database", "must be the path of a file, or a URL such as", "{ database: 3, apps: {} }"),
    Case("log.level", "did you mean \"info\"?", text(root: "log: { level: 'inof' },")),
    Case("log.format", "must be one of text, json, but is true", text(root: "log: { format: true },")),
    Case("log", "must be an object, { … }, but is a text", text(root: "log: 'info',")),
    Case(
      "limits.context_body", "from 1KiB to 16MiB, but is 65536",
      text(root: "limits: { context_body: 65536 },")),
    Case("limits.context_body", "must be a size", text(root: "limits: { context_body: '64KB' },")),
    Case("limits.webhook_body", "must be a size", text(root: "limits: { webhook_body: '99999999999GiB' },")),
    Case("limits.connections", "from 1 to 100000, but is 0", text(root: "limits: { connections: 0 },")),
    Case(
      "limits.webhook_connections", "must be less than limits.connections (10)",
      text(root: "limits: { connections: 10, webhook_connections: 10 },")),
    Case("limits.long_polls", "from 0 to 100000, but is -1", text(root: "limits: { long_polls: -1 },")),
    Case("limits.queue", "from 1 to 1000000, but is true", text(root: "limits: { queue: true },")),
    Case("limits.request_timeout", "from 10ms to 10m", text(root: "limits: { request_timeout: '1h' },")),
    Case("limits.request_timeout", "must be a duration", text(root: "limits: { request_timeout: '10 s' },")),
    Case("retention.events", "must be a duration", text(root: "retention: { events: '9999999999999999d' },")),
    Case("retention.events", "but is 30", text(root: "retention: { events: 30 },")),
  ]

  static let appFaults = [
    Case("apps[\"Shop 1\"]", "is not a valid name for an app", text(apps: "'Shop 1': {},")),
    Case("apps.-x", "is not a valid name for an app", text(apps: "'-x': {},")),
    Case("apps.shop", "is given twice, on the lines", text(apps: "shop: {},")),
    Case("apps.two", "must be an object", text(apps: "two: 2,")),
    Case("apps.shop.client", "is missing; write { keys:", text(client: "")),
    Case("apps.shop.client", "or \"open\"", text(client: "client: 'opne',")),
    Case("apps.shop.client.keys", "is missing", text(client: "client: {},")),
    Case("apps.shop.client.keys", "from 1 to 100 secrets, but has 0", text(client: "client: { keys: [] },")),
    Case("apps.shop.client.keys", "must be a list", text(client: "client: { keys: 'k' },")),
    Case(
      "apps.shop.client.keys[1]", "is the same secret as apps.shop.client.keys[0]",
      text(client: "client: { keys: ['client-key-of-the-shop', 'env:CLIENT_KEY'] },")),
    Case("apps.shop.purchaseley", "did you mean \"purchasely\"?", text(app: "purchaseley: {},")),
    Case(
      "apps.shop.stripe.webhook_secret", "did you mean \"webhook_secrets\"?",
      text(stripe: "webhook_secret: 'x',")),
    Case(
      "apps.shop.stripe.webhook_secrets[1]", "is the same secret as apps.shop.stripe.webhook_secrets[0]",
      text(webhookSecrets: "['env:WEBHOOK_SECRET', 'env:TWIN']")),
    Case("apps.shop.stripe.webhook_secrets", "must be a list", text(webhookSecrets: "'env:WEBHOOK_SECRET'")),
    Case("apps.shop.stripe.webhook_secrets[0]", "must be text", text(webhookSecrets: "[5]")),
    Case("apps.shop.stripe.tolerance", "from 1s to 1d", text(stripe: "tolerance: '0s',")),
    Case("apps.shop.stripe.livemode", "must be one of any, live, test", text(stripe: "livemode: true,")),
    Case("apps.shop.stripe.api_base", "must begin with https://", text(stripe: "api_base: 'http://x.test',")),
    Case("apps.shop.stripe.backfill", "needs stripe.api_key", text(stripe: "backfill: 'auto',")),
    Case("apps.shop.stripe.user_keys", "from 1 to 20", text(stripe: "user_keys: [],")),
    Case("apps.shop.stripe.user_keys[1]", "is in the list already", text(stripe: "user_keys: ['a', 'a'],")),
    Case("apps.shop.stripe.connect", "must be \"none\", \"any\" or a list", text(stripe: "connect: 'all',")),
    Case("apps.shop.stripe.connect[0]", "acct_…", text(stripe: "connect: ['ac_1'],")),
    Case("apps.shop.purchasely.url", "user or password", text(purchasely: "url: 'https://u:p@x.test',")),
    Case("apps.shop.purchasely.url", "whole address", text(purchasely: "url: 's2s.purchasely.io',")),
    Case(
      "apps.shop.join.without_context", "did you mean \"deliver\"?",
      text(app: "join: { without_context: 'delivr' },")),
    Case("apps.shop.join.windwo", "did you mean \"window\"?", text(app: "join: { windwo: '1h' },")),
    Case("apps.shop.join.wait_for_price", "from 0s to 365d", text(app: "join: { wait_for_price: '366d' },")),
    Case(
      "apps.shop.delivery.concurrency", "from 1 to 1000, but is 1001",
      text(app: "delivery: { concurrency: 1001 },")),
    Case("apps.shop.delivery.rate", "but is 0", text(app: "delivery: { rate: 0 },")),
    Case("apps.shop.delivery.rate", "must be a number", text(app: "delivery: { rate: NaN },")),
    Case(
      "apps.shop.delivery.retry.jitter", "from 0.0 to 1.0, but is 1.5",
      text(app: "delivery: { retry: { jitter: 1.5 } },")),
    Case(
      "apps.shop.delivery.retry.schedule", "from 1 to 100 durations, but has 0",
      text(app: "delivery: { retry: { schedule: [] } },")),
    Case(
      "apps.shop.delivery.retry.schedule[1]", "must be a duration",
      text(app: "delivery: { retry: { schedule: ['2s', 10] } },")),
    Case(
      "apps.shop.delivery.breaker.failures", "from 1 to 1000000",
      text(app: "delivery: { breaker: { failures: 0 } },")),
    Case(
      "apps.shop.delivery.forward_context", "must be true or false, but is 1",
      text(app: "delivery: { forward_context: 1 },")),
  ]
}

@Suite struct ConfigurationFaultTests {
  typealias Samples = ConfigurationSamples

  @Test(arguments: Samples.rootFaults + Samples.appFaults)
  func aFaultNamesItsKeyAndWhatToDo(_ sample: Samples.Case) {
    let faults = Samples.faults(sample.text)
    #expect(
      faults.contains { $0.path == sample.path && $0.message.contains(sample.message) },
      "found: \(faults.map(\.description))")
  }

  @Test func oneFaultIsReportedOnce() {
    // Cases with an empty text elsewhere have other faults; these two groups are wrong in one place only.
    let texts = [
      Samples.text(root: "listne: {},"), Samples.text(root: "log: 'info',"), Samples.text(apps: "two: 2,"),
      Samples.text(app: "purchaseley: {},"), Samples.text(webhookSecrets: "[5]"),
      Samples.text(client: "client: 3,"),
    ]
    for text in texts { #expect(Samples.faults(text).count == 1, "\(Samples.faults(text))") }
  }

  @Test func everyFaultIsFoundAtOnce() {
    let faults = Samples.faults(
      """
      { listen: { port: 99999, adress: "::1" }, log: { level: 7 },
        apps: { ios: { client: "open", stripe: {}, purchasely: {}, join: { window: "soon" } }, "A": {} } }
      """)
    #expect(
      faults.map(\.path) == [
        "listen.port", "listen.adress", "database", "log.level", "apps.A", "apps.ios.stripe.webhook_secrets",
        "apps.ios.purchasely.api_key", "apps.ios.join.window",
      ])
    #expect(faults.last?.description.hasPrefix("apps.ios.join.window: must be a duration such as") == true)
  }

  @Test(arguments: [
    ("{ database: \"/d\"\n  apps: {} }", "line 2, column 3: a comma or } is expected here"),
    ("{\n  database: /d }", "line 2, column 13: a value is expected here"),
    ("{\n  database: 10s }", "line 2, column 13: not a number; durations and sizes need quotes"),
    ("{\n  log: { level: info } }", "line 2, column 17: texts need quotes"),
    ("{ apps: { my-app: {} } }", "line 1, column 13: a key with a hyphen needs quotes"),
    ("{ database: \"/d\n\" }", "line 1, column 13: the text that begins here is not closed"),
    ("{ apps: {\n } ", "line 1, column 1: the brace { is not closed"),
    ("{ apps: [1, 2\n", "line 1, column 9: the bracket [ is not closed"),
    ("{} }", "line 1, column 4: something follows after the end"),
    ("{ /* apps: {} }", "line 1, column 3: a comment /* is not closed"),
    ("{ database: \"C:\\data\" }", "line 1, column 16: not an escape sequence"),
    ("{ database: \"/d\t\" }", "line 1, column 16: a control character in a text"),
    ("", "line 1, column 1: the text ends where a value is expected"),
  ])
  func aSyntaxErrorNamesLineAndColumn(text: String, message: String) {
    let faults = Samples.faults(text)
    #expect(faults.count == 1)
    #expect(faults.first?.message.contains(message) == true, "\(faults)")
  }

  @Test func aTextThatNestsTooDeepIsRefused() {
    let faults = Samples.faults(String(repeating: "[", count: 100_000))
    #expect(faults.count == 1)
  }

  @Test(arguments: [
    "https://s2s.purchasely.io/receipts", "https://x.test:8443", "http://localhost:1/", "http://127.0.0.1",
    "http://[::1]:8080/x", "HTTPS://X.test/?a=b", "http://127.8.8.8/",
  ])
  func anAddressIsHttpsOrOnThisMachine(_ url: String) { #expect(EndpointURL.fault(in: url) == nil) }

  @Test(arguments: [
    "", "https://", "ftp://x", "http://x.test/", "http://localhost.evil.test/", "https://x.test:0/",
    "https://x.test:99999",
    "https://x test/", "https://x.test/#f", "http://[::1", "http://[::2]/", "https://é.test/",
    "http://127.0.0.1.evil.test/",
    "http://127.0.0.1@evil.test/", "https://x.test:+1/", "http://0.0.0.0/", "https://[v1]/",
    "https://x.test\\@y/",
  ])
  func anotherAddressIsRefused(_ url: String) { #expect(EndpointURL.fault(in: url) != nil) }

  @Test(arguments: [
    ("a", true), ("0", true), ("a-b-", true), (String(repeating: "x", count: 63), true), ("", false),
    ("-a", false),
    ("A", false), ("a_b", false), ("é", false), (String(repeating: "x", count: 64), false), ("a/b", false),
  ])
  func aSlugIsLowerCaseLettersDigitsAndHyphens(text: String, isSlug: Bool) {
    #expect(AppConfiguration.isSlug(text) == isSlug)
  }

  @Test(arguments: [
    ("0B", 0), ("512B", 512), ("64KiB", 65_536), ("1MiB", 1_048_576), ("2GiB", 2_147_483_648),
  ])
  func sizesAreDigitsAndAUnit(text: String, bytes: Int) {
    #expect(SizeText.bytes(parsing: text) == bytes)
    #expect(SizeText.text(bytes: bytes) == text)
  }

  @Test(arguments: [
    "", "B", "64", "64KB", "64 KiB", "-1B", "+1B", "1.5MiB", "9223372036854775807GiB", "1kib", "64\u{20E3}B",
  ])
  func anotherSizeIsRefused(_ text: String) { #expect(SizeText.bytes(parsing: text) == nil) }
}
