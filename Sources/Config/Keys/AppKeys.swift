// The keys of an app: its processors, its destinations, its join and its deliveries. As ConfigurationReader:
// one thread, every fault.

internal import Domain
internal import Formats

extension AppConfiguration {
  /// The slugs, as a regular expression.
  static let slugPattern = "^[a-z0-9][a-z0-9-]{0,62}$"

  /// An app with the processors of a registry, which contribute their own keys.
  static func section(_ registry: ProcessorRegistry) -> ConfigurationSection<AppConfiguration> {
    let processors = registry.kinds.map { $0.key(in: registry) }
    let oneOf = JSONValue.array(registry.kinds.map { ["required": [.string($0.name.text)]] })
    let client = ConfigurationKey<AppConfiguration>.required(
      "client", \.client, .clientAccess, advice: ClientAccess.advice,
      "The clients that may post contexts: those that send one of the keys or a token. With client: "
        + "\"open\", everyone may.")
    let origins = ConfigurationKey<AppConfiguration>.key(
      "client_origins", \.clientOrigins,
      .set(of: .pageOrigin, count: ConfigurationLimits.clientOrigins, "origins"),
      example: ["https://shop.example.com"],
      "The origins of the web pages that may post contexts and read their states in a browser or a WebView "
        + "(CORS): scheme, host and port, each exactly. Without any, no page of another origin may.")
    let rest: [ConfigurationKey<AppConfiguration>] = [
      .purchasely, .webhook,
      .section(
        "join", \.join, JoinPolicy.section,
        "How a purchase finds its context, and how long it waits for what is missing."),
      .section("delivery", \.delivery, DeliveryPolicy.section, "How receipts are delivered."),
      .optional(
        "links", \.links, .section(Links.section),
        "The way to the checkout page and back into the app. Without it, the relay serves no links and no "
          + "pages for the app."
      ).then { app, _, _ in
        if app.links?.returnPage?.name.isEmpty == true { app.links?.returnPage?.name = app.slug.text }
      },
    ]
    return ConfigurationSection(
      AppConfiguration(slug: "", client: .open, processors: []),
      rules: processors.count > 1 ? ["anyOf": oneOf] : [:], [client, origins] + processors + rest)
  }
}

extension AppConfiguration {
  /// Reports what is wrong with a processor's section only in this app.
  fileprivate func reportFaultsOfProcessors(_ reader: ObjectReader) {
    for processor in processors {
      let path = reader.path(of: processor.name.text)
      if processor.section.startsPayments, client == .open, reader.has("client") {
        reader.collector.fault(
          path,
          "needs client keys or tokens, because anyone could start payments for any user; write client: "
            + "{ keys: [\"env:NAME\"] } or { jwt: { … } }")
      }
      for fault in processor.section.faults(in: self) {
        reader.collector.fault(JSON5Reader.path(path, fault.key), fault.message)
      }
    }
  }
}

extension ValueShape {
  /// Objects of this shape by the app's name.
  fileprivate static func byName(_ object: ValueShape, count: ClosedRange<Int>) -> Self {
    var shape = object
    shape.infix = ".NAME"
    shape.schema = [
      "type": "object", "propertyNames": .pattern(AppConfiguration.slugPattern),
      "minProperties": .integer(Int64(count.lowerBound)), "maxProperties": .integer(Int64(count.upperBound)),
      "additionalProperties": object.schema,
    ]
    return shape
  }
}

extension ValueForm<[AppConfiguration]> {
  /// The apps by slug.
  static func apps(_ registry: ProcessorRegistry) -> ValueForm {
    let section = AppConfiguration.section(registry)
    let range = ConfigurationLimits.apps
    return ValueForm(
      shape: .byName(section.shape, count: range),
      read: { value, path, context in
        let reader = ObjectReader(value, path: path, collector: context.collector)
        if case .object = value, !range.contains(reader.names.count) {
          let bounds = "from \(range.lowerBound) to \(range.upperBound) apps"
          context.collector.fault(path, "must have \(bounds), but has \(reader.names.count)")
        }
        let apps = reader.names.compactMap { slug -> AppConfiguration? in
          guard AppConfiguration.isSlug(slug) else {
            context.collector.fault(
              reader.path(of: slug),
              "is not a valid name for an app; write 1 to 63 lower-case letters, digits and hyphens, not "
                + "beginning with a hyphen")
            return nil
          }
          var app = section.initial
          app.slug = AppSlug(slug)
          app.destinations = context.destinations
          let own = reader.object(slug)
          let isComplete = section.read(&app, own, context)
          app.reportFaultsOfProcessors(own)
          return isComplete ? app : nil
        }
        return apps.sorted { $0.slug < $1.slug }
      },
      show: { .object($0.map { JSONValue.Member(name: $0.slug.text, value: section.show($0)) }) },
      secrets: { apps, path in
        apps.flatMap { section.secrets($0, JSON5Reader.path(path, $0.slug.text)) }
      })
  }
}

