// What the configuration needs to know of a destination for receipts. Pure, except for reading secrets.

package import Destinations
public import Domain
public import Presentation

/// One kind of destination.
package struct DestinationKind: Sendable {
  /// Its name in `deliver_to`, rows and logs.
  package let name: DestinationName
  /// Whether it can express the purchases of a processor.
  package let accepts: @Sendable (ProcessorName) -> Bool
  /// What to do when it refuses an app's configuration.
  package let advice: @Sendable (AppConfiguration) -> DestinationAdvice
  private let maker: @Sendable (AppConfiguration, Bool, String) throws -> any ReceiptDestination

  /// - Parameters:
  ///   - secret: its secret in an app's configuration.
  ///   - make: makes it for an app, with its secrets or without, for a user agent.
  init<Destination: ReceiptDestination>(
    _ destination: Destination.Type, secret: @escaping @Sendable (AppConfiguration) -> Secret,
    make:
      @escaping @Sendable (AppConfiguration, _ revealsSecrets: Bool, _ userAgent: String) throws ->
      Destination
  ) {
    name = Destination.name
    accepts = { Destination.accepts($0) }
    advice = { app in
      DestinationAdvice(
        Destination.name, settings: Destination.help.settings, secret: Destination.help.secret,
        refresh: secret(app).refresh)
    }
    maker = make
  }

  /// - Parameter revealsSecrets: if false, the destination can build requests, but they cannot be sent.
  /// - Throws: `Fault` when a required secret cannot be read.
  package func make(
    _ app: AppConfiguration, revealsSecrets: Bool, userAgent: String
  ) throws -> any ReceiptDestination {
    try maker(app, revealsSecrets, userAgent)
  }

  static let purchasely = DestinationKind(
    PurchaselyDestination.self, secret: \.purchasely.apiKey
  ) { app, revealsSecrets, userAgent in
    PurchaselyDestination(
      PurchaselySettings(
        url: app.purchasely.url, apiKey: revealsSecrets ? try app.purchasely.apiKey.reveal() : "",
        forwardsContext: app.delivery.forwardContext, userAgent: userAgent))
  }
}

extension AppConfiguration {
  /// The kinds of the app's destinations, each once, in the order of its processors.
  package var destinationKinds: [DestinationKind] {
    processors.reduce(into: []) { kinds, processor in
      guard let kind = destinations[processor.section.deliverTo],
        !kinds.contains(where: { $0.name == kind.name })
      else { return }
      kinds.append(kind)
    }
  }

  /// The destination of a processor's purchases. Those of a processor that is not configured any more go
  /// where the first processor's go, if that destination can express them; else nowhere.
  package func destination(of processor: ProcessorName) -> DestinationName? {
    if let section = self.processor(processor) { return section.deliverTo }
    guard let first = destinationKinds.first, first.accepts(processor) else { return nil }
    return first.name
  }

  /// What to do when a destination refuses the app's configuration.
  public func destinationAdvice(_ name: DestinationName) -> DestinationAdvice? {
    destinations[name]?.advice(self)
  }
}

extension Configuration {
  /// What to do when a destination refuses an app's configuration; nil if the app is not configured.
  public func destinationAdvice(of place: AppDestination) -> DestinationAdvice? {
    app(place.app)?.destinationAdvice(place.destination)
  }
}
