// The content of the configuration file as values; the only place that defines defaults. ConfigurationLoader
// creates it; it is immutable, and a reload creates another. Pure; any thread.

public import Domain
public import Formats
public import Platform

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
