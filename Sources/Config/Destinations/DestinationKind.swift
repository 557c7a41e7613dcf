// What the configuration needs to know of a destination for receipts. Pure, except for reading secrets.

package import Domain
package import Partners
package import Reports

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
          files: secrets(settings).filter(\.isFile).map(\.description),
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
