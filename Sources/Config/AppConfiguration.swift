// The configuration of one app. Pure; any thread.

public import Cryptography
public import Domain
public import Formats
public import Partners

/// One app: its own clients, its payment processors and its destinations.
public struct AppConfiguration: Sendable, Equatable {
  /// `[a-z0-9][a-z0-9-]{0,62}`; part of every URL and every row.
  public var slug: AppSlug
  /// The clients that may post contexts.
  public var client: ClientAccess
  /// The origins of the web pages that may use the routes for clients in a browser.
  public var clientOrigins: [WebOrigin] = []
  /// At least one; at most one of each kind.
  package var processors: [ConfiguredProcessor]
  /// Nil if no processor's purchases go there.
  public var purchasely: Purchasely?
  /// The merchant's own backend; nil if there is none.
  public var webhook: Webhook?
  /// The destinations that the processors' sections may name.
  package var destinations = DestinationRegistry.standard
  public var join: JoinPolicy
  public var delivery: DeliveryPolicy
  /// Nil: the relay serves no links and no pages for the app.
  public var links: Links?

  package init(
    slug: AppSlug, client: ClientAccess, processors: [ConfiguredProcessor],
    purchasely: Purchasely? = nil, webhook: Webhook? = nil,
    join: JoinPolicy = JoinPolicy(),
    delivery: DeliveryPolicy = DeliveryPolicy(), links: Links? = nil
  ) {
    self.slug = slug
    self.client = client
    self.processors = processors
    self.purchasely = purchasely
    self.webhook = webhook
    self.join = join
    self.delivery = delivery
    self.links = links
  }

  /// Whether a text is valid as an app's slug.
  public static func isSlug(_ text: String) -> Bool {
    func isLetterOrDigit(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    guard let first = text.utf8.first, isLetterOrDigit(first), text.utf8.count <= 63 else { return false }
    return text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
  }
}

extension AppConfiguration {
  /// `clientOrigins` as browsers write them (RFC 6454 §6.2).
  public var clientOriginTexts: Set<String> { Set(clientOrigins.map(\.text)) }

  /// The merchant's own backend, which gets signed receipts.
  public struct Webhook: Sendable, Equatable {
    /// https, or http to this machine.
    public var url: String
    /// At least one, each `whsec_…`; several while one is being replaced.
    public var secrets: [Secret]

    public init(url: String, secrets: [Secret]) {
      self.url = url
      self.secrets = secrets
    }
  }

  /// Purchasely as the destination of receipts.
  public struct Purchasely: Sendable, Equatable {
    /// https, or http to this machine.
    public var url: String
    public var apiKey: Secret
    /// The client shared secret, which signs requests to forget a user. Without it, no such request is sent.
    public var clientSecret: Secret?

    public init(
      url: String = PurchaselySettings.urlDefault, apiKey: Secret, clientSecret: Secret? = nil
    ) {
      self.url = url
      self.apiKey = apiKey
      self.clientSecret = clientSecret
    }
  }
}

// MARK: - ClientAccess

// The configuration of an app's clients. Pure; any thread.

extension AppConfiguration {
  /// The clients that may post contexts.
  public enum ClientAccess: Sendable, Equatable {
    /// Any client.
    case open
    /// A client with one of these keys, for any user, or with a token, for the user that the token names. At
    /// least one of the two is configured.
    case restricted(keys: [Secret], tokens: Tokens?)

    /// A client with one of these keys; at least one.
    public static func keys(_ keys: [Secret]) -> ClientAccess { .restricted(keys: keys, tokens: nil) }
  }

  /// Which tokens are accepted.
  public struct Tokens: Sendable, Equatable {
    /// Where the issuer's keys come from.
    public enum Keys: Sendable, Equatable {
      /// A JWK Set, a JWK, or PEM.
      case given(Secret)
      /// The URL of a JWK Set; https, or http to this machine.
      case fetched(url: String)
    }

    public var rules: TokenRules
    public var keys: Keys

    public init(rules: TokenRules, keys: Keys) {
      self.rules = rules
      self.keys = keys
    }
  }
}
