// The keys of `limits`. As ConfigurationReader: one thread, every fault.

internal import Domain

extension Configuration.Limits {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "context_body", \.contextBodyBytes, .size(in: ConfigurationLimits.contextBodyBytes),
        "The longest body of a context."),
      .key(
        "webhook_body", \.webhookBodyBytes, .size(in: ConfigurationLimits.webhookBodyBytes),
        "The longest body of a webhook."),
      .key(
        "connections", \.connections, .integer(in: ConfigurationLimits.connections),
        "The most connections at once."
      ).then { limits, _, _ in
        let shares = Configuration.Limits(connections: limits.connections)
        limits.webhookConnections = shares.webhookConnections
        limits.longPolls = shares.longPolls
      },
      .key(
        "connections_per_address", \.connectionsPerAddress, .integer(in: ConfigurationLimits.connections),
        "The most connections at once from one address (of IPv6: from one /64)."),
      .key(
        "webhook_connections", \.webhookConnections, .integer(in: ConfigurationLimits.webhookConnections),
        "How many of the connections only webhooks may use, so that they are accepted under any other "
          + "load. The default is a tenth of limits.connections."
      ).then { limits, reader, _ in
        guard limits.webhookConnections >= limits.connections else { return }
        reader.collector.fault(
          reader.path(of: "webhook_connections"),
          "must be less than limits.connections (\(limits.connections)), which it is a part of")
      },
      .key(
        "long_polls", \.longPolls, .integer(in: ConfigurationLimits.longPolls),
        "The most requests at once that wait for the end of a checkout (?wait=). More are answered without a "
          + "wait. The default is eight tenths of limits.connections."),
      .key(
        "long_polls_per_context", \.longPollsPerContext, .integer(in: ConfigurationLimits.longPolls),
        "The most of these requests for one context."),
      .key(
        "long_polls_per_address", \.longPollsPerAddress, .integer(in: ConfigurationLimits.longPolls),
        "The most of these requests from one address (of IPv6: from one /64)."),
      .key(
        "request_timeout",
        \.requestTimeout,
        .duration(in: ConfigurationLimits.requestTimeout),
        "How long a whole request may take, from the accepted connection to its last byte."),
      .key(
        "queue", \.queue, .integer(in: ConfigurationLimits.queue),
        "How many writes may wait for the disk. More requests are answered 503, with Retry-After."),
      .key(
        "contexts_per_user", \.contextsPerUser, .rate, "The most contexts for one user of an app."),
      .key(
        "contexts_per_address", \.contextsPerAddress, .rate,
        "The most contexts from one address (of IPv6: from one /64). If all clients come through a proxy, "
          + "listen.proxies must name it."),
    ])
}
