// Reads Stripe's section of the configuration. As ConfigurationReader: one thread, every fault.

internal import JSON
internal import Processors

extension ConfigurationReader {
  func stripe(_ reader: ObjectReader) -> StripeSection? {
    defer { reader.reportUnknownKeys() }
    let webhookSecrets = secretList(
      reader, "webhook_secrets", count: ConfigurationLimits.webhookSecrets,
      advice: "write the signing secret of the endpoint in Stripe's dashboard: [\"env:NAME\"]")
    var stripe = StripeSection(webhookSecrets: webhookSecrets ?? [])
    stripe.settings.tolerance = reader.duration(
      "tolerance", default: stripe.settings.tolerance, in: ConfigurationLimits.tolerance)
    stripe.settings.livemode = reader.choice("livemode", default: stripe.settings.livemode)
    stripe.apiKey = secrets.secret(reader.value("api_key"), path: reader.path(of: "api_key"))
    stripe.settings.apiBase = endpoint(reader, "api_base", default: stripe.settings.apiBase)
    while stripe.settings.apiBase.hasSuffix("/") { stripe.settings.apiBase.removeLast() }
    stripe.backfill = reader.choice("backfill", default: stripe.backfill)
    stripe.backfillAfter = reader.duration(
      "backfill_after", default: stripe.backfillAfter, in: ConfigurationLimits.backfillAfter)
    if stripe.backfill == .auto, reader.value("api_key") == nil {
      collector.fault(
        reader.path(of: "backfill"), "needs stripe.api_key, a restricted key that may read: \"env:NAME\"")
    }
    stripe.settings.userKeys = userKeys(reader, default: stripe.settings.userKeys)
    stripe.settings.accounts = connect(reader)
    stripe.deliverTo = deliverTo(reader, of: .stripe, default: stripe.deliverTo)
    for secret in stripe.secrets where secret.key.hasPrefix("webhook_secrets[") {
      judge(secret.secret, path: "\(reader.path).\(secret.key)")
    }
    return webhookSecrets == nil ? nil : stripe
  }

  private func userKeys(_ reader: ObjectReader, default fallback: [String]) -> [String] {
    let path = reader.path(of: "user_keys")
    let range = ConfigurationLimits.userKeys
    guard let entries = reader.list(reader.value("user_keys"), path: path, count: range, of: "metadata keys")
    else {
      return fallback
    }
    var keys: [String] = []
    for (value, path) in entries {
      let expected = "the name of a metadata key"
      guard let key = reader.text(value, path: path, mustBe: expected) else { continue }
      if key.utf8.count > ConfigurationLimits.userKeyBytesMax {
        collector.fault(path, "is longer than a metadata key can be (\(ConfigurationLimits.userKeyBytesMax))")
      } else if keys.contains(key) {
        collector.fault(path, "is in the list already; take it out")
      }
      keys.append(key)
    }
    return keys
  }

  private func connect(_ reader: ObjectReader) -> StripeSettings.Accounts {
    let path = reader.path(of: "connect")
    switch reader.value("connect") {
    case nil, .string("none"): return .own
    case .string("any"): return .any
    case .array(let elements):
      let range = ConfigurationLimits.connectedAccounts
      let entries = reader.list(.array(elements), path: path, count: range, of: "accounts")
      return .ownAnd(
        (entries ?? []).compactMap { value, path in
          guard case .string(let account) = value, account.hasPrefix("acct_"), account.utf8.count > 5,
            account.utf8.count <= 255, account.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
          else {
            collector.fault(path, "must be the id of a Stripe account, acct_…")
            return nil
          }
          return account
        })
    default:
      collector.fault(path, "must be \"none\", \"any\" or a list of accounts, [\"acct_…\"]")
      return .own
    }
  }

  /// Stripe's signing secrets begin with `whsec_`, its API keys with `sk_`, `rk_` and `pk_`
  /// (docs.stripe.com/keys, docs.stripe.com/webhooks).
  private func judge(_ secret: Secret, path: String) {
    // An unreadable secret was already reported, where it matters.
    guard let value = try? secret.reveal() else { return }
    if value.hasPrefix("whsec_") { return }
    let advice = "write the signing secret (whsec_…) of the endpoint in Stripe's dashboard"
    if ["sk_", "rk_", "pk_"].contains(where: value.hasPrefix) {
      collector.fault(path, "is an API key, with which no webhook is signed; \(advice)")
    } else {
      collector.warning(path, "does not begin with whsec_, so no webhook of Stripe will match it; \(advice)")
    }
  }
}
