// A payment processor in the configuration. A new one adds a `ProcessorKind`, its section, and its line in
// `ProcessorRegistry.standard`. Pure, except for reading secrets.

package import Domain
package import JSON
internal import Platform
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
  /// Every secret, by its key in the section, in the order of the manual page.
  var secrets: [(key: String, secret: Secret)] { get }
  /// Every key with its value; of a secret, only its source (R7).
  var redacted: JSONValue { get }

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
  /// Its section of the starter file, which is also its part of the manual page.
  let template: String
  /// Reads its section; nil after a fault that leaves a required part without a value.
  let read: @Sendable (ConfigurationReader, ObjectReader) -> (any ProcessorSection)?

  init<Processor: PaymentProcessor>(
    _ processor: Processor.Type, label: String, template: String,
    read: @escaping @Sendable (ConfigurationReader, ObjectReader) -> (any ProcessorSection)?
  ) {
    name = Processor.name
    self.label = label
    help = Processor.help
    rules = { Processor.rules(isAsked: $0) }
    hasPathToken = Processor.hasPathToken
    self.template = template
    self.read = read
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

extension ConfigurationReader {
  /// The sections of an app's processors; at least one.
  func processors(in reader: ObjectReader) -> [ConfiguredProcessor]? {
    let named = processors.kinds.filter { reader.value($0.name.rawValue) != nil }
    let kinds = named.isEmpty ? Array(processors.kinds.prefix(1)) : named
    let sections = kinds.map { kind in kind.read(self, reader.object(kind.name.rawValue)) }
    // Marks the keys of missing sections as known.
    for kind in processors.kinds { _ = reader.value(kind.name.rawValue) }
    guard sections.allSatisfy({ $0 != nil }) else { return nil }
    return sections.compactMap { $0.map(ConfiguredProcessor.init) }
  }

  /// The key `deliver_to` of a processor's section: a destination that accepts the processor's purchases.
  func deliverTo(
    _ reader: ObjectReader, of kind: ProcessorKind, default fallback: DestinationName
  ) -> DestinationName {
    let path = reader.path(of: "deliver_to")
    let names = destinations.kinds.filter { $0.accepts(kind.name) }.map { "\"\($0.name.rawValue)\"" }
    let expected =
      "the name of a destination for purchases of \(kind.label): \(names.joined(separator: " or "))"
    let text = reader.text(reader.value("deliver_to"), path: path, mustBe: expected)
    let name = text.map { DestinationName(rawValue: $0) } ?? fallback
    if destinations[name]?.accepts(kind.name) != true { collector.fault(path, "must be \(expected)") }
    return name
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
