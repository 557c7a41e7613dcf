// What to do when a processor's webhooks are refused, as text. Pure; called from any thread.

public import Domain

/// How to correct the secret that authenticates a processor's webhooks.
public struct WebhookAdvice: Sendable, Equatable {
  /// The processor's display name.
  public let label: String
  private let processor: ProcessorName
  private let key: String
  private let origin: String
  private let refresh: SecretRefresh

  /// - Parameters:
  ///   - label: the processor's display name.
  ///   - key: the secret's key in the processor's section.
  ///   - origin: where the processor shows the secret.
  ///   - refresh: how a corrected secret takes effect.
  public init(
    _ processor: ProcessorName, label: String, key: String, origin: String, refresh: SecretRefresh
  ) {
    self.processor = processor
    self.label = label
    self.key = key
    self.origin = origin
    self.refresh = refresh
  }

  /// The end of a sentence: compare `pay.webhook_secrets with the secret in Pay's console`.
  public var comparison: String { "\(processor).\(key) with \(origin)" }

  /// `then run: receiptctl reload`
  public var command: String { SecretRefresh.command(refresh, of: key) }
}
