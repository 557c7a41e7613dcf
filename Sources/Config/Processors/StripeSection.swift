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
  /// What a reference that is no context's id may be.
  package var reference: ReferencePolicy
  package var backfill: Backfill
  /// The least downtime that causes a backfill.
  package var backfillAfter: Duration
  package var deliverTo: DeliverTo = "purchasely"

  package init(
    webhookSecrets: [Secret], apiKey: Secret? = nil, settings: StripeSettings = StripeSettings(),
    reference: ReferencePolicy = .knownUser, backfill: Backfill = .off,
    backfillAfter: Duration = .minutes(10)
  ) {
    self.webhookSecrets = webhookSecrets
    self.apiKey = apiKey
    self.settings = settings
    self.reference = reference
    self.backfill = backfill
    self.backfillAfter = backfillAfter
  }

  package static let kind = ProcessorKind.stripe

  package var isAsked: Bool { apiKey != nil }

  package var listsEvents: Bool { apiKey != nil }

  package var startsPayments: Bool { checkout != nil }

  package var rules: ProcessorRules {
    var rules = kind.rules(isAsked)
    rules.reference = reference
    rules.selects = settings.sells != nil
    return rules
  }

  package var backfillsAfter: Duration? { backfill == .auto ? backfillAfter : nil }

  package func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    let checkout = checkout?.settings(in: app)
    var settings = settings
    settings.userIDs = app.userIDs
    settings.fetches = apiKey != nil
    let webhookSecrets = use == .serving ? try webhookSecrets.map { try $0.reveal() } : []
    return try StripeProcessor(
      settings, webhookSecrets: webhookSecrets, apiKey: use == .reading ? nil : try apiKey?.reveal(),
      checkout: checkout)
  }

  package func faults(in app: AppConfiguration) -> [(key: String, message: String)] {
    guard let checkout else { return [] }
    var faults: [(key: String, message: String)] = []
    // A session of the relay has no Payment Link, and gets the metadata of `sells`.
    if let sells = settings.sells, sells.products.isEmpty, sells.metadata.isEmpty,
      let other = checkout.items.values.map(\.price).sorted().first(where: { !sells.prices.contains($0) })
    {
      faults.append(
        (
          "checkout",
          "sells \(other), which nothing in stripe.sells matches, so its sales would count as foreign; add "
            + "it to sells.prices"
        ))
    }
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

  /// The path of the section that says which sales are the app's, for messages.
  public var salesSection: String { "apps.\(slug).\(StripeProcessor.name)" }

  /// The mode whose events the app leaves out, `live` or `test`; nil if it takes both.
  public var modeLeftOut: String? {
    switch stripe?.settings.livemode {
    case .live: "test"
    case .test: "live"
    case .any, nil: nil
    }
  }

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

// MARK: - Keys

extension ProcessorKind {
  static let stripe = ProcessorKind(
    StripeProcessor.self, label: "Stripe", section: StripeSection.section, "Stripe as the payment processor.")
}

extension StripeSection {
  static let section = ConfigurationSection(
    Self(webhookSecrets: []),
    rules: [
      "if": [
        "anyOf": [
          ["properties": ["backfill": ["enum": ["auto"]]], "required": ["backfill"]],
          ["required": ["checkout"]],
        ]
      ],
      "then": ["required": ["api_key"]],
    ],
    [
      .required(
        "webhook_secrets", \.webhookSecrets, .secrets(count: KeyRanges.webhookSecrets),
        example: ["file:/etc/receiptd/secrets/stripe_webhook_secret"],
        advice: "write the signing secret of the endpoint in Stripe's dashboard: [\"env:NAME\"]",
        "The signing secret of the webhook endpoint (whsec_…); several while one is being rotated."
      ).then { stripe, reader, _ in
        let path = reader.path(of: "webhook_secrets")
        for (index, secret) in stripe.webhookSecrets.enumerated() {
          judge(secret, at: "\(path)[\(index)]", reader.collector)
        }
      },
      .key(
        "tolerance", \.settings.tolerance, .duration(in: .seconds(1)...(.days(1))),
        "Maximum age of a webhook's signature."),
      .key(
        "livemode", \.settings.livemode, .choice,
        "The mode whose events make receipts. Events of the other mode are only stored."),
      .optional(
        "api_key", \.apiKey, .secret, example: "file:/etc/receiptd/secrets/stripe_api_key",
        "A restricted key that may read events, checkout sessions, subscriptions, customers and webhook "
          + "endpoints, to look up what an event leaves out, and for receiptctl doctor; with checkout, it "
          + "must also be allowed to write checkout sessions. "
          + "Without it, nothing is looked up."),
      .key(
        "api_base", \.settings.apiBase, .endpoint(carriesSecret: true), "The base URL of Stripe's API."
      ).then { stripe, _, _ in
        while stripe.settings.apiBase.hasSuffix("/") { stripe.settings.apiBase.removeLast() }
      },
      .key(
        "backfill", \.backfill, .choice,
        "Whether events that Stripe could not deliver are fetched at the start, after receiptd was down for "
          + "longer than backfill_after (auto)."
      ).then { stripe, reader, _ in
        guard stripe.backfill == .auto, !reader.has("api_key") else { return }
        reader.collector.fault(
          reader.path(of: "backfill"), "needs stripe.api_key, a restricted key that may read: \"env:NAME\"")
      },
      .key(
        "backfill_after", \.backfillAfter, .duration(in: .milliseconds(1)...(.days(365))),
        "Minimum downtime after which events are fetched."),
      .key(
        "user_keys", \.settings.userKeys,
        .set(of: .metadataKey, count: 1...20, "metadata keys"),
        "The metadata keys that may contain the user id, in order."),
      .key(
        "connect", \.settings.accounts, .accounts,
        "Whether events of connected accounts count: none, any, or those of a list."),
      .key(
        "reference", \.reference, .choice,
        "What a client_reference_id that is no context's id may be: a user if this user has posted a context "
          + "to the app or has a receipt in it (known_user), always a user (user), or never (context)."),
      .optional(
        "account", \.settings.account, .account, example: "acct_1MtqG2LkdIwHu7ix",
        "The id of your own account, for an endpoint of an organisation: its events name each account. "
          + "Events of other accounts count as connect says."),
      .optional(
        "sells", \.settings.sells, .section(StripeSelection.section),
        "Which of the account's sales belong to the app: those that any of the entries matches. Without it, "
          + "all of them do. Other sales make no receipt."
      ).then { stripe, reader, _ in
        guard case .object? = reader.value("sells"), stripe.settings.sells?.isEmpty == true else { return }
        reader.collector.fault(
          reader.path(of: "sells"),
          "has no entry, so no sale would be the app's; write { prices: [\"price_…\"] }, or leave it out if "
            + "all sales are")
      },
      .section(
        "except", \.settings.except, StripeSelection.section,
        "Which sales do not belong to the app even if sells matches them. Purchasely's own checkouts, with "
          + "the metadata ply_provider: \"purchasely\", never do."),
      .key(
        "price_map", \.settings.priceMap, .priceMap,
        example: ["prod_Pro": "price_ProMonthly", "lookup:pro_yearly": "price_ProYearly"],
        "The price to report for a product (prod_…) or a lookup key (lookup:KEY), for checkouts with inline "
          + "prices. It does not replace a price of sells.prices."),
      .key(
        "deliver_to", \.deliverTo, .destination(of: StripeProcessor.name, label: "Stripe"),
        "The destination of the receipts for its purchases. With both, each gets a receipt for each purchase."
      ),
      .optional(
        "checkout", \.checkout, .section(StripeCheckoutSection.section),
        "The prices for which POST /v1/NAME/checkout opens a Checkout Session at Stripe, for each context "
          + "its own. It needs api_key and links."),
    ])

  /// Stripe's signing secrets begin with `whsec_`, its API keys with `sk_`, `rk_` and `pk_`
  /// (docs.stripe.com/keys, docs.stripe.com/webhooks).
  private static func judge(_ secret: Secret, at path: String, _ collector: FaultCollector) {
    // An unreadable secret was already reported, where it matters.
    guard let value = try? secret.reveal(), !value.hasPrefix("whsec_") else { return }
    let advice = "write the signing secret (whsec_…) of the endpoint in Stripe's dashboard"
    if ["sk_", "rk_", "pk_"].contains(where: value.hasPrefix) {
      collector.fault(path, "is an API key, with which no webhook is signed; \(advice)")
    } else {
      collector.warning(
        path, "does not begin with whsec_, so no webhook of Stripe will match it; \(advice)")
    }
  }
}

extension Configuration {
  /// Warns of apps that count each other's sales as theirs, because they have one account at Stripe.
  func reportSharedStripeAccounts(_ collector: FaultCollector) {
    for app in apps {
      guard let own = app.stripe, own.settings.sells == nil,
        let other = apps.first(where: { $0.slug != app.slug && $0.stripe?.hasAccount(of: own) == true })
      else { continue }
      collector.warning(
        "\(JSON5Reader.path("apps", app.slug.text)).stripe.sells",
        "is missing, and the app \(other.slug) has the same account at Stripe, whose events name the sales "
          + "of both; write what \(app.slug) sells, or its users may get what \(other.slug) sold")
    }
  }
}

extension StripeSection {
  /// Whether both name the same account, or have the same key for its API.
  fileprivate func hasAccount(of other: StripeSection) -> Bool {
    if let account = settings.account, account == other.settings.account { return true }
    return apiKey != nil && apiKey == other.apiKey
  }
}

extension ValueForm<String> {
  fileprivate static var metadataKey: ValueForm {
    // Stripe's own limit (docs.stripe.com/api/metadata).
    let most = 40
    var form = text("the name of a metadata key").described { $0.schema = .text(bytesMax: most) }
    form.read = { [read = form.read] value, path, context in
      let key = read(value, path, context)
      if let key, key.utf8.count > most {
        context.collector.fault(path, "is longer than a metadata key can be (\(most))")
      }
      return key
    }
    return form
  }

  fileprivate static var account: ValueForm {
    ValueForm(
      shape: ValueShape("the id of a Stripe account", .pattern("^acct_[!-~]{1,250}$")),
      read: { value, path, context in
        guard case .string(let account) = value, account.hasPrefix("acct_"), account.utf8.count > 5,
          account.utf8.count <= 255, account.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
          context.collector.fault(path, "must be the id of a Stripe account, acct_…")
          return nil
        }
        return account
      }, show: JSONValue.string)
  }
}

extension ValueForm<StripeSettings.Accounts> {
  fileprivate static var accounts: ValueForm {
    let list = ValueForm<[String]>.list(
      of: .account, count: 1...1000, "accounts")
    return ValueForm(
      shape: ValueShape(
        "\"none\", \"any\" or \(list.shape.words ?? "")",
        ["oneOf": [["type": "string", "enum": ["none", "any"]], list.shape.schema]]),
      read: { value, path, context in
        switch value {
        case .string("none"): return .own
        case .string("any"): return .any
        case .array: return list.read(value, path, context).map(StripeSettings.Accounts.ownAnd)
        default:
          context.collector.fault(path, "must be \"none\", \"any\" or a list of accounts, [\"acct_…\"]")
          return nil
        }
      },
      show: { accounts in
        switch accounts {
        case .own: "none"
        case .any: "any"
        case .ownAnd(let accounts): list.show(accounts)
        }
      })
  }
}
