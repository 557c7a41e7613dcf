// The content of the configuration file as values; the only place that defines defaults. ConfigurationLoader
// creates it; it is immutable, and a reload creates another. Pure; any thread.

internal import Cryptography
public import Domain
public import Formats
public import Platform
public import Reports

/// All settings of receiptd. Sizes are bytes.
public struct Configuration: Sendable, Equatable {
  public var listen: Listen
  public var admin: Admin
  public var database: DatabasePlace
  /// Which PostgreSQL servers may be used.
  public var durability: DatabaseDurability
  public var log: LogSettings
  public var limits: Limits
  public var retention: Retention
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
    listen: Listen = Listen(), admin: Admin = Admin(), database: DatabasePlace,
    durability: DatabaseDurability = .safe, log: LogSettings = LogSettings(),
    limits: Limits = Limits(), retention: Retention = Retention(), apps: [AppConfiguration],
    alerts: [Alert] = [], heartbeat: Heartbeat? = nil
  ) {
    self.listen = listen
    self.admin = admin
    self.database = database
    self.durability = durability
    self.log = log
    self.limits = limits
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

extension Configuration {
  /// The public listener.
  public struct Listen: Sendable, Equatable {
    /// A numeric IPv4 or IPv6 address.
    public var address: String
    /// 0: the system chooses a free port.
    public var port: UInt16
    public var tls: TLS?
    /// The proxies whose X-Forwarded-For is trusted.
    public var proxies: [AddressPrefix]

    public init(
      address: String = "127.0.0.1", port: UInt16 = 8080, tls: TLS? = nil,
      proxies: [AddressPrefix] = ["127.0.0.1", "::1"].compactMap(AddressPrefix.init)
    ) {
      self.address = address
      self.port = port
      self.tls = tls
      self.proxies = proxies
    }
  }

  /// The listener's certificate and key, as paths of PEM files.
  public struct TLS: Sendable, Equatable {
    /// The certificate and its chain.
    public var certificatePath: String
    public var keyPath: String

    public init(certificatePath: String, keyPath: String) {
      self.certificatePath = certificatePath
      self.keyPath = keyPath
    }
  }

  /// The listener for health, metrics and the dashboard.
  public struct Admin: Sendable, Equatable {
    /// A numeric IPv4 or IPv6 address.
    public var address: String
    /// 0: the system chooses a free port.
    public var port: UInt16
    /// The path of a Unix socket to listen on instead of the address and the port.
    public var socketPath: String?
    /// Required for everything but health and readiness. Always set when other machines can reach the
    /// listener.
    public var password: Secret?

    public init(
      address: String = "127.0.0.1", port: UInt16 = 8081, socketPath: String? = nil, password: Secret? = nil
    ) {
      self.address = address
      self.port = port
      self.socketPath = socketPath
      self.password = password
    }
  }

  /// Level, format and privacy of the log.
  public struct LogSettings: Sendable, Equatable {
    public var level: Log.Level
    public var format: Log.Format
    /// Whether user ids and client addresses are logged unredacted.
    public var personal: Bool

    public init(level: Log.Level = .info, format: Log.Format = .text, personal: Bool = false) {
      self.level = level
      self.format = format
      self.personal = personal
    }
  }

  /// How much load the relay accepts before it refuses requests (R8).
  public struct Limits: Sendable, Equatable {
    public var contextBodyBytes: Int
    public var webhookBodyBytes: Int
    public var connections: Int
    public var connectionsPerAddress: Int
    /// Connections that are reserved for webhooks.
    public var webhookConnections: Int
    /// Long polls: the limit in total, for one context, and from one client address.
    public var longPolls: Int
    public var longPollsPerContext: Int
    public var longPollsPerAddress: Int
    /// The time-out of a whole request, from the accepted connection to its last byte.
    public var requestTimeout: Duration
    /// The capacity of the committer's queue, in commands.
    public var queue: Int
    /// Rate limits of contexts for one user of an app, and from one client address; nil means no limit.
    public var contextsPerUser: RateLimit?
    public var contextsPerAddress: RateLimit?

    /// By default, webhooks reserve a tenth of the connections, and long polls may use eight tenths.
    public init(
      contextBodyBytes: Int = 64 * 1024, webhookBodyBytes: Int = 4 * 1024 * 1024, connections: Int = 2000,
      connectionsPerAddress: Int = 200, webhookConnections: Int? = nil, longPolls: Int? = nil,
      longPollsPerContext: Int = 4, longPollsPerAddress: Int = 32,
      requestTimeout: Duration = .seconds(10), queue: Int = 10_000,
      contextsPerUser: RateLimit? = RateLimit(120, per: .minute),
      contextsPerAddress: RateLimit? = RateLimit(1200, per: .minute)
    ) {
      self.contextBodyBytes = contextBodyBytes
      self.webhookBodyBytes = webhookBodyBytes
      self.connections = connections
      self.connectionsPerAddress = connectionsPerAddress
      self.webhookConnections = webhookConnections ?? connections / 10
      self.longPolls = longPolls ?? connections * 8 / 10
      self.longPollsPerContext = longPollsPerContext
      self.longPollsPerAddress = longPollsPerAddress
      self.requestTimeout = requestTimeout
      self.queue = queue
      self.contextsPerUser = contextsPerUser
      self.contextsPerAddress = contextsPerAddress
    }

    /// The limits that this process can serve.
    public var served: Self { fitting(openFiles: ProcessLimits.openFiles) }

    /// Descriptors for everything but the public listener's connections: the admin listener's, the database,
    /// the log, and requests to processors and destinations.
    private static let otherFiles = 192

    /// The limits that a process with a limit of open files (getrlimit(2)) can serve: with fewer connections,
    /// and smaller shares of them, if it may open too few. Otherwise clients would wait in the socket's
    /// backlog while receiptd says that it has free connections, and the database could not open its files.
    /// - Parameter openFiles: nil if there is no limit.
    public func fitting(openFiles: Int?) -> Self {
      guard let openFiles else { return self }
      let possible = max(1, openFiles - min(Self.otherFiles, openFiles / 2))
      guard possible < connections else { return self }
      let shares = Self(connections: possible)
      var limits = self
      limits.connections = possible
      limits.webhookConnections = min(webhookConnections, shares.webhookConnections)
      limits.longPolls = min(longPolls, shares.longPolls)
      return limits
    }
  }

  /// How long finished data is kept.
  public struct Retention: Sendable, Equatable {
    public var contexts: Duration
    public var events: Duration
    public var attempts: Duration
    public var receipts: Duration

    /// The defaults: 30, 30, 90 and 400 days.
    public init(
      contexts: Duration = .days(30), events: Duration = .days(30),
      attempts: Duration = .days(90), receipts: Duration = .days(400)
    ) {
      self.contexts = contexts
      self.events = events
      self.attempts = attempts
      self.receipts = receipts
    }
  }
}

// MARK: - Redacted

// The configuration in force, as `receiptctl config show` prints it: every key with its value, and of each
// secret only its source (R7). Keys and formats of values match the file. Pure; any thread.

extension Configuration {
  /// Every key with the value in force. A secret is shown as `env:NAME`, `file:/path` or `(set in place)`; a
  /// URL is shown without userinfo and without the values of its query.
  public var redacted: JSONValue { Self.section(registry).show(self) }
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
      return (processor.name, processor.section.kind.webhookAdvice(refresh))
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
    app(place.app)?.processorAdvice[place.processor]
  }

  /// What to do when a processor's webhooks are refused; nil if the app or the processor is not configured.
  public func webhookAdvice(of place: AppProcessor) -> WebhookAdvice? {
    app(place.app)?.webhookAdvice[place.processor]
  }

  /// A secret and its key, such as `apps.ios.client.keys[0]`.
  public struct SecretEntry: Sendable {
    public var path: String
    public var secret: Secret
  }

  /// Every secret, in the order of the manual page.
  public var secrets: [SecretEntry] { Self.section(registry).secrets(self, "") }
}
