// What to do when a destination refuses its configuration, as text. Pure; called from any thread.

public import Domain

/// How to correct the configuration of a destination.
public struct DestinationAdvice: Sendable, Equatable {
  public let name: DestinationName
  private let settings: [String]
  private let secret: String
  private let refresh: SecretRefresh
  /// What to do if a purchase that it accepted does not show up there: a sentence.
  public let missing: String

  /// - Parameters:
  ///   - settings: the keys of its section that a destination judges.
  ///   - secret: the one of them that is a secret.
  ///   - refresh: how a corrected secret takes effect.
  ///   - missing: what to do if a purchase that it accepted does not show up there: a sentence.
  public init(
    _ name: DestinationName, settings: [String], secret: String, refresh: SecretRefresh, missing: String
  ) {
    self.name = name
    self.settings = settings
    self.secret = secret
    self.refresh = refresh
    self.missing = missing
  }

  /// The end of a sentence: correct `webhook (url, secret), then run: receiptctl reload`.
  public var correction: String {
    "\(name) (\(settings.joined(separator: ", "))), \(SecretRefresh.command(refresh, of: secret))"
  }
}
