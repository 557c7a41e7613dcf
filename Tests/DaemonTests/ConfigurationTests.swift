import Domain
import Formats
import Partners
import Platform
import TestSupport
import Testing

@testable import Config

@Suite struct ConfigurationTests {
  typealias Samples = ConfigurationSamples

  @Test func everyKeyButTheRequiredOnesHasADefault() throws {
    let loaded = try Samples.read(Samples.text())
    let secret = Secret("whsec_one", source: .environment("WEBHOOK_SECRET"))
    let expected = Configuration(
      database: .file("/etc/receiptd/receiptd.db"),
      apps: [
        AppConfiguration(
          slug: "shop", client: .keys([Secret("client-key-of-the-shop", source: .environment("CLIENT_KEY"))]),
          stripe: .init(webhookSecrets: [secret]),
          purchasely: .init(apiKey: Secret("ply-key", source: .environment("API_KEY"))))
      ])
    #expect(loaded.configuration == expected)
    #expect(loaded.warnings.isEmpty)
  }

  @Test("An app that sells in app stores only needs no payment processor, and any other app needs one")
  func storesOnly() throws {
    let app = try Samples.app(Samples.storesOnly)
    #expect(app.processors.isEmpty)
    #expect(app.destination(of: "play_store") == "purchasely")
    let faults = Samples.faults("{ database: '/d', apps: { shop: { client: 'open' } } }")
    #expect(faults.contains { $0.path == "apps.shop.stripe.webhook_secrets" })
  }

