// Reads `limits`. Pure; any thread.

internal import Platform

extension ConfigurationReader {
  func limits(_ reader: ObjectReader) -> Configuration.Limits {
    typealias Range = ConfigurationLimits
    let defaults = Configuration.Limits()
    defer { reader.reportUnknownKeys() }
    let connections = reader.integer("connections", default: defaults.connections, in: Range.connections)
    // The defaults that depend on the number of connections.
    let shares = Configuration.Limits(connections: connections)
    let webhooks = reader.integer(
      "webhook_connections", default: shares.webhookConnections, in: Range.webhookConnections)
    if webhooks >= connections {
      collector.fault(
        reader.path(of: "webhook_connections"),
        "must be less than limits.connections (\(connections)), which it is a part of")
    }
    return Configuration.Limits(
      contextBodyBytes: reader.size(
        "context_body", default: defaults.contextBodyBytes, in: Range.contextBodyBytes),
      webhookBodyBytes: reader.size(
        "webhook_body", default: defaults.webhookBodyBytes, in: Range.webhookBodyBytes),
      connections: connections,
      connectionsPerAddress: reader.integer(
        "connections_per_address", default: defaults.connectionsPerAddress, in: Range.connections),
      webhookConnections: webhooks,
      longPolls: reader.integer("long_polls", default: shares.longPolls, in: Range.longPolls),
      longPollsPerContext: reader.integer(
        "long_polls_per_context", default: defaults.longPollsPerContext, in: Range.longPolls),
      longPollsPerAddress: reader.integer(
        "long_polls_per_address", default: defaults.longPollsPerAddress, in: Range.longPolls),
      requestTimeout: reader.duration(
        "request_timeout", default: defaults.requestTimeout, in: Range.requestTimeout),
      queue: reader.integer("queue", default: defaults.queue, in: Range.queue),
      contextsPerUser: rate(reader, "contexts_per_user", default: defaults.contextsPerUser),
      contextsPerAddress: rate(reader, "contexts_per_address", default: defaults.contextsPerAddress))
  }
}
