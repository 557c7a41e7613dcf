// What to do when a processor's webhooks are refused, as text. Pure; called from any thread.

public import Domain

/// How to correct the secret that authenticates a processor's webhooks.
public struct WebhookAdvice: Sendable, Equatable {
  /// The processor's display name.
  public let label: String
  /// Whether the app can ask the processor for its events.
  public let listsEvents: Bool
  private let processor: ProcessorName
  private let key: String
  private let origin: String
  private let senders: String?
  private let refresh: SecretRefresh?

  /// - Parameters:
  ///   - label: the processor's display name.
  ///   - key: the secret's key in the processor's section.
  ///   - origin: where the processor shows the secret.
  ///   - senders: the key of its section with the addresses that may send webhooks; nil if there is none.
  ///   - refresh: how a corrected secret takes effect; nil if its source is unknown.
  ///   - listsEvents: whether the app can ask the processor for its events.
  public init(
    _ processor: ProcessorName, label: String, key: String, origin: String, senders: String? = nil,
    refresh: SecretRefresh?, listsEvents: Bool = false
  ) {
    self.processor = processor
    self.label = label
    self.listsEvents = listsEvents
    self.key = key
    self.origin = origin
    self.senders = senders
    self.refresh = refresh
  }

  /// The end of a sentence: compare `pay.webhook_secrets with the secret in Pay's console`.
  public var comparison: String { "\(processor).\(key) with \(origin)" }

  /// `then run: receiptctl reload`
  public var command: String { SecretRefresh.command(refresh, of: key) }

  /// `apps.ios.pay.senders`
  public func addresses(of app: AppSlug) -> String {
    senders.map { "apps.\(app).\(processor).\($0)" } ?? "the addresses that apps.\(app) allows"
  }

  /// Why the secret in a path may be wrong although nothing has to be corrected, as the end of a sentence.
  public func earlierPath(of app: AppSlug) -> String {
    "if apps.\(app).\(processor).\(key) was replaced, payments that were started with the earlier one are "
      + "fetched automatically, but later, and their reversals only with: receiptctl payments fetch ID"
  }
}

// MARK: - SecretRefresh

// How a running receiptd gets the changed value of a secret: the command that all texts name. Pure; called
// from any thread.

/// What makes a new value of a secret take effect.
public enum SecretRefresh: Sendable, Equatable {
  /// A reload reads it again: the secret is in a file, or in the configuration.
  case reload
  /// Only a restart reads it again: a running process keeps its environment and its systemd credentials.
  /// - Parameter source: of the secret, such as `env:NAME`.
  case restart(source: String)

  /// The end of a sentence about a secret to correct.
  /// - Parameters:
  ///   - refresh: nil if the secret's source is unknown.
  ///   - name: the secret's key.
  public static func command(_ refresh: SecretRefresh?, of name: String) -> String {
    switch refresh {
    case .reload: "then run: receiptctl reload"
    case .restart(let source):
      "then run: systemctl restart receiptd (\(name) is \(source), which a reload does not read again)"
    case nil:
      "then run: receiptctl reload (or systemctl restart receiptd, if \(name) is in the environment or a "
        + "systemd credential, which a reload does not read again)"
    }
  }
}
