// The content of the configuration file as values, and the keys of its outermost object. ConfigurationLoader
// creates it; it is immutable, and a reload creates another. Keys are read as by ConfigurationReader: one
// thread, every fault.

internal import Cryptography
public import Domain
public import Formats
public import Platform
public import Reports

/// All settings of receiptd. Each section is declared in `Sections` or `Processors`: its properties with
/// their defaults, and its keys.
public struct Configuration: Sendable, Equatable {
  public var listen = Listen()
  public var admin = Admin()
  public var database: DatabasePlace
  /// Which PostgreSQL servers may be used.
  public var durability = DatabaseDurability.safe
  public var log = LogSettings()
  public var limits = Limits()
  public var retention: Retention
  /// Nil if receiptd makes no copies of its database.
  public var backup: Backup?
  /// Sorted by slug; at least one, without duplicates.
  public var apps: [AppConfiguration]
  /// The payment processors that apps may have.
  package var registry = ProcessorRegistry.standard
  /// Where notices are sent.
  public var alerts: [Alert]
  /// Where the heartbeat is sent.
  public var heartbeat: Heartbeat?
  /// Whether its file has faults, so that only `database` is certain: apps may be missing.
  public internal(set) var isPartial = false

  public init(
    database: DatabasePlace, retention: Retention = Retention(), apps: [AppConfiguration],
    alerts: [Alert] = [], heartbeat: Heartbeat? = nil
  ) {
    self.database = database
    self.retention = retention
    self.apps = apps.sorted { $0.slug < $1.slug }
    self.alerts = alerts
    self.heartbeat = heartbeat
  }

  /// How many receipts per second these apps deliver at most, all together; nil if one is not configured.
  public func deliveryRate(of slugs: [AppSlug]) -> Double? {
    let rates = slugs.compactMap { app($0)?.delivery.ratePerSecond }
    return rates.isEmpty || rates.count < slugs.count ? nil : rates.reduce(0, +)
  }

  /// The app with this slug.
  public func app(_ slug: AppSlug) -> AppConfiguration? { apps.first { $0.slug == slug } }
}

// MARK: - Keys

extension Configuration {
  /// The outermost object.
  static func section(_ registry: ProcessorRegistry) -> ConfigurationSection<Configuration> {
    registry == .standard ? standard : makeSection(registry)
  }

  private static let standard = makeSection(.standard)

  private static func makeSection(_ registry: ProcessorRegistry) -> ConfigurationSection<Configuration> {
    let processor = registry.kinds.first.map { "\($0.name.text): …, " } ?? ""
    var initial = Configuration(database: .file(""), apps: [])
    initial.registry = registry
    return ConfigurationSection(
      initial,
      [
        .section("listen", \.listen, Listen.section, "The public listener, for apps and webhooks.")
          .fixedUntilRestart,
        .section(
          "admin", \.admin, Admin.section,
          "The listener for health, metrics and the dashboard, which shows every receipt."
        ).then { configuration, _, context in configuration.reportSharedPort(context.collector) }
          .fixedUntilRestart,
        database,
        durability,
        .section("log", \.log, LogSettings.section, "The log, which goes to standard error.")
          .fixedUntilRestart,
        .section(
          "limits", \.limits, Limits.section,
          "Load limits. receiptd refuses requests beyond them, so its memory stays bounded."
        ).fixedUntilRestart,
        .section(
          "retention", \.retention, Retention.section,
          "Retention of data. A receipt that is waiting or pending is kept at any age."),
        backup,
        .key(
          "alerts", \.alerts, .list(of: .section(Alert.section), count: KeyRanges.alerts, "alerts"),
          "The receivers that are notified of problems: Slack, PagerDuty, a mailbox, or any address that "
            + "accepts a POST of JSON. Test them with: receiptctl alerts test."),
        .optional(
          "heartbeat", \.heartbeat, .section(Heartbeat.section),
          "A URL that is requested at intervals while receiptd is well. The service behind it raises the "
            + "alarm when the requests stop."),
        .required(
          "apps", \.apps, .apps(registry),
          advice: "configure at least one app: apps: { my-app: { client: …, \(processor)… } }",
          "The apps by name. The name is part of every URL, such as /v1/ios/contexts and "
            + "/v1/ios/webhooks/stripe. It has letters a to z, digits and hyphens; a name with a hyphen "
            + "needs quotes."
        ).then { configuration, _, context in
          for fault in AssociationFiles.faults(of: configuration.apps) {
            context.collector.fault(fault.path, fault.message)
          }
          configuration.reportSharedStripeAccounts(context.collector)
        },
      ])
  }

  /// Two listeners on one port: the second bind would fail at the start, long after `--check` passed. A
  /// wildcard occupies the port on every address of its family (ip(7), EADDRINUSE).
  private func reportSharedPort(_ collector: FaultCollector) {
    guard admin.socketPath == nil, listen.port == admin.port, listen.port != 0,
      let first = IPAddress(listen.address),
      let second = IPAddress(admin.address), first.isIPv6 == second.isIPv6,
      first == second || first.isWildcard || second.isWildcard
    else { return }
    collector.fault(
      "admin.port", "is the port of listen, on the same address; give admin another one, such as 8081")
  }
}

