// What the configuration says about one app. Pure; any thread.

public import Domain

/// One app: its own clients, its Stripe account and its Purchasely application. Durations are milliseconds.
public struct AppConfiguration: Sendable, Equatable {
  /// `[a-z0-9][a-z0-9-]{0,62}`; stands in every URL and every row.
  public var slug: String
  /// Who may post contexts.
  public var client: ClientAccess
  public var stripe: Stripe
  public var purchasely: Purchasely
  public var join: JoinPolicy
  public var delivery: DeliveryPolicy
  /// Nil: the relay leads nobody anywhere.
  public var links: Links?

  public init(
    slug: String, client: ClientAccess, stripe: Stripe, purchasely: Purchasely,
    join: JoinPolicy = JoinPolicy(),
    delivery: DeliveryPolicy = DeliveryPolicy(), links: Links? = nil
  ) {
    self.slug = slug
    self.client = client
    self.stripe = stripe
    self.purchasely = purchasely
    self.join = join
    self.delivery = delivery
    self.links = links
  }

  /// Whether a text may be an app's slug.
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
  /// Which webhooks are Stripe's, and what of them counts.
  public struct Stripe: Sendable, Equatable {
    /// Which kind of event makes receipts; the other kind is kept.
    public enum Livemode: String, Sendable, CaseIterable {
      case any, live, test
    }

    /// Whether events of connected accounts count.
    public enum Connect: Sendable, Equatable {
      case none
      case any
      /// Those of these accounts (`acct_…`); at least one.
      case accounts([String])
    }

    /// At least one; several while one is being rotated.
    public var webhookSecrets: [Secret]
    /// How far the signature's time may be from now, either way.
    public var toleranceMilliseconds: Int64
    public var livemode: Livemode
    /// For looking up what an event leaves out; nothing is looked up without it.
    public var apiKey: Secret?
    /// Without a slash at its end.
    public var apiBase: String
    /// Whether events that did not arrive while receiptd was down are fetched at its start.
    public enum Backfill: String, Sendable, CaseIterable {
      case off, auto
    }

    public var backfill: Backfill
    /// After how long a time in which it was down.
    public var backfillAfterMilliseconds: Int64
    /// Metadata keys that may carry the user, in order.
    public var userKeys: [String]
    public var connect: Connect

    /// The defaults: 5 min, any mode, no look-ups, no backfill, `ply_user_id` then `user_id`, no connected
    /// accounts.
    public init(
      webhookSecrets: [Secret], toleranceMilliseconds: Int64 = 300_000, livemode: Livemode = .any,
      apiKey: Secret? = nil, apiBase: String = "https://api.stripe.com",
      backfill: Backfill = .off, backfillAfterMilliseconds: Int64 = 600_000,
      userKeys: [String] = ["ply_user_id", "user_id"], connect: Connect = .none
    ) {
      self.webhookSecrets = webhookSecrets
      self.toleranceMilliseconds = toleranceMilliseconds
      self.livemode = livemode
      self.apiKey = apiKey
      self.apiBase = apiBase
      self.backfill = backfill
      self.backfillAfterMilliseconds = backfillAfterMilliseconds
      self.userKeys = userKeys
      self.connect = connect
    }
  }

  /// Where receipts go.
  public struct Purchasely: Sendable, Equatable {
    /// https, or http to this machine.
    public var url: String
    public var apiKey: Secret
    /// The client shared secret, which signs requests to forget a user; nothing is asked for without it.
    public var clientSecret: Secret?

    /// Purchasely's own endpoint.
    public static let defaultURL = "https://s2s.purchasely.io/receipts"

    public init(url: String = defaultURL, apiKey: Secret, clientSecret: Secret? = nil) {
      self.url = url
      self.apiKey = apiKey
      self.clientSecret = clientSecret
    }
  }
}
