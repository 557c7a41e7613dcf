// Swedbank Pay in the configuration. As ConfigurationReader: one thread, every fault.

package import Domain
package import Formats
package import Partners
package import Platform

/// `apps.NAME.swedbank`: the merchant's access to Swedbank Pay, and what its SDKs may do.
package struct SwedbankSection: ProcessorSection {
  /// Who captures payments that are only authorised.
  package enum Capture: String, Sendable, CaseIterable {
    case merchant, auto
  }

  package var merchantToken: Secret
  /// The settings that are not secret. Their public origin is added when it is known.
  package var settings: SwedbankSettings
  /// Nil for `links.origin`.
  package var publicOrigin: WebOrigin?
  package var callbackFrom = SwedbankSettings.callbackSenders.compactMap(AddressPrefix.init)
  package var deliverTo: DestinationName = "webhook"

  package init(merchantToken: Secret, payeeID: String, publicOrigin: WebOrigin? = nil) {
    self.merchantToken = merchantToken
    self.publicOrigin = publicOrigin
    settings = SwedbankSettings(payeeID: payeeID, publicOrigin: "")
  }

  package static let kind = ProcessorKind.swedbank
  static let callbackFromKey = "callback_from"
  package static let sendersKey: String? = callbackFromKey

  package var capture: Capture {
    get { settings.capturesItself ? .auto : .merchant }
    set { settings.capturesItself = newValue == .auto }
  }

  package var isAsked: Bool { true }

  package var backfillsAfter: Duration? { nil }

  /// The secret at the end of the callbacks' address follows from the token.
  package var webhookSecrets: [Secret] { [merchantToken] }

  package var rules: ProcessorRules { settings.rules }

  package func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    var settings = settings
    settings.publicOrigin = (publicOrigin ?? app.links?.origin)?.text ?? ""
    let networks = callbackFrom
    return try SwedbankProcessor(
      settings, app: app.slug,
      merchantToken: use == .reading ? nil : try merchantToken.reveal(),
      isSender: { text in
        guard let address = IPAddress(text) else { return false }
        return networks.contains { $0.contains(address) }
      })
  }

  package func faults(in app: AppConfiguration) -> [(key: String, message: String)] {
    guard publicOrigin == nil, app.links == nil else { return [] }
    return [
      (
        "public_origin",
        "is missing; write the relay's public address, such as \"https://pay.example.com\", at which "
          + "Swedbank Pay reaches it, or set links.origin"
      )
    ]
  }
}

// MARK: - Keys

extension ProcessorKind {
  static let swedbank = ProcessorKind(
    SwedbankProcessor.self, label: "Swedbank Pay", section: SwedbankSection.section,
    "Swedbank Pay: the relay is the merchant backend of its SDKs.")
}

extension SwedbankSection {
  static let section = ConfigurationSection(
    Self(merchantToken: Secret(""), payeeID: ""),
    [
      .required(
        "merchant_token", \.merchantToken, .secret,
        example: "file:/etc/receiptd/secrets/swedbank_merchant_token",
        advice: "write the access token of Swedbank Pay's admin portal as \"env:NAME\" or \"file:/path\"",
        "The access token of the merchant. The address of callbacks ends in a secret that follows from it, "
          + "so callbacks of orders that were started with another token are refused; those are fetched."),
      .required(
        "payee_id", \.settings.payeeID, .text("the merchant's id at Swedbank Pay"),
        example: "5cabf558-5283-482f-b252-4d58e06f6f3b",
        advice: "write the payeeId of Swedbank Pay's admin portal",
        "The merchant's id. It replaces what an app sends."),
      .optional(
        "payee_name", \.settings.payeeName, .text("a name"), example: "Example Shop",
        "The name that the payer sees. Without it, the one that an app sends."),
      .key("api_base", \.settings.apiBase, .base, "Scheme, host and port of Swedbank Pay's API."),
      .optional(
        "public_origin", \.publicOrigin, .origin, example: "https://pay.example.com",
        "The relay's public address, at which Swedbank Pay sends callbacks. Without it, links.origin."),
      .key(
        callbackFromKey, \.callbackFrom,
        .list(of: .network, count: ConfigurationLimits.proxies, "addresses"),
        "The addresses from which callbacks may come: those that Swedbank Pay documents. Behind a proxy, "
          + "listen.proxies must name it."),
      .section(
        "allow", \.settings.allow, SwedbankSettings.Allowed.section,
        "What apps may do with their users' orders."),
      .key(
        "capture", \.capture, .choice,
        "Who captures a payment that is only authorised: the merchant, or the relay (auto): once, in full, "
          + "as soon as it is paid."),
      .key(
        "timeout", \.settings.timeout, .duration(in: ConfigurationLimits.deliveryTimeout),
        "Timeout of Swedbank Pay's answers."),
      .key(
        "settle_after", \.settings.settleAfter, .duration(in: .seconds(1)...(.days(7))),
        "Time after its start at which an order without a callback is fetched; then less and less often, "
          + "for 7 days."),
      .key(
        "deliver_to", \.deliverTo, .destination(of: SwedbankProcessor.name, label: "Swedbank Pay"),
        "The destination of the receipts for its purchases."),
    ])
}

extension SwedbankSettings.Allowed {
  static let section = ConfigurationSection(
    Self(),
    [
      .key("patch", \.patch, .flag, "Whether apps may change the instrument of an order, and abort it."),
      .key(
        "expand", \.expand, .flag, "Whether apps may read parts of an order; the values of tokens are masked."
      ),
      .key("expand_tokens", \.expandTokens, .flag, "Whether the values of tokens are shown."),
      .key("tokens", \.tokens, .flag, "Whether apps may read which tokens an order made."),
      .key(
        "payer_tokens", \.payerTokens, .flag,
        "Whether apps may read and delete the payment tokens of their user."),
      .key(
        "use_payment_token", \.usePaymentToken, .flag, "Whether an order may be paid with a payment token."),
    ])
}
