// What to do when a destination refuses its configuration, as text. Pure; called from any thread.

public import Domain

/// How to correct the configuration of a destination.
public struct DestinationAdvice: Sendable, Equatable {
  private let name: DestinationName
  private let settings: [String]
  private let secret: String
  private let refresh: SecretRefresh

  /// - Parameters:
  ///   - settings: the keys of its section that a destination judges.
  ///   - secret: the one of them that is a secret.
  ///   - refresh: how a corrected secret takes effect.
  public init(_ name: DestinationName, settings: [String], secret: String, refresh: SecretRefresh) {
    self.name = name
    self.settings = settings
    self.secret = secret
    self.refresh = refresh
  }

  /// The end of a sentence: correct `webhook (url, secret), then run: receiptctl reload`.
  public var correction: String {
    "\(name) (\(settings.joined(separator: ", "))), \(SecretRefresh.command(refresh, of: secret))"
  }
}
