// What operators read about a processor. Pure; any thread.

/// The names and places that messages to operators contain. Other code makes the sentences.
public struct ProcessorHelp: Sendable, Equatable {
  /// The key of its section with the secret that authenticates its webhooks.
  public var webhookSecretKey: String
  /// Where the processor shows that secret: `the endpoint's signing secret in Stripe's dashboard`.
  public var webhookSecretOrigin: String
  /// The key of its section with the key for its API.
  public var apiKeyKey: String
  /// How far back it lists events: `30 days`; nil if it lists none.
  public var eventsKept: String?

  public init(
    webhookSecretKey: String, webhookSecretOrigin: String, apiKeyKey: String = "api_key",
    eventsKept: String? = nil
  ) {
    self.webhookSecretKey = webhookSecretKey
    self.webhookSecretOrigin = webhookSecretOrigin
    self.apiKeyKey = apiKeyKey
    self.eventsKept = eventsKept
  }
}
