// Reads the configuration under `apps`. As ConfigurationReader: one thread, every fault.

internal import Domain
internal import JSON

extension ConfigurationReader {
  func apps(in root: ObjectReader) -> [AppConfiguration] {
    let processor = processors.kinds.first.map { "\($0.name.rawValue): …, " } ?? ""
    let value = root.required(
      "apps", "configure at least one app: apps: { my-app: { client: …, \(processor)… } }")
    guard let value else { return [] }
    let reader = ObjectReader(value, path: "apps", collector: collector)
    let range = ConfigurationLimits.apps
    if case .object = value, !range.contains(reader.names.count) {
      let bounds = "from \(range.lowerBound) to \(range.upperBound) apps"
      collector.fault("apps", "must have \(bounds), but has \(reader.names.count)")
    }
    return reader.names.compactMap { slug in
      guard AppConfiguration.isSlug(slug) else {
        collector.fault(
          reader.path(of: slug),
          "is not a valid name for an app; write 1 to 63 lower-case letters, digits and hyphens, not "
            + "beginning with a hyphen")
        return nil
      }
      return app(slug, reader.object(slug))
    }
  }

  /// Nil after a fault that leaves a required part without a value.
  private func app(_ slug: String, _ reader: ObjectReader) -> AppConfiguration? {
    let client = client(reader)
    let processors = processors(in: reader)
    let purchasely = purchasely(reader.object("purchasely"))
    let join = join(reader.object("join"))
    let delivery = delivery(reader.object("delivery"))
    let links = links(reader, slug: slug)
    reader.reportUnknownKeys()
    guard let client, let processors, let purchasely else { return nil }
    var app = AppConfiguration(
      slug: slug, client: client, processors: processors, purchasely: purchasely, join: join,
      delivery: delivery,
      links: links)
    app.destinations = destinations
    return app
  }

  private func purchasely(_ reader: ObjectReader) -> AppConfiguration.Purchasely? {
    defer { reader.reportUnknownKeys() }
    let advice = "write the app's API key from Purchasely's console as \"env:NAME\" or \"file:/path\""
    let apiKey = secrets.secret(reader.required("api_key", advice), path: reader.path(of: "api_key"))
    let url = endpoint(reader, "url", default: AppConfiguration.Purchasely.defaultURL)
    let clientSecret = secrets.secret(reader.value("client_secret"), path: reader.path(of: "client_secret"))
    return apiKey.map { AppConfiguration.Purchasely(url: url, apiKey: $0, clientSecret: clientSecret) }
  }

  func endpoint(_ reader: ObjectReader, _ key: String, default fallback: String) -> String {
    let path = reader.path(of: key)
    guard let url = reader.text(reader.value(key), path: path, mustBe: "an address, https://…") else {
      return fallback
    }
    if let fault = EndpointURL.fault(in: url) { collector.fault(path, fault) }
    return url
  }

  /// A list of secrets that has no default; nil after a fault.
  func secretList(
    _ reader: ObjectReader, _ key: String, count: ClosedRange<Int>, advice: String
  ) -> [Secret]? {
    let path = reader.path(of: key)
    guard let entries = reader.list(reader.required(key, advice), path: path, count: count, of: "secrets")
    else {
      return nil
    }
    var found: [(secret: Secret, path: String)] = []
    for (value, path) in entries {
      guard let secret = secrets.secret(value, path: path) else { continue }
      if let twin = found.first(where: { $0.secret.hasValue(of: secret) }) {
        collector.fault(path, "is the same secret as \(twin.path); take one of them out")
      }
      found.append((secret, path))
    }
    return found.map(\.secret)
  }
}

extension ConfigurationReader {
  private func join(_ reader: ObjectReader) -> JoinPolicy {
    defer { reader.reportUnknownKeys() }
    let defaults = JoinPolicy()
    func wait(_ key: String, _ fallback: Duration) -> Duration {
      reader.duration(key, default: fallback, in: ConfigurationLimits.joinWait)
    }
    return JoinPolicy(
      window: wait("window", defaults.window),
      settle: wait("settle", defaults.settle),
      guess: reader.choice("guess", default: defaults.guess),
      waitForContext: wait("wait_for_context", defaults.waitForContext),
      withoutContext: reader.choice("without_context", default: defaults.withoutContext),
      waitForUser: wait("wait_for_user", defaults.waitForUser),
      waitForProcessorPrice: wait(
        "wait_for_stripe_price", defaults.waitForProcessorPrice),
      waitForPrice: wait("wait_for_price", defaults.waitForPrice),
      waitForPayment: wait("wait_for_payment", defaults.waitForPayment))
  }

  private func delivery(_ reader: ObjectReader) -> DeliveryPolicy {
    typealias Range = ConfigurationLimits
    defer { reader.reportUnknownKeys() }
    let defaults = DeliveryPolicy()
    return DeliveryPolicy(
      concurrency: reader.integer("concurrency", default: defaults.concurrency, in: Range.concurrency),
      ratePerSecond: reader.number("rate", default: defaults.ratePerSecond, in: Range.ratePerSecond),
      timeout: reader.duration(
        "timeout", default: defaults.timeout, in: Range.deliveryTimeout),
      connectTimeout: reader.duration(
        "connect_timeout", default: defaults.connectTimeout, in: Range.deliveryTimeout),
      retry: retry(reader.object("retry")), breaker: breaker(reader.object("breaker")),
      forwardContext: reader.flag("forward_context", default: defaults.forwardContext))
  }

  private func retry(_ reader: ObjectReader) -> RetryPolicy {
    typealias Range = ConfigurationLimits
    defer { reader.reportUnknownKeys() }
    let defaults = RetryPolicy()
    return RetryPolicy(
      schedule: reader.durations(
        "schedule", default: defaults.schedule, in: Range.retryPause, count: Range.retrySteps),
      jitter: reader.number("jitter", default: defaults.jitter, in: Range.jitter),
      giveUpAfter: reader.duration(
        "give_up_after", default: defaults.giveUpAfter, in: Range.giveUpAfter))
  }

  private func breaker(_ reader: ObjectReader) -> BreakerPolicy {
    typealias Range = ConfigurationLimits
    defer { reader.reportUnknownKeys() }
    let defaults = BreakerPolicy()
    return BreakerPolicy(
      failures: reader.integer("failures", default: defaults.failures, in: Range.breakerFailures),
      openFor: reader.duration(
        "open_for", default: defaults.openFor, in: Range.breakerOpenFor))
  }
}
