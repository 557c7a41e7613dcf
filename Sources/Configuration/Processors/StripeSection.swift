// Stripe in the configuration. As ConfigurationReader: one thread, every fault.

package import Domain
package import JSON
internal import Durations
internal import Platform
package import Processors

/// `apps.NAME.stripe`: the secrets of Stripe's webhooks, and which events count.
package struct StripeSection: ProcessorSection {
  /// Whether events that were missed while receiptd was down are fetched at its start.
  package enum Backfill: String, Sendable, CaseIterable {
    case off, auto
  }

  /// At least one; several during a rotation.
  package var webhookSecrets: [Secret]
  /// For lookups of data that events omit; without it, there are no lookups.
  package var apiKey: Secret?
  /// The settings that are not secret.
  package var settings: StripeSettings
  package var backfill: Backfill
  /// The least downtime that causes a backfill.
  package var backfillAfter: Duration
  package var deliverTo: DestinationName = "purchasely"

  package init(
    webhookSecrets: [Secret], apiKey: Secret? = nil, settings: StripeSettings = StripeSettings(),
    backfill: Backfill = .off, backfillAfter: Duration = .minutes(10)
  ) {
    self.webhookSecrets = webhookSecrets
    self.apiKey = apiKey
    self.settings = settings
    self.backfill = backfill
    self.backfillAfter = backfillAfter
  }

  package static let kind = ProcessorKind.stripe

  package var isAsked: Bool { apiKey != nil }

  package var backfillsAfter: Duration? { backfill == .auto ? backfillAfter : nil }

  package var secrets: [(key: String, secret: Secret)] {
    webhookSecrets.enumerated().map { ("webhook_secrets[\($0.offset)]", $0.element) }
      + [apiKey].compactMap { $0.map { ("api_key", $0) } }
  }

  package func makeProcessor(for use: ProcessorUse) throws -> any PaymentProcessor {
    let webhookSecrets = use == .serving ? try webhookSecrets.map { try $0.reveal() } : []
    return try StripeProcessor(
      settings, webhookSecrets: webhookSecrets, apiKey: use == .reading ? nil : try apiKey?.reveal())
  }

  package var redacted: JSONValue {
    var value: JSONValue = [
      "webhook_secrets": .array(webhookSecrets.map { .string($0.description) }),
      "tolerance": .duration(settings.tolerance),
      "livemode": .string(settings.livemode.rawValue),
    ]
    if let apiKey { value = value.adding("api_key", .string(apiKey.description)) }
    let connect: JSONValue =
      switch settings.accounts {
      case .own: "none"
      case .any: "any"
      case .ownAnd(let accounts): .array(accounts.map(JSONValue.string))
      }
    return value.adding("api_base", .string(RedactedURL.text(settings.apiBase)))
      .adding("backfill", .string(backfill.rawValue)).adding("backfill_after", .duration(backfillAfter))
      .adding("user_keys", .array(settings.userKeys.map(JSONValue.string))).adding("connect", connect)
      .adding("deliver_to", .string(deliverTo.rawValue))
  }
}

extension AppConfiguration {
  /// The app's Stripe section.
  package var stripe: StripeSection? { processor(StripeProcessor.name) as? StripeSection }

  /// Metadata keys of Stripe's objects that may contain the user; nil for an app without Stripe.
  public var stripeUserKeys: [String]? { stripe?.settings.userKeys }

  /// The secret that signs Stripe's webhooks to the app; nil for an app without Stripe.
  public var stripeWebhookSecret: Secret? { stripe?.webhookSecrets.first }

  /// Creates an app that uses Stripe.
  package init(
    slug: String, client: ClientAccess, stripe: StripeSection, purchasely: Purchasely,
    join: JoinPolicy = JoinPolicy(), delivery: DeliveryPolicy = DeliveryPolicy(), links: Links? = nil
  ) {
    self.init(
      slug: slug, client: client, processors: [ConfiguredProcessor(section: stripe)], purchasely: purchasely,
      join: join, delivery: delivery, links: links)
  }
}

extension ProcessorKind {
  static let stripe = ProcessorKind(StripeProcessor.self, label: "Stripe", template: stripeTemplate) {
    $0.stripe($1)
  }

  private static let stripeTemplate = #"""
    stripe: {
      // The signing secret of the webhook endpoint (whsec_…); several while one is being rotated.
      webhook_secrets: ["file:/etc/receiptd/secrets/stripe_webhook_secret"],
      // How old a webhook's signature may be.
      //tolerance: "5m",
      // any, live or test: events of the other kind are kept but make no receipt.
      //livemode: "any",
      // A restricted key that may read events, checkout sessions and subscriptions, to look up what an
      // event leaves out. Without it nothing is looked up.
      // api_key: "file:/etc/receiptd/secrets/stripe_api_key",
      //api_base: "https://api.stripe.com",
      // auto: after receiptd was down for longer than this, what Stripe could not deliver is fetched.
      //backfill: "off",
      //backfill_after: "10m",
      // Metadata keys that may carry your user id, in order.
      //user_keys: ["ply_user_id", "user_id"],
      // Whether events of connected accounts count: "none", "any" or a list, ["acct_…"].
      //connect: "none",
      // Where the receipts of its purchases go.
      //deliver_to: "purchasely",
    },
    """#
}