  @Test func everyKeyIsRead() throws {
    let configuration = try Samples.read(
      Samples.text(
        root: """
          listen: { address: "0.0.0.0", port: 443 }, admin: { address: "::1", port: 0 },
          log: { level: "debug", format: "json" },
          limits: { context_body: "32KiB", webhook_body: "2MiB", connections: 10, connections_per_address: 5,
                    webhook_connections: 2, long_polls: 6, long_polls_per_context: 3,
                    long_polls_per_address: 4, request_timeout: "250ms", queue: 7 },
          retention: { contexts: "2d", events: "48h", attempts: "3d", receipts: "4d" },
          """,
        client: "client: 'open',",
        stripe: """
          tolerance: "1m", livemode: "live", api_key: "sk_1", api_base: "http://127.0.0.1:9/",
          backfill: "auto", backfill_after: "1h", user_keys: ["uid"],
          connect: ["acct_1", "acct_2"],
          """,
        purchasely: "url: 'https://example.com/receipts?x=1',",
        app: """
          join: { window: "1h", wait_for_context: "0s", without_context: "hold", wait_for_user: "1m",
                  wait_for_stripe_price: "2m", wait_for_price: "3m", wait_for_payment: "4m" },
          delivery: { concurrency: 1, rate: 0.5, timeout: "2s", connect_timeout: "1s",
                      retry: { schedule: ["1ms", "2s"], jitter: 0, give_up_after: "1h" },
                      breaker: { failures: 3, open_for: "1s" }, forward_context: false },
          """)
    ).configuration
    #expect(configuration.listen == .init(address: "0.0.0.0", port: 443))
    #expect(configuration.admin == .init(address: "::1", port: 0))
    #expect(configuration.log == .init(level: .debug, format: .json))
    #expect(
      configuration.limits
        == .init(
          contextBodyBytes: 32_768, webhookBodyBytes: 2_097_152, connections: 10, connectionsPerAddress: 5,
          webhookConnections: 2, longPolls: 6, longPollsPerContext: 3, longPollsPerAddress: 4,
          requestTimeout: .milliseconds(250), queue: 7))
    #expect(
      configuration.retention
        == .init(
          contexts: .days(2), events: .days(2),
          attempts: .days(3),
          receipts: .days(4)))
    let app = try #require(configuration.app("shop"))
    #expect(app.client == .open)
    let secret = Secret("whsec_one", source: .environment("WEBHOOK_SECRET"))
    #expect(
      app.stripe
        == StripeSection(
          webhookSecrets: [secret], apiKey: Secret("sk_1"),
          settings: StripeSettings(
            tolerance: .seconds(60), livemode: .live, userKeys: ["uid"],
            accounts: .ownAnd(["acct_1", "acct_2"]), apiBase: "http://127.0.0.1:9"),
          backfill: .auto, backfillAfter: .hours(1)))
    #expect(app.purchasely?.url == "https://example.com/receipts?x=1")
    #expect(
      app.join
        == JoinPolicy(
          window: .hours(1), waitForContext: .zero, withoutContext: .hold,
          waitForUser: .seconds(60), waitForProcessorPrice: .minutes(2),
          waitForPrice: .minutes(3),
          waitForPayment: .minutes(4)))
    #expect(
      app.delivery
        == DeliveryPolicy(
          concurrency: 1, ratePerSecond: 0.5, timeout: .seconds(2), connectTimeout: .seconds(1),
          retry: RetryPolicy(schedule: [.milliseconds(1), .seconds(2)], jitter: 0, giveUpAfter: .hours(1)),
          breaker: BreakerPolicy(failures: 3, openFor: .seconds(1)), forwardContext: false))
  }

  @Test func appsAreSortedBySlug() throws {
    let other = "client: 'open', stripe: { webhook_secrets: ['a'] }, purchasely: { api_key: 'b' }"
    let apps = try Samples.read(Samples.text(apps: "zoo: { \(other) }, '0-app': { \(other) }")).configuration
      .apps
    #expect(apps.map(\.slug) == ["0-app", "shop", "zoo"])
  }

  @Test(arguments: [
    ("/etc/receiptd/receiptd.json5", "/etc/receiptd/receiptd.db"), ("/receiptd.json5", "/receiptd.db"),
    ("receiptd.json5", "./receiptd.db"), ("conf/receiptd.json5", "conf/receiptd.db"),
  ])
  func aRelativeDatabaseIsTakenFromTheFolderOfTheFile(path: String, database: String) throws {
    let text = Samples.text().replacing("/etc/receiptd/receiptd.db", with: "receiptd.db")
    #expect(try Samples.read(text, path: path).configuration.database == .file(database))
  }

  @Test func theFileIsTheOptionThenTheVariableThenTheDefault() {
    let set = Environment(["RECEIPTD_CONFIG": "/b"])
    #expect(ConfigurationLoader.path(option: "/a", environment: set) == "/a")
    #expect(ConfigurationLoader.path(option: nil, environment: set) == "/b")
    #expect(
      ConfigurationLoader.path(option: nil, environment: Environment(["RECEIPTD_CONFIG": ""]))
        == "/etc/receiptd/receiptd.json5")
    #expect(
      ConfigurationLoader.path(option: nil, environment: Environment([:])) == "/etc/receiptd/receiptd.json5")
  }

  @Test func aFileThatCannotBeReadIsAFaultThatSaysWhatToDo() {
    let faults = #expect(throws: ConfigurationFaults.self) {
      try ConfigurationLoader.load(path: "/nowhere/receiptd.json5", environment: Environment([:]))
    }
    #expect(faults?.description.contains("cannot read the configuration /nowhere/receiptd.json5") == true)
    #expect(faults?.description.contains("receiptctl config init") == true)
  }

  @Test func tlsNeedsBothFilesAndReadsThem() throws {
    let folder = try TestFolder()
    let certificate = try folder.write("-----BEGIN CERTIFICATE-----\n", to: "chain.pem")
    let other = try folder.write("nothing\n", to: "other.pem")
    let path = try folder.write(
      Samples.text(root: "listen: { tls: { certificate: 'chain.pem', key: '\(certificate)' } },"),
      to: "receiptd.json5")
    let loaded = try ConfigurationLoader.load(path: path, environment: Samples.environment)
    #expect(
      loaded.configuration.listen.tls
        == .init(certificatePath: "\(folder.path)/chain.pem", keyPath: certificate))
    let faults = Samples.faults(Samples.text(root: "listen: { tls: { certificate: '\(other)' } },"))
    #expect(faults.map(\.path) == ["listen.tls.certificate", "listen.tls.key"])
    #expect(faults.first?.message.contains("is not a PEM file") == true)
    let missing = Samples.faults(
      Samples.text(root: "listen: { tls: { certificate: '\(certificate)', key: '/nowhere' } },"))
    #expect(missing.map(\.path) == ["listen.tls.key"])
    #expect(missing.first?.message.contains("cannot read /nowhere") == true)
  }

  @Test func aRetentionShorterThanTheJoinWindowIsAWarning() throws {
    let loaded = try Samples.read(Samples.text(root: "retention: { contexts: '1h' },"))
    #expect(loaded.warnings.map(\.path) == ["retention.contexts"])
    let receipts = try Samples.read(Samples.text(root: "retention: { receipts: '29d' },"))
    #expect(receipts.warnings.map(\.path) == ["retention.receipts"])
    #expect(try Samples.read(Samples.text(root: "retention: { receipts: '30d' },")).warnings.isEmpty)
  }

  @Test func theRedactedConfigurationHasEveryKeyAndNoSecret() throws {
    let loaded = try Samples.read(
      Samples.text(stripe: "api_key: 'sk_in_place',", webhookSecrets: "['env:WEBHOOK_SECRET']"))
    let text = loaded.configuration.redacted.text
    for value in ["client-key", "whsec_one", "ply-key", "sk_in_place"] { #expect(!text.contains(value)) }
    let app = loaded.configuration.redacted["apps"]?["shop"]
    #expect(app?["stripe"]?["webhook_secrets"] == ["env:WEBHOOK_SECRET"])
    #expect(app?["stripe"]?["api_key"] == "(set in place)")
    #expect(app?["join"]?["wait_for_payment"] == "14d")
    #expect(loaded.configuration.redacted["limits"]?["webhook_body"] == "4MiB")
  }
}

@Suite struct EnvironmentTests {
  @Test func theProcessHasItsOwnVariables() {
    #expect(Environment.process["PATH"]?.isEmpty == false)
    #expect(Environment.process["NO_SUCH_VARIABLE_ANYWHERE"] == nil)
    #expect(Environment.process[""] == nil)
    #expect(Environment.process["A=B"] == nil)
  }
}
