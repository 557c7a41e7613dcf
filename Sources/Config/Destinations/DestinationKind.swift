// What the configuration needs to know of a destination for receipts. Pure, except for reading secrets.

public import Domain
package import Partners
public import Reports

/// One kind of destination.
package struct DestinationKind: Sendable {
  /// Its name in `deliver_to`, rows and logs, and of its section.
  package let name: DestinationName
  /// Whether it can express the purchases of a processor.
  package let accepts: @Sendable (ProcessorName) -> Bool
  /// Whether an app has its section.
  package let isConfigured: @Sendable (AppConfiguration) -> Bool
  /// What to do when it refuses an app's configuration; nil if the app does not have it.
  package let advice: @Sendable (AppConfiguration) -> DestinationAdvice?
  /// Which receipts of its processors the app's section keeps from it.
  let exclusions: @Sendable (AppConfiguration) -> [DestinationExclusion]
  private let maker: @Sendable (AppConfiguration, Bool, String) throws -> (any ReceiptDestination)?

  /// - Parameters:
  ///   - settings: its section in an app's configuration; nil if the app does not have it.
  ///   - secrets: the secrets of the section.
  ///   - exclusions: which receipts of its processors the section keeps from it.
  ///   - make: makes it for an app, with its secrets or without, for a user agent.
  init<Destination: ReceiptDestination, Settings>(
    _ destination: Destination.Type, settings: @escaping @Sendable (AppConfiguration) -> Settings?,
    secrets: @escaping @Sendable (Settings) -> [Secret],
    exclusions: @escaping @Sendable (Settings) -> [DestinationExclusion] = { _ in [] },
    make:
      @escaping @Sendable (Settings, AppConfiguration, _ revealsSecrets: Bool, _ userAgent: String) throws ->
      Destination
  ) {
    name = Destination.name
    accepts = { Destination.accepts($0) }
    isConfigured = { settings($0) != nil }
    advice = { app in
      settings(app).map { settings in
        DestinationAdvice(
          Destination.name, settings: Destination.help.settings, secret: Destination.help.secret,
          refresh: secrets(settings).map(\.refresh).first { $0 != .reload } ?? .reload,
          missing: Destination.help.missing, secondReceipt: Destination.help.secondReceipt)
      }
    }
    self.exclusions = { settings($0).map(exclusions) ?? [] }
    maker = { app, revealsSecrets, userAgent in
      try settings(app).map { try make($0, app, revealsSecrets, userAgent) }
    }
  }

  /// - Parameter revealsSecrets: if false, the destination can build requests, but they cannot be sent.
  /// - Returns: nil if the app does not have it.
  /// - Throws: `Fault` when a required secret cannot be read.
  package func make(
    _ app: AppConfiguration, revealsSecrets: Bool, userAgent: String
  ) throws -> (any ReceiptDestination)? {
    try maker(app, revealsSecrets, userAgent)
  }

  static let purchasely = DestinationKind(
    PurchaselyDestination.self, settings: \.purchasely, secrets: { [$0.apiKey] },
    exclusions: \.exclusions
  ) { purchasely, app, revealsSecrets, userAgent in
    PurchaselyDestination(
      PurchaselySettings(
        url: purchasely.url, apiKey: revealsSecrets ? try purchasely.apiKey.reveal() : "",
        forwardsContext: app.delivery.forwardContext, storeProducts: purchasely.products ?? [:],
        userAgent: userAgent))
  }

  static let webhook = DestinationKind(
    WebhookDestination.self, settings: \.webhook, secrets: \.secrets
  ) { webhook, app, revealsSecrets, userAgent in
    let keys = revealsSecrets ? try webhook.secrets.map { try $0.reveal() } : []
    var settings = WebhookSettings(
      app: app.slug, url: webhook.url, keys: keys.compactMap { WebhookKey($0) },
      forwardsContext: app.delivery.forwardContext, userAgent: userAgent)
    settings.certificates = .init(
      authorities: webhook.authorities, client: webhook.certificate, clientKey: webhook.key)
    return try WebhookDestination(settings)
  }
}

extension AppConfiguration {
  /// The kinds of the app's destinations.
  package var destinationKinds: [DestinationKind] { destinations.kinds.filter { $0.isConfigured(self) } }

  /// The destination of a processor's purchases; nil if the app does not have it. Those of a processor that
  /// is not configured any more go to the first destination that can express them.
  public func destination(of processor: ProcessorName) -> DestinationName? {
    let kinds = destinationKinds
    guard let section = self.processor(processor) else { return kinds.first { $0.accepts(processor) }?.name }
    return kinds.contains { $0.name == section.deliverTo.first } ? section.deliverTo.first : nil
  }

  /// The destination that gets a copy of the receipts for a processor's purchases; nil for none.
  public func secondDestination(of processor: ProcessorName) -> DestinationName? {
    let name = self.processor(processor)?.deliverTo.second
    return destinationKinds.first { $0.name == name }?.name
  }

  /// Which receipts do not go to the destination of their processor.
  public var exclusions: [DestinationExclusion] { destinationKinds.flatMap { $0.exclusions(self) } }

  /// The destinations that the app has for a purchase.
  public func destinations(of key: PurchaseKey) -> PurchaseDestinations {
    PurchaseDestinations(
      of: key, usual: destination(of: key.processor), second: secondDestination(of: key.processor),
      all: Set(destinationKinds.map(\.name)), exclusions: exclusions)
  }

  /// What the app's destinations do with a second receipt of a purchase.
  public var destinationCorrections: [String] {
    destinationKinds.compactMap { $0.advice(self)?.secondReceipt }
  }

  /// What to do when a destination refuses the app's configuration; nil if the app does not have it.
  public func destinationAdvice(_ name: DestinationName) -> DestinationAdvice? {
    destinations[name]?.advice(self)
  }
}

extension Configuration {
  /// What to do when a destination refuses an app's configuration; nil if the app is not configured, or does
  /// not have the destination.
  public func destinationAdvice(of place: AppDestination) -> DestinationAdvice? {
    app(place.app)?.destinationAdvice(place.destination)
  }
}

// MARK: - DestinationRegistry

// The destinations that receipts can be sent to. A new one adds its `DestinationKind` and its name to
// `DestinationRegistry.standard`. Pure; any thread.

/// The destinations that a configuration may name.
package struct DestinationRegistry: Sendable, Equatable {
  package let kinds: [DestinationKind]

  /// The destinations of this program. Add a new destination here.
  package static let standard = DestinationRegistry(kinds: [.purchasely, .webhook])

  package subscript(name: DestinationName) -> DestinationKind? { kinds.first { $0.name == name } }

  /// The sections of those that take purchases in app stores.
  var namesForStores: [String] {
    kinds.filter { kind in StorePlatform.allCases.contains { kind.accepts($0.processor) } }.map(\.name.text)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.kinds.map(\.name) == right.kinds.map(\.name)
  }
}
