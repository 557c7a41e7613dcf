// A payment processor's part of an app's configuration. Pure, except for reading secrets.

public import Domain
package import Formats
package import Partners

/// One processor's part of an app's configuration: `apps.NAME.PROCESSOR`.
package protocol ProcessorSection: Sendable, Equatable {
  static var kind: ProcessorKind { get }
  /// Its key with the addresses that may send webhooks. The default is nil: any may.
  static var sendersKey: String? { get }

  /// The destinations of the receipts for its purchases, of the `DestinationRegistry`.
  var deliverTo: DeliverTo { get }
  /// Whether the app has an API key for lookups.
  var isAsked: Bool { get }
  /// Events are fetched at the start if receiptd was down for longer than this; nil means never.
  var backfillsAfter: Duration? { get }
  /// Whether the processor has a list of its events that the app may read. The default is no.
  var listsEvents: Bool { get }
  /// Whether clients can start payments with the merchant's credentials. The default is yes for a kind with a
  /// merchant backend.
  var startsPayments: Bool { get }
  /// The secrets that authenticate its webhooks.
  var webhookSecrets: [Secret] { get }
  /// Where the processor and its pages reach the relay; nil if the section does not say it.
  var publicOrigin: WebOrigin? { get }
  /// The processor's properties that the join needs. The default is that of the kind.
  var rules: ProcessorRules { get }

  /// - Parameters:
  ///   - app: the app that has the section.
  ///   - userAgent: the name and the version of this program.
  /// - Throws: `Fault` when a secret that this use requires cannot be read.
  func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor

  /// What is wrong with the section in this app, by key: what its own keys cannot know.
  func faults(in app: AppConfiguration) -> [(key: String, message: String)]
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

/// Who names the amount of a payment that an app starts.
package enum AmountSource: String, Sendable, CaseIterable {
  /// The configuration, by price.
  case server
  /// The app.
  case client
}

extension ProcessorSection {
  package var kind: ProcessorKind { Self.kind }

  package static var sendersKey: String? { nil }

  package var publicOrigin: WebOrigin? { nil }

  package var listsEvents: Bool { false }

  package var startsPayments: Bool { !kind.backendEndpoints.isEmpty }

  package var rules: ProcessorRules { kind.rules(isAsked) }

  package func faults(in app: AppConfiguration) -> [(key: String, message: String)] { [] }

  fileprivate func equals(_ other: any ProcessorSection) -> Bool { (other as? Self) == self }
}

/// A section of any processor.
package struct ConfiguredProcessor: Sendable, Equatable {
  package let section: any ProcessorSection

  package var name: ProcessorName { section.kind.name }

  package static func == (left: Self, right: Self) -> Bool { left.section.equals(right.section) }
}

extension AppConfiguration {
  /// The section of one processor.
  func processor(_ name: ProcessorName) -> (any ProcessorSection)? {
    processors.first { $0.name == name }?.section
  }

  /// Why a stored event of one of its processors is `unparsed`; nil if it can be read, as after an update.
  package func unreadable(_ processor: ProcessorName, in body: [UInt8]) -> ReadingFault? {
    self.processor(processor)?.kind.unreadable(body)
  }

  /// The display name of one of its processors; nil if it does not have it.
  package func label(of processor: ProcessorName) -> String? { self.processor(processor)?.kind.label }

  /// The first of the app's processors that lists its events.
  package var eventLister: ProcessorKind? {
    processors.map(\.section.kind).first { $0.eventsKept != nil }
  }

  /// Those of the app's processors that list no events.
  package var processorsWithoutLists: [ProcessorKind] {
    processors.map(\.section.kind).filter { $0.eventsKept == nil }
  }

  /// The properties of a processor that the join needs.
  public func rules(of processor: ProcessorName) -> ProcessorRules {
    self.processor(processor)?.rules ?? ProcessorRules()
  }

  /// The properties of each processor that the join needs.
  package var processorRules: [ProcessorName: ProcessorRules] {
    Dictionary(uniqueKeysWithValues: processors.map { ($0.name, $0.section.rules) })
  }
}

extension AppConfiguration {
  /// Where devices, browsers and processors reach the relay, as far as the app's configuration says it.
  package var publicOrigins: [WebOrigin] {
    let all = [links?.origin].compactMap(\.self) + processors.compactMap(\.section.publicOrigin)
    return Set(all).sorted { $0.text < $1.text }
  }

  /// Whether events that were missed can be fetched from a list of a processor.
  package var listsEvents: Bool { processors.contains { $0.section.listsEvents } }

  /// The app with each of its processors.
  package var places: [AppProcessor] { processors.map { AppProcessor(slug, $0.name) } }
}

extension Configuration {
  /// Each app with each of its processors.
  package var configuredPlaces: [AppProcessor] {
    apps.flatMap(\.places)
  }

  /// Whether lists should say which processor each entry is of: the apps have several, or the entries do.
  package func hasSeveralProcessors(_ shown: some Sequence<ProcessorName>) -> Bool {
    Set(configuredPlaces.map(\.processor)).union(shown).count > 1
  }
}
