// What the configuration, messages and routes need to know of a payment processor before any app uses it.
// Pure; any thread.

package import Domain
package import Partners
internal import Reports

/// One kind of payment processor.
package struct ProcessorKind: Sendable {
  /// Its name in the configuration, in URLs, rows and metrics.
  package let name: ProcessorName
  /// Its display name.
  package let label: String
  /// What messages to operators say about it.
  let help: ProcessorHelp
  /// The properties that the join needs, with and without lookups.
  package let rules: @Sendable (_ isAsked: Bool) -> ProcessorRules
  /// Why a stored event could not be read.
  let unreadable: @Sendable (_ body: [UInt8]) -> ReadingFault?
  /// What a body of its webhooks names.
  let mentions: @Sendable (_ body: [UInt8]) -> Mentions
  /// The types of events whose bodies can say what a customer bought.
  let summaryTypes: Set<String>
  /// What such a body says about it.
  let summary: @Sendable (_ body: [UInt8]) -> PurchaseSummary?
  /// Whether it sends webhooks.
  package let hasWebhooks: Bool
  /// Whether the path of its webhooks ends in a secret.
  package let hasPathToken: Bool
  /// The paths of its merchant backend.
  package let backendEndpoints: [BackendEndpoint]
  /// The type of its merchant backend; nil if it has none.
  package let backendType: (any MerchantBackend.Type)?
  /// The key of its section with the addresses that may send its webhooks.
  private let sendersKey: String?
  private let makeKey: @Sendable (ProcessorRegistry) -> ConfigurationKey<AppConfiguration>

  /// - Parameters:
  ///   - label: its display name.
  ///   - section: the keys of its section.
  ///   - text: what its section is for.
  init<Processor: PaymentProcessor, Section: ProcessorSection>(
    _ processor: Processor.Type, label: String, section: ConfigurationSection<Section>, _ text: String
  ) {
    name = Processor.name
    self.label = label
    help = Processor.help
    rules = { Processor.rules(isAsked: $0) }
    unreadable = { Processor.unreadable(in: $0) }
    mentions = { Processor.mentions(in: $0) }
    summaryTypes = Processor.summaryTypes
    summary = { Processor.summary(in: $0) }
    hasWebhooks = Processor.hasWebhooks
    hasPathToken = Processor.hasPathToken
    backendEndpoints = Processor.backendEndpoints
    backendType = Processor.backendType
    sendersKey = Section.sendersKey
    makeKey = { .processor(Processor.name, section, in: $0, text) }
  }

  /// Its section's key among those of an app.
  func key(in registry: ProcessorRegistry) -> ConfigurationKey<AppConfiguration> { makeKey(registry) }
}

extension ConfigurationKey<AppConfiguration> {
  /// The section of a processor. An app needs one, unless a destination takes its purchases in app stores;
  /// without any, the first one of the registry is missing.
  fileprivate static func processor<Section: ProcessorSection>(
    _ processor: ProcessorName, _ section: ConfigurationSection<Section>, in registry: ProcessorRegistry,
    _ text: String
  ) -> Self {
    let name = processor.text
    let names = registry.kinds.map(\.name.text)
    let isFirst = names.first == name
    @Sendable func own(_ app: AppConfiguration) -> Section? { app.processor(processor) as? Section }
    let need: KeyDescription.Need = names.count == 1 ? .section : .alternative(isPreferred: isFirst)
    return ConfigurationKey(
      name, describe: { _ in KeyDescription(name: name, text: text, need: need, shape: section.shape) },
      read: { app, reader, context in
        let isNeeded = isFirst && !(names + context.destinations.namesForStores).contains(where: reader.has)
        guard reader.has(name) || isNeeded else { return true }
        var values = section.initial
        let isComplete = section.read(&values, reader.object(name), context)
        app.processors.append(ConfiguredProcessor(section: values))
        return isComplete
      },
      show: { own($0).map(section.show) },
      secrets: { app, path in own(app).map { section.secrets($0, path) } ?? [] })
  }
}

extension ProcessorKind {
  /// How far back it lists events: `30 days`; nil if it lists none.
  package var eventsKept: String? { help.eventsKept }

  /// The path that its ids of payments begin with; nil if they are no paths.
  var idFolder: String? { help.idFolder }

  /// The key for its API in an app's configuration: `stripe.api_key`.
  package var apiKeyPath: String { "\(name.text).\(help.apiKeyKey)" }

  /// What to do when its API refuses an app's credentials.
  func advice(for app: AppConfiguration) -> ProcessorAdvice {
    let secrets = key(in: ProcessorRegistry(kinds: [self])).secrets(app, "section")
    let key = secrets.first { $0.path.hasSuffix(".\(help.apiKeyKey)") }
    return advice(key?.secret.refresh ?? .reload)
  }

  /// The same with only the source of the key known; nil for an unknown one.
  func advice(_ refresh: SecretRefresh?) -> ProcessorAdvice {
    ProcessorAdvice(
      name, label: label, key: help.apiKeyKey, settings: help.apiSettings, rights: help.apiKeyRights,
      refresh: refresh)
  }

  /// What to do when its webhooks are refused.
  /// - Parameters:
  ///   - refresh: how a corrected secret takes effect; nil if its source is unknown.
  ///   - listsEvents: whether the app can ask the processor for its events.
  func webhookAdvice(_ refresh: SecretRefresh?, listsEvents: Bool = false) -> WebhookAdvice {
    WebhookAdvice(
      name, label: label, key: help.webhookSecretKey, origin: help.webhookSecretOrigin, senders: sendersKey,
      refresh: refresh, listsEvents: listsEvents)
  }
}

// MARK: - ProcessorRegistry

// The payment processors of this program. A new one adds its section, its `ProcessorKind`, and its name to
// `ProcessorRegistry.standard`. Pure; any thread.

/// The payment processors that a configuration may name.
package struct ProcessorRegistry: Sendable, Equatable {
  /// The first is suggested to an app that configures none.
  package let kinds: [ProcessorKind]

  /// The processors of this program. Add a new processor here.
  package static let standard = ProcessorRegistry(kinds: [.stripe, .swedbank, .afterpay])

  /// The paths that ids of payments begin with, for `FindQuery`.
  package var idFolders: [String] { kinds.compactMap(\.idFolder) }

  /// What a body of a processor's webhook names, for a search; nothing if the processor is unknown.
  package func mentions(_ processor: ProcessorName, in body: [UInt8]) -> Mentions {
    kinds.first { $0.name == processor }?.mentions(body) ?? Mentions()
  }

  /// Whether the body of such an event can say what a customer bought.
  package func canSummarize(_ processor: ProcessorName, type: String) -> Bool {
    kinds.first { $0.name == processor }?.summaryTypes.contains(type) ?? false
  }

  /// What such a body says about what a customer bought.
  package func summary(_ processor: ProcessorName, in body: [UInt8]) -> PurchaseSummary? {
    kinds.first { $0.name == processor }?.summary(body)
  }

  /// The processor that may repeat its events for the longest time.
  var longestRepeating: ProcessorKind? {
    kinds.max { $0.rules(false).repeatPeriod < $1.rules(false).repeatPeriod }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.kinds.map(\.name) == right.kinds.map(\.name)
  }
}
