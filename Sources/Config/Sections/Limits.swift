// How much load receiptd accepts. Keys are read as by ConfigurationReader: one thread, every fault.

public import Domain
internal import Formats
internal import Platform

extension Configuration {
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
}

extension Configuration.Limits {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "context_body", \.contextBodyBytes, .size(in: KeyRanges.contextBodyBytes),
        "Maximum body size of a context."),
      .key(
        "webhook_body", \.webhookBodyBytes, .size(in: KeyRanges.webhookBodyBytes),
        "Maximum body size of a webhook."),
      .key(
        "connections", \.connections, .integer(in: KeyRanges.connections),
        "Maximum concurrent connections."
      ).then { limits, _, _ in
        let shares = Configuration.Limits(connections: limits.connections)
        limits.webhookConnections = shares.webhookConnections
        limits.longPolls = shares.longPolls
      },
      .key(
        "connections_per_address", \.connectionsPerAddress, .integer(in: KeyRanges.connections),
        "Maximum concurrent connections from one address (IPv6: from one /64)."),
      .key(
        "webhook_connections", \.webhookConnections, .integer(in: KeyRanges.webhookConnections),
        "Connections reserved for webhooks, which are then accepted under any other load. Defaults to a "
          + "tenth of limits.connections."
      ).then { limits, reader, _ in
        guard limits.webhookConnections >= limits.connections else { return }
        reader.collector.fault(
          reader.path(of: "webhook_connections"),
          "must be less than limits.connections (\(limits.connections)), which it is a part of")
      },
      .key(
        "long_polls", \.longPolls, .integer(in: KeyRanges.longPolls),
        "Maximum concurrent long polls, which wait for the end of a checkout (?wait=). Further ones are "
          + "answered at once. Defaults to eight tenths of limits.connections."),
      .key(
        "long_polls_per_context", \.longPollsPerContext, .integer(in: KeyRanges.longPolls),
        "Maximum concurrent long polls for one context."),
      .key(
        "long_polls_per_address", \.longPollsPerAddress, .integer(in: KeyRanges.longPolls),
        "Maximum concurrent long polls from one address (IPv6: from one /64)."),
      .key(
        "request_timeout",
        \.requestTimeout,
        .duration(in: KeyRanges.requestTimeout),
        "Timeout of a whole request, from the accepted connection to its last byte."),
      .key(
        "queue", \.queue, .integer(in: KeyRanges.queue),
        "Maximum writes that wait for the disk. Further requests are answered 503 with Retry-After."),
      .key(
        "contexts_per_user", \.contextsPerUser, .rate, "Maximum rate of contexts for one user of an app."),
      .key(
        "contexts_per_address", \.contextsPerAddress, .rate,
        "Maximum rate of contexts from one address (IPv6: from one /64). If all clients come through a "
          + "proxy, listen.proxies must name it."),
    ])
}
