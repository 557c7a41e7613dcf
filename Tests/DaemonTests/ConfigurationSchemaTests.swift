// The JSON Schema against the reader: both know the same keys, and neither accepts what the other must
// reject.

import Formats
import FoundationEssentials
import Platform
import TestSupport
import Testing

@testable import Config

@Suite("The declarations of the configuration's keys") struct ConfigurationSchemaTests {
  typealias Samples = ConfigurationSamples

  /// Keys that exclude others, which every key but them is set in.
  private static let exclusive = [
    "admin.socket", "apps.NAME.client.jwt.keys", "alerts[].routing_key", "alerts[].secrets",
    "alerts[].mail_to", "alerts[].mail_from",
  ]

  /// A file with every key but these, each with its default or an example.
  private static func everyKey() throws -> JSONValue {
    let text = ConfigurationTemplate.text(.standard, isEveryKeySet: true)
    let value = try JSONValue(parsing: Array(text.utf8), json5: true)
    return exclusive.reduce(value) { $0.setting(names($1)[...], nil) }
  }

  /// The names on a path, in a file whose only app is `ios`; an element of a list is its index.
  private static func names(_ path: String) -> [String] {
    path.replacing("[]", with: ".0").replacing("NAME", with: "ios").split(separator: ".").map(String.init)
  }

  /// The path of a key as faults have it.
  private static func place(_ path: String) -> String {
    path.replacing("[]", with: "[0]").replacing("NAME", with: "ios")
  }

  private static func faults(_ value: JSONValue) -> [Fault] {
    do {
      // Without secrets and certificates, whose files are examples.
      _ = try Samples.read(value.text, secrets: .whereAvailable)
      return []
    } catch {
      return error.faults
    }
  }

  private static func errors(_ value: JSONValue) -> [String] {
    SchemaCheck(value, ConfigurationSchema.value).errors
  }

  @Test func `Every default and every example is valid, for the reader and for the schema`() throws {
    let value = try Self.everyKey()
    #expect(Self.faults(value).isEmpty)
    #expect(Self.errors(value).isEmpty)
    let template = try JSONValue(parsing: Array(ConfigurationTemplate.text.utf8), json5: true)
    #expect(Self.errors(template).isEmpty)
  }

  @Test func `The starter file has every declared key`() throws {
    let value = try Self.everyKey()
    for entry in ConfigurationReference.entries where !Self.exclusive.contains(entry.path) {
      let found = Self.names(entry.path).reduce(Optional(value)) { value, name in
        if case .array(let elements)? = value { return elements.first }
        return value?[name]
      }
      #expect(found != nil, "\(entry.path)")
    }
  }

  @Test("Every declared key is read: null is a fault of the key, for the reader and for the schema")
  func everyKeyIsRead() throws {
    let value = try Self.everyKey()
    for entry in ConfigurationReference.entries {
      let wrong = value.setting(Self.names(entry.path)[...], .null)
      #expect(Self.faults(wrong).contains { $0.path == Self.place(entry.path) }, "\(entry.path)")
      #expect(!Self.errors(wrong).isEmpty, "\(entry.path)")
    }
  }

