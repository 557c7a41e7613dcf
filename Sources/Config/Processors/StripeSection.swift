// Stripe in the configuration. As ConfigurationReader: one thread, every fault.

package import Domain
internal import Formats
package import Partners

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
  /// Nil: the relay opens no Checkout Sessions.
  package var checkout: StripeCheckoutSection?
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

  package var listsEvents: Bool { apiKey != nil }

  package var startsPayments: Bool { checkout != nil }

  package var backfillsAfter: Duration? { backfill == .auto ? backfillAfter : nil }

  package func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    let checkout = checkout?.settings(in: app)
    let webhookSecrets = use == .serving ? try webhookSecrets.map { try $0.reveal() } : []
    return try StripeProcessor(
      settings, webhookSecrets: webhookSecrets, apiKey: use == .reading ? nil : try apiKey?.reveal(),
      checkout: checkout)
  }

  package func faults(in app: AppConfiguration) -> [(key: String, message: String)] {
    guard checkout != nil else { return [] }
    var faults: [(key: String, message: String)] = []
    if apiKey == nil {
      faults.append(
        ("checkout", "needs stripe.api_key, a restricted key that may write checkout sessions: \"env:NAME\""))
    }
    if app.links == nil {
      faults.append(
        (
          "checkout",
          "needs links.origin of the app: customers come back to the relay's return page; write links: { "
            + "origin: \"https://pay.example.com\" }"
        ))
    }
    return faults
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
    slug: AppSlug, client: ClientAccess, stripe: StripeSection, purchasely: Purchasely?,
    webhook: Webhook? = nil,
    join: JoinPolicy = JoinPolicy(), delivery: DeliveryPolicy = DeliveryPolicy(), links: Links? = nil
  ) {
    self.init(
      slug: slug, client: client, processors: [ConfiguredProcessor(section: stripe)], purchasely: purchasely,
      webhook: webhook,
      join: join, delivery: delivery, links: links)
  }
}