extension Configuration {
  /// Level, format and privacy of the log.
  public struct LogSettings: Sendable, Equatable {
    public var level: Log.Level = .info
    public var format: Log.Format = .text
    /// Whether user ids and client addresses are logged unredacted.
    public var personal = false

    static let section = ConfigurationSection(
      Self(),
      [
        .key("level", \.level, .choice, "Minimum level that is logged."),
        .key("format", \.format, .choice, "Line format: text for people, json for programs."),
        .key(
          "personal", \.personal, .flag,
          "Whether user ids and client addresses are logged as they are. Otherwise each is replaced with "
            + "a short mark, which stays the same for a value until receiptd restarts."),
      ])
  }
}

// MARK: - Redacted

// The configuration in force, as `receiptctl config show` prints it: every key with its value, and of each
// secret only its source (R7). Keys and formats of values match the file. Pure; any thread.

extension Configuration {
  /// Every key with the value in force. A secret is shown as `env:NAME`, `file:/path` or `(set in place)`; a
  /// URL is shown without userinfo and without the values of its query.
  public var redacted: JSONValue { Self.section(registry).show(self) }

  /// What its keys are, with their defaults.
  public var keys: [KeyDescription] { ConfigurationReference.keys(registry) }
}

// MARK: - Digest

// A short text that shows whether instances on one database have the same configuration. Pure; any thread.

extension Configuration {
  /// What each machine may have for itself.
  private static let ownKeys: Set<String> = ["listen", "admin", "database", "log", "limits"]

  /// Twelve hexadecimal digits that are equal for configurations that treat receipts equally. Secrets are not
  /// part of it: they are known only by their source here.
  public var digest: String {
    guard case .object(let members) = redacted else { return "" }
    let shared = JSONValue.object(members.filter { !Self.ownKeys.contains($0.name) })
    return String(Hex.encode(SHA256.digest(shared.serialized().span)).prefix(12))
  }

  /// Twelve hexadecimal digits that are equal for configurations whose secrets are equal, apart from those
  /// that each machine may have for itself. All secrets together are the key: the digest helps nobody who
  /// guesses one of them and does not know the others.
  public var secretsDigest: String {
    let shared = secrets.filter { entry in
      !Self.ownKeys.contains(String(entry.path.prefix { $0 != "." && $0 != "[" }))
    }
    let key = shared.map { "\($0.path)=\((try? $0.secret.reveal()) ?? "")" }.joined(separator: "\n")
    let code = try? HMACSHA256(key: Array(key.utf8)).authenticationCode(for: Array("configuration".utf8))
    return String(Hex.encode(code ?? []).prefix(12))
  }
}

// MARK: - Secrets

// Every secret of a configuration with its key. A reload compares them, and knows which it cannot read again.
// Pure; any thread.

extension Secret {
  /// Whether a running process keeps the value that it started with: its environment never changes, and
  /// systemd copies credentials once, before the start (systemd.exec(5), LoadCredential=).
  public var isFixedUntilRestart: Bool {
    switch source {
    case .environment: true
    case .file(let path): path.hasPrefix("/run/") && path.contains("/credentials/")
    case .inPlace: false
    }
  }
}

extension Secret {
  var isFile: Bool { if case .file = source { true } else { false } }

  /// How a new value takes effect.
  public var refresh: SecretRefresh { isFixedUntilRestart ? .restart(source: description) : .reload }
}

extension AppConfiguration {
  /// What to do when the webhooks of each processor are refused. A corrected secret takes effect with a
  /// restart if any of the processor's webhook secrets needs one.
  public var webhookAdvice: [ProcessorName: WebhookAdvice] {
    let all = processors.map { processor in
      let secrets = processor.section.webhookSecrets
      let refresh = secrets.map(\.refresh).first { $0 != .reload } ?? .reload
      let listsEvents = processor.section.listsEvents
      return (processor.name, processor.section.kind.webhookAdvice(refresh, listsEvents: listsEvents))
    }
    return Dictionary(uniqueKeysWithValues: all)
  }

  /// What to do when the API of each processor refuses the app's credentials.
  public var processorAdvice: [ProcessorName: ProcessorAdvice] {
    Dictionary(
      uniqueKeysWithValues: processors.map { processor in
        (processor.name, processor.section.kind.advice(for: self))
      })
  }
}

extension Configuration {
  /// What to do when a processor's API refuses the credentials; nil if the app or the processor is not
  /// configured.
  public func processorAdvice(of place: AppProcessor) -> ProcessorAdvice? {
    app(place.app)?.processorAdvice[place.processor] ?? unread(place)?.advice(nil)
  }

  /// What to do when a processor's webhooks are refused; nil if the app or the processor is not configured.
  public func webhookAdvice(of place: AppProcessor) -> WebhookAdvice? {
    app(place.app)?.webhookAdvice[place.processor] ?? unread(place)?.webhookAdvice(nil)
  }

  /// A processor that may be configured in the part of a faulty file that could not be read.
  private func unread(_ place: AppProcessor) -> ProcessorKind? {
    isPartial ? registry.kinds.first { $0.name == place.processor } : nil
  }

  /// A secret and its key, such as `apps.ios.client.keys[0]`.
  public struct SecretEntry: Sendable {
    public var path: String
    public var secret: Secret
  }

  /// Every secret, in the order of the manual page.
  public var secrets: [SecretEntry] { Self.section(registry).secrets(self, "") }
}
