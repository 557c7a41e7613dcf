// The keys of Stripe's section. As ConfigurationReader: one thread, every fault.

internal import Formats
internal import Partners

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
        "webhook_secrets", \.webhookSecrets, .secrets(count: ConfigurationLimits.webhookSecrets),
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
        "tolerance",
        \.settings.tolerance,
        .duration(in: ConfigurationLimits.tolerance),
        "How old the signature of a webhook may be."),
      .key(
        "livemode", \.settings.livemode, .choice,
        "The mode whose events make receipts. Events of the other mode are only stored."),
      .optional(
        "api_key", \.apiKey, .secret, example: "file:/etc/receiptd/secrets/stripe_api_key",
        "A restricted key that may read events, checkout sessions and subscriptions, to look up what an "
          + "event leaves out; with checkout, it must also be allowed to write checkout sessions. Without "
          + "it, nothing is looked up."),
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
        "backfill_after",
        \.backfillAfter,
        .duration(in: ConfigurationLimits.backfillAfter),
        "The least downtime after which events are fetched."),
      .key(
        "user_keys", \.settings.userKeys,
        .set(of: .metadataKey, count: ConfigurationLimits.userKeys, "metadata keys"),
        "The metadata keys that may contain the user id, in order."),
      .key(
        "connect", \.settings.accounts, .accounts,
        "Whether events of connected accounts count: none, any, or those of a list."),
      .key(
        "deliver_to", \.deliverTo, .destination(of: StripeProcessor.name, label: "Stripe"),
        "The destination of the receipts for its purchases."),
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

extension ValueForm<String> {
  fileprivate static var metadataKey: ValueForm {
    let most = ConfigurationLimits.userKeyBytesMax
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
      of: .account, count: ConfigurationLimits.connectedAccounts, "accounts")
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
