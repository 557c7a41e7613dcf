// A destination of an app's receipts. A value; any thread.

internal import Config
public import Domain
public import Partners
public import Reports

/// One destination of an app, ready to get receipts.
public struct DeliveryRoute: Sendable {
  public let name: DestinationName
  public let destination: any ReceiptDestination
  /// What to do when it refuses the app's configuration.
  public let advice: DestinationAdvice

  static func all(_ app: AppConfiguration, revealsSecrets: Bool) throws -> [DeliveryRoute] {
    try app.destinationKinds.compactMap { kind in
      guard
        let destination = try kind.make(app, revealsSecrets: revealsSecrets, userAgent: Version.userAgent),
        let advice = kind.advice(app)
      else { return nil }
      return DeliveryRoute(name: kind.name, destination: destination, advice: advice)
    }
  }

  /// Whether deliveries use another URL or other headers than another route.
  public func differs(from other: DeliveryRoute) -> Bool { !destination.equals(other.destination) }
}