  @Test func `An unknown key is refused in every object, by the reader and by the schema`() throws {
    let value = try Self.everyKey()
    let objects = ConfigurationReference.entries.filter { !$0.key.shape.members.isEmpty }
    for path in ["zebra"] + objects.map({ "\($0.path)\($0.key.shape.infix).zebra" }) {
      let wrong = value.setting(Self.names(path)[...], 1)
      #expect(
        Self.faults(wrong).contains {
          $0.path == Self.place(path) && $0.message.contains("is not a known key")
        }, "\(path)")
      #expect(!Self.errors(wrong).isEmpty, "\(path)")
    }
  }

  @Test func `A required key is required by the schema, too`() throws {
    let value = try Self.everyKey()
    for entry in ConfigurationReference.entries where entry.key.isRequired {
      let lacking = value.setting(Self.names(entry.path)[...], nil)
      #expect(!Self.faults(lacking).isEmpty, "\(entry.path)")
      #expect(!Self.errors(lacking).isEmpty, "\(entry.path)")
    }
  }

  @Test(arguments: [
    ConfigurationSchemaSamples.contract, Samples.text(), Samples.text(client: "client: 'open',"),
    Samples.storesOnly,
    Samples.text(app: LinksConfigurationTests.whole),
    Samples.text(
      root: """
        $schema: "./receiptd.schema.json", admin: { socket: "/run/a.sock" },
        alerts: [{ to: "env:API_URL", on: ["oldest_pending > 90s", "disk_low<2GiB", "database"] }],
        limits: { contexts_per_user: "off" },
        """,
      client: "client: { jwt: { issuer: 'i', audience: ['a', 'b'], keys: 'file:/keys' } },",
      stripe: "connect: ['acct_1'], api_base: 'http://LOCALHOST:9', ", purchasely: "url: 'HTTPS://x.test'"),
  ])
  func `What the reader accepts, the schema accepts`(text: String) throws {
    let value = try JSONValue(parsing: Array(text.utf8), json5: true)
    #expect(Self.faults(value).isEmpty)
    #expect(Self.errors(value).isEmpty)
  }

  @Test func `The example for production fits the schema`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appending(path: "deploy/receiptd.example.json5").path
    let bytes = try #require(FileManager.default.contents(atPath: file))
    #expect(Self.errors(try JSONValue(parsing: Array(bytes), json5: true)).isEmpty)
  }

  @Test(
    arguments: [
      ("admin.socket", "/run/a.sock"), ("apps.NAME.client.jwt.keys", "file:/keys"),
      ("apps.NAME.client.jwt.jwks", nil), ("listen.tls.key", nil), ("apps.NAME.stripe.livemode", "both"),
      ("apps.NAME.purchasely.url", "http://example.com/"), ("apps.NAME.links.ios.paths", ["admin"]),
      ("apps.NAME.links.origin", "pay.example.com"), ("apps.NAME.links.android.packages[].name", "app"),
      ("retention.events", "30 days"),
    ] as [(String, JSONValue?)])
  func `Rules about several keys are in the schema`(path: String, value: JSONValue?) throws {
    let wrong = try Self.everyKey().setting(Self.names(path)[...], value)
    #expect(!Self.faults(wrong).isEmpty)
    #expect(!Self.errors(wrong).isEmpty)
  }

  @Test func `A backfill and Checkout Sessions need a key, for the schema as well`() throws {
    let auto = try Self.everyKey().setting(["apps", "ios", "stripe", "backfill"], "auto")
    #expect(Self.errors(auto).isEmpty)
    let lacking = auto.setting(["apps", "ios", "stripe", "api_key"], nil)
    #expect(Self.faults(lacking).map(\.path) == ["apps.ios.stripe.backfill", "apps.ios.stripe.checkout"])
    #expect(!Self.errors(lacking).isEmpty)
    let backfill = lacking.setting(["apps", "ios", "stripe", "checkout"], nil)
    let checkout = lacking.setting(["apps", "ios", "stripe", "backfill"], "off")
    for (value, key) in [(backfill, "backfill"), (checkout, "checkout")] {
      #expect(Self.faults(value).map(\.path) == ["apps.ios.stripe.\(key)"])
      #expect(!Self.errors(value).isEmpty)
    }
  }

  @Test("A file may name its schema for editors; receiptd ignores the name, but only there and only as text")
  func schemaKey() throws {
    let with = try Samples.read(Samples.text(root: "$schema: './receiptd.schema.json',"))
    #expect(try with.configuration == Samples.read(Samples.text()).configuration)
    #expect(Samples.faults(Samples.text(root: "$schema: 1,")).map(\.path) == ["$schema"])
    #expect(Samples.faults(Samples.text(root: "log: { $schema: 'x' },")).map(\.path) == ["log.$schema"])
    let unknown = Samples.faults(Samples.text(root: "zebra: {},"))
    #expect(unknown.first?.message.contains("$schema") == false)
  }

  @Test func `A restart is needed for what receiptd uses at its start only`() {
    let fixed = ConfigurationReference.keys.filter(\.needsRestart).map(\.name)
    #expect(fixed == ["listen", "admin", "database", "database_durability", "log", "limits"])
  }
}

extension JSONValue {
  /// The value with another one at a path, or without it. Lists are entered at their first element.
  fileprivate func setting(_ path: ArraySlice<String>, _ value: JSONValue?) -> JSONValue {
    guard let name = path.first else { return value ?? self }
    switch self {
    case .array(let elements):
      let first = elements.first?.setting(path.dropFirst(), value)
      return .array((first.map { [$0] } ?? []) + elements.dropFirst())
    case .object(let members):
      let old = self[name]
      let new = path.count == 1 ? value : (old ?? [:]).setting(path.dropFirst(), value)
      guard let new else { return .object(members.filter { $0.name != name }) }
      guard old != nil else { return adding(name, new) }
      return .object(members.map { $0.name == name ? Member(name: name, value: new) : $0 })
    default: return self
    }
  }
}

enum ConfigurationSchemaSamples {
  /// The example of the contract.
  static let contract = """
    {
      listen: { address: "127.0.0.1", port: 8080,
                tls: { certificate: "/path/fullchain.pem", key: "/path/privkey.pem" } },
      admin: { address: "127.0.0.1", port: 8081 },
      database: "/var/lib/receiptd/receiptd.db",
      log: { level: "info", format: "text" },
      limits: { context_body: "64KiB", webhook_body: "4MiB", connections: 2000, connections_per_address: 200,
                request_timeout: "10s", queue: 10000 },
      retention: { contexts: "30d", events: "30d", attempts: "90d", receipts: "400d" },
      apps: {
        ios: {
          client: { keys: ["env:IOS_CLIENT_KEY"] },
          stripe: {
            webhook_secrets: ["env:STRIPE_WEBHOOK_SECRET"],
            tolerance: "5m",
            livemode: "any",
            api_key: "env:STRIPE_API_KEY", api_base: "https://api.stripe.com",
            user_keys: ["ply_user_id", "user_id"],
            connect: "none",
          },
          purchasely: { url: "https://s2s.purchasely.io/receipts", api_key: "env:PURCHASELY_API_KEY" },
          join: { window: "24h", settle: "5s", settle_customer: "30s", guess: "same_price",
                  wait_for_context: "2m", without_context: "deliver", wait_for_user: "24h",
                  wait_for_stripe_price: "30s", wait_for_price: "24h", wait_for_payment: "14d" },
          delivery: { concurrency: 8, rate: 50, timeout: "10s", connect_timeout: "3s",
                      retry: { schedule: ["2s", "10s", "30s", "2m", "10m", "30m", "1h", "2h", "4h", "8h",
                                          "12h"],
                               jitter: 0.2, give_up_after: "7d" },
                      breaker: { failures: 10, open_for: "30s" }, forward_context: true },
        },
      },
    }
    """
}
