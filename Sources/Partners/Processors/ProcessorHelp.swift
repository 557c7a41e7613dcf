// What operators read about a processor. Pure; any thread.

/// The names and places that messages to operators contain. Other code makes the sentences.
public struct ProcessorHelp: Sendable, Equatable {
  /// The key of its section with the secret that authenticates its webhooks.
  public var webhookSecretKey: String
  /// Where the processor shows that secret: `the endpoint's signing secret in Stripe's dashboard`.
  public var webhookSecretOrigin: String
  /// The key of its section with the key for its API.
  public var apiKeyKey: String
  /// The other keys of its section that its API judges with that key.
  public var apiSettings: [String]
  /// What the key must be allowed to do, as a sentence without its full stop.
  public var apiKeyRights: String
  /// How far back it lists events: `30 days`; nil if it lists none.
  public var eventsKept: String?
  /// The path that its ids of payments begin with, and its portal leaves out; nil if they are no paths.
  public var idFolder: String?

  public init(
    webhookSecretKey: String, webhookSecretOrigin: String, apiKeyKey: String = "api_key",
    apiSettings: [String] = ["api_base"], apiKeyRights: String, eventsKept: String? = nil,
    idFolder: String? = nil
  ) {
    self.webhookSecretKey = webhookSecretKey
    self.webhookSecretOrigin = webhookSecretOrigin
    self.apiKeyKey = apiKeyKey
    self.apiSettings = apiSettings
    self.apiKeyRights = apiKeyRights
    self.eventsKept = eventsKept
    self.idFolder = idFolder
  }
}
