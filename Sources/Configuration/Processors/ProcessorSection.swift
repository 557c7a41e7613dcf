// A payment processor in the configuration. A new one adds a `ProcessorKind`, its section, and its line in
// `ProcessorRegistry.standard`. Pure, except for reading secrets.

package import Domain
internal import Durations
internal import JSON
internal import Presentation
package import Processors

/// One processor's part of an app's configuration: `apps.NAME.PROCESSOR`.
package protocol ProcessorSection: Sendable, Equatable {
  static var kind: ProcessorKind { get }

  /// The destination of the receipts for its purchases; one of the `DestinationRegistry`.
  var deliverTo: DestinationName { get }
  /// Whether the app has an API key for lookups.
  var isAsked: Bool { get }
  /// Events are fetched at the start if receiptd was down for longer than this; nil means never.
  var backfillsAfter: Duration? { get }
  /// The secrets that authenticate its webhooks.
  var webhookSecrets: [Secret] { get }

  /// - Throws: `Fault` when a secret that this use requires cannot be read.
  func makeProcessor(for use: ProcessorUse) throws -> any PaymentProcessor
}

/// The purpose of a processor instance, which decides which secrets are required.
package enum ProcessorUse: Sendable {
  /// Serving webhooks and lookups: all secrets.
  case serving
  /// Lookups only: the API key.
  case asking
  /// Reading stored events: no secret.
  case reading
}

extension ProcessorSection {
  package var kind: ProcessorKind { Self.kind }

  /// The processor's properties that the join needs.
  package var rules: ProcessorRules { kind.rules(isAsked) }

  fileprivate func equals(_ other: any ProcessorSection) -> Bool { (other as? Self) == self }
}

/// A section of any processor.
package struct ConfiguredProcessor: Sendable, Equatable {
  package let section: any ProcessorSection

  package init(section: any ProcessorSection) { self.section = section }

  package var name: ProcessorName { section.kind.name }

  package static func == (left: Self, right: Self) -> Bool { left.section.equals(right.section) }
}

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
  /// Whether the path of its webhooks ends in a secret.
  package let hasPathToken: Bool
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
    hasPathToken = Processor.hasPathToken
    makeKey = { .processor(Processor.name, section, in: $0, text) }
  }

  /// Its section's key among those of an app.
  func key(in registry: ProcessorRegistry) -> ConfigurationKey<AppConfiguration> { makeKey(registry) }
}

extension ConfigurationKey<AppConfiguration> {
  /// The section of a processor. An app needs one; without any, the first one of the registry is missing.
  fileprivate static func processor<Section: ProcessorSection>(
    _ processor: ProcessorName, _ section: ConfigurationSection<Section>, in registry: ProcessorRegistry,
    _ text: String
  ) -> Self {
    let name = processor.rawValue
    let names = registry.kinds.map(\.name.rawValue)
    let isFirst = names.first == name
    @Sendable func own(_ app: AppConfiguration) -> Section? { app.processor(processor) as? Section }
    let need: KeyDescription.Need = names.count == 1 ? .section : .alternative(isPreferred: isFirst)
    return ConfigurationKey(
      name, describe: { _ in KeyDescription(name: name, text: text, need: need, shape: section.shape) },
      read: { app, reader, context in
        guard reader.has(name) || isFirst && !names.contains(where: reader.has) else { return true }
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

  /// The key for its API in an app's configuration: `stripe.api_key`.
  package var apiKeyPath: String { "\(name.rawValue).\(help.apiKeyKey)" }

  /// What to do when its webhooks are refused.
  /// - Parameter refresh: how a corrected secret takes effect.
  func webhookAdvice(_ refresh: SecretRefresh) -> WebhookAdvice {
    WebhookAdvice(
      name, label: label, key: help.webhookSecretKey, origin: help.webhookSecretOrigin, refresh: refresh)
  }
}

/// The payment processors that a configuration may name.
package struct ProcessorRegistry: Sendable, Equatable {
  /// The first is suggested to an app that configures none.
  package let kinds: [ProcessorKind]

  /// The processors of this program. Add a new processor here.
  package static let standard = ProcessorRegistry(kinds: [.stripe])

  /// The processor that may repeat its events for the longest time.
  var longestRepeating: ProcessorKind? {
    kinds.max { $0.rules(false).repeatPeriod < $1.rules(false).repeatPeriod }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.kinds.map(\.name) == right.kinds.map(\.name)
  }
}

extension AppConfiguration {
  /// The section of one processor.
  func processor(_ name: ProcessorName) -> (any ProcessorSection)? {
    processors.first { $0.name == name }?.section
  }

  /// The first of the app's processors that lists its events.
  package var eventLister: ProcessorKind? {
    processors.map(\.section.kind).first { $0.eventsKept != nil }
  }

  /// The properties of each processor that the join needs.
  package var processorRules: [ProcessorName: ProcessorRules] {
    Dictionary(uniqueKeysWithValues: processors.map { ($0.name, $0.section.rules) })
  }
}
