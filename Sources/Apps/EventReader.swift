// Reading an app's kept events again, for whoever has its configuration and none of its secrets. A value; any
// thread.

public import Configuration
public import Domain
internal import Processors
public import Store

/// An app's way to read events.
public struct EventReader: Sendable {
  private let app: String
  private let processor: StripeProcessor

  /// - Throws: when the cryptographic library cannot be used.
  public init(_ configuration: AppConfiguration) throws {
    app = configuration.slug
    var configuration = configuration
    configuration.stripe.apiKey = nil
    processor = try StripeProcessor(App.stripeSettings(of: configuration, webhookSecrets: []))
  }

  /// An event's bytes, read as if they had just come.
  public func event(_ body: [UInt8], now: Timestamp) -> TakeEvent {
    TakeEvent(processor.read(body, now: now), app: app, processor: StripeProcessor.name, body: body)
  }
}
