// The configuration in force, as `receiptctl config show` prints it: every key with its value, and of each
// secret only its source (R7). Keys and formats of values match the file. Pure; any thread.

internal import Domain
public import JSON
internal import JSONWebToken
internal import Platform

extension Configuration {
  /// Every key with the value in force. A secret is shown as `env:NAME`, `file:/path` or `(set in place)`; a
  /// URL is shown without userinfo and without the values of its query.
  public var redacted: JSONValue {
    var listen: JSONValue = [
      "address": .string(self.listen.address), "port": .integer(Int64(self.listen.port)),
      "proxies": .array(self.listen.proxies.map { .string($0.description) }),
    ]
    if let tls = self.listen.tls {
      listen = listen.adding(
        "tls", ["certificate": .string(tls.certificatePath), "key": .string(tls.keyPath)])
    }
    var redacted: JSONValue = [
      "listen": listen,
      "admin": admin.redacted,
      "database": .string(databasePath),
      "log": [
        "level": .string(log.level.rawValue), "format": .string(log.format.rawValue),
        "personal": .bool(log.personal),
      ],
      "limits": [
        "context_body": .string(SizeText.text(bytes: limits.contextBodyBytes)),
        "webhook_body": .string(SizeText.text(bytes: limits.webhookBodyBytes)),
        "connections": .integer(Int64(limits.connections)),
        "connections_per_address": .integer(Int64(limits.connectionsPerAddress)),
        "webhook_connections": .integer(Int64(limits.webhookConnections)),
        "long_polls": .integer(Int64(limits.longPolls)),
        "long_polls_per_context": .integer(Int64(limits.longPollsPerContext)),
        "long_polls_per_address": .integer(Int64(limits.longPollsPerAddress)),
        "request_timeout": .duration(limits.requestTimeout),
        "queue": .integer(Int64(limits.queue)),
        "contexts_per_user": .rate(limits.contextsPerUser),
        "contexts_per_address": .rate(limits.contextsPerAddress),
      ],
      "retention": [
        "contexts": .duration(retention.contexts),
        "events": .duration(retention.events),
        "attempts": .duration(retention.attempts),
        "receipts": .duration(retention.receipts),
      ],
      "alerts": .array(alerts.map(\.redacted)),
    ]
    if let heartbeat { redacted = redacted.adding("heartbeat", heartbeat.redacted) }
    return redacted.adding(
      "apps", .object(apps.map { JSONValue.Member(name: $0.slug, value: $0.redacted) }))
  }
}

extension Configuration.Alert {
  fileprivate var redacted: JSONValue {
    let all: JSONValue = [
      "to": .string(to.description), "on": .array(on.map { .string($0.text) }),
      "every": .duration(every),
    ]
    guard let apps else { return all }
    return all.adding("apps", .array(apps.map(JSONValue.string)))
  }
}

extension Configuration.Heartbeat {
  fileprivate var redacted: JSONValue {
    ["to": .string(to.description), "every": .duration(every)]
  }
}

extension Configuration.Admin {
  fileprivate var redacted: JSONValue {
    var value: JSONValue =
      if let socketPath {
        ["socket": .string(socketPath)]
      } else {
        ["address": .string(address), "port": .integer(Int64(port))]
      }
    if let password { value = value.adding("password", .string(password.description)) }
    return value
  }
}

extension AppConfiguration {
  fileprivate var redacted: JSONValue {
    let sections = processors.map { processor in
      JSONValue.Member(name: processor.name.rawValue, value: processor.section.redacted)
    }
    let first = [JSONValue.Member(name: "client", value: client.redacted)] + sections
    let rest: JSONValue = [
      "purchasely": purchasely.redacted,
      "join": [
        "window": .duration(join.window), "settle": .duration(join.settle),
        "guess": .string(join.guess.rawValue),
        "wait_for_context": .duration(join.waitForContext),
        "without_context": .string(join.withoutContext.rawValue),
        "wait_for_user": .duration(join.waitForUser),
        "wait_for_stripe_price": .duration(join.waitForProcessorPrice),
        "wait_for_price": .duration(join.waitForPrice),
        "wait_for_payment": .duration(join.waitForPayment),
      ],
      "delivery": [
        "concurrency": .integer(Int64(delivery.concurrency)), "rate": .number(delivery.ratePerSecond),
        "timeout": .duration(delivery.timeout),
        "connect_timeout": .duration(delivery.connectTimeout),
        "retry": [
          "schedule": .array(delivery.retry.schedule.map(JSONValue.duration)),
          "jitter": .number(delivery.retry.jitter),
          "give_up_after": .duration(delivery.retry.giveUpAfter),
        ],
        "breaker": [
          "failures": .integer(Int64(delivery.breaker.failures)),
          "open_for": .duration(delivery.breaker.openFor),
        ],
        "forward_context": .bool(delivery.forwardContext),
      ],
    ]
    guard case .object(let members) = rest else { return rest }
    let value = JSONValue.object(first + members)
    return links.map { value.adding("links", $0.redacted) } ?? value
  }
}

extension AppConfiguration.ClientAccess {
  fileprivate var redacted: JSONValue {
    switch self {
    case .open: return "open"
    case .restricted(let keys, let tokens):
      let value: JSONValue = keys.isEmpty ? [:] : ["keys": .sources(keys)]
      return tokens.map { value.adding("jwt", $0.redacted) } ?? value
    }
  }
}

extension AppConfiguration.Tokens {
  fileprivate var redacted: JSONValue {
    let value: JSONValue = [
      "issuer": .string(rules.issuer),
      "audience": rules.audiences.count == 1
        ? .string(rules.audiences[0]) : .array(rules.audiences.map(JSONValue.string)),
      "algorithms": .array(rules.algorithms.map { .string($0.rawValue) }),
      "user_claim": .string(rules.userClaim), "leeway": .duration(rules.leeway),
    ]
    switch keys {
    case .given(let keys): return value.adding("keys", .string(keys.description))
    case .fetched(let url): return value.adding("jwks", .string(RedactedURL.text(url)))
    }
  }
}

extension AppConfiguration.Purchasely {
  fileprivate var redacted: JSONValue {
    let value: JSONValue = ["url": .string(RedactedURL.text(url)), "api_key": .string(apiKey.description)]
    return clientSecret.map { value.adding("client_secret", .string($0.description)) } ?? value
  }
}

extension JSONValue {
  static func duration(_ duration: Duration) -> JSONValue {
    .string(DurationText.text(duration))
  }

  fileprivate static func rate(_ limit: RateLimit?) -> JSONValue { .string(limit?.text ?? "off") }

  fileprivate static func sources(_ secrets: [Secret]) -> JSONValue {
    .array(secrets.map { .string($0.description) })
  }
}
