// Every secret of a configuration with its key. A reload compares them, and knows which it cannot read again.
// Pure; any thread.

public import Domain
public import Reports

extension Secret {
  /// Whether a running process keeps the value that it started with: its environment never changes, and
  /// systemd copies credentials once, before the start (systemd.exec(5), LoadCredential=).
  public var isFixedUntilRestart: Bool {
    switch source {
    case .environment: true
    case .file(let path): path.hasPrefix("/run/") && path.contains("/credentials/")
    case .inPlace: false
    }
  }
}

extension Secret {
  /// How a new value takes effect.
  public var refresh: SecretRefresh { isFixedUntilRestart ? .restart(source: description) : .reload }
}

extension AppConfiguration {
  /// What to do when the webhooks of each processor are refused. A corrected secret takes effect with a
  /// restart if any of the processor's webhook secrets needs one.
  public var webhookAdvice: [ProcessorName: WebhookAdvice] {
    let all = processors.map { processor in
      let secrets = processor.section.webhookSecrets
      let refresh = secrets.map(\.refresh).first { $0 != .reload } ?? .reload
      return (processor.name, processor.section.kind.webhookAdvice(refresh))
    }
    return Dictionary(uniqueKeysWithValues: all)
  }

  /// What to do when the API of each processor refuses the app's credentials.
  public var processorAdvice: [ProcessorName: ProcessorAdvice] {
    Dictionary(
      uniqueKeysWithValues: processors.map { processor in
        (processor.name, processor.section.kind.advice(for: self))
      })
  }
}

extension Configuration {
  /// What to do when a processor's API refuses the credentials; nil if the app or the processor is not
  /// configured.
  public func processorAdvice(of place: AppProcessor) -> ProcessorAdvice? {
    app(place.app)?.processorAdvice[place.processor]
  }

  /// What to do when a processor's webhooks are refused; nil if the app or the processor is not configured.
  public func webhookAdvice(of place: AppProcessor) -> WebhookAdvice? {
    app(place.app)?.webhookAdvice[place.processor]
  }

  /// A secret and its key, such as `apps.ios.client.keys[0]`.
  public struct SecretEntry: Sendable {
    public var path: String
    public var secret: Secret
  }

  /// Every secret, in the order of the manual page.
  public var secrets: [SecretEntry] { Self.section(registry).secrets(self, "") }
}