extension JoinPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "window",
        \.window,
        .duration(in: ConfigurationLimits.joinWait),
        "How long before its payment a purchase's context may have been posted."),
      .key(
        "settle",
        \.settle,
        .duration(in: ConfigurationLimits.joinWait),
        "How long a purchase waits for the other events of its checkout: the session, and the price."),
      .key(
        "guess", \.guess, .choice,
        "Which of the user's unused contexts a purchase that names none gets: the newest whose price does "
          + "not contradict it (same_price), the newest of any price (newest), or none (never)."),
      .key(
        "wait_for_context",
        \.waitForContext,
        .duration(in: ConfigurationLimits.joinWait),
        "How long a purchase waits for its context."),
      .key(
        "without_context", \.withoutContext, .choice,
        "What happens after that wait: the receipt is delivered without ply_context (deliver), or waits "
          + "until a context comes or an operator acts (hold)."),
      .key(
        "wait_for_user",
        \.waitForUser,
        .duration(in: ConfigurationLimits.joinWait),
        "How long a purchase waits for its user. After that, its receipt fails."),
      .key(
        "wait_for_stripe_price",
        \.waitForProcessorPrice,
        .duration(in: ConfigurationLimits.joinWait),
        "How long a purchase waits for a price from its processor. After that, it uses its context's price, "
          + "whatever its form."),
      .key(
        "wait_for_price",
        \.waitForPrice,
        .duration(in: ConfigurationLimits.joinWait),
        "How long a purchase waits for any price. After that, its receipt fails."),
      .key(
        "wait_for_payment",
        \.waitForPayment,
        .duration(in: ConfigurationLimits.joinWait),
        "How long a purchase waits for a promised payment, such as a bank debit, which takes days."),
    ])
}

extension DeliveryPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "concurrency", \.concurrency, .integer(in: ConfigurationLimits.concurrency),
        "The most deliveries at once."),
      .key(
        "rate", \.ratePerSecond, .number(in: ConfigurationLimits.ratePerSecond),
        "The most deliveries in a second."),
      .key(
        "timeout",
        \.timeout,
        .duration(in: ConfigurationLimits.deliveryTimeout),
        "How long one delivery may take, without the lookup of the destination's name, which may take 10 s "
          + "more."),
      .key(
        "connect_timeout",
        \.connectTimeout,
        .duration(in: ConfigurationLimits.deliveryTimeout),
        "How long connecting may take, from the end of the name lookup."),
      .section("retry", \.retry, RetryPolicy.section, "When a failed delivery is tried again."),
      .section(
        "breaker", \.breaker, BreakerPolicy.section,
        "When the app's deliveries pause because the destination is down."),
      .key("forward_context", \.forwardContext, .flag, "Whether ply_context is sent."),
    ])
}

extension RetryPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "schedule",
        \.schedule,
        .list(
          of: .duration(in: ConfigurationLimits.retryPause), count: ConfigurationLimits.retrySteps,
          "durations"),
        "The pauses after the first, second, … failure. The last one repeats."),
      .key(
        "jitter", \.jitter, .number(in: ConfigurationLimits.jitter),
        "The share by which each pause varies either way."),
      .key(
        "give_up_after",
        \.giveUpAfter,
        .duration(in: ConfigurationLimits.giveUpAfter),
        "How long after it became ready a receipt fails for good. Time in which the destination refused the "
          + "configuration does not count."),
    ])
}

extension BreakerPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "failures", \.failures, .integer(in: ConfigurationLimits.breakerFailures),
        "The number of failures in a row after which deliveries pause."),
      .key(
        "open_for",
        \.openFor,
        .duration(in: ConfigurationLimits.breakerOpenFor),
        "How long they pause. After that, one delivery is tried; if it is answered and fails, up to four "
          + "others are."),
    ])
}
