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
  package var deliverTo: DeliverTo = "webhook"
  /// Nil if the file does not say it: without prices the app names the amounts, and a warning says so.
  package var amounts: AmountSource?

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
      .optional(
        "prices", \.pricesIfAny, .swedbankPrices,
        example: ["gold": ["amount": 5999, "vat": 1200, "currency": "SEK"]],
        "What customers may pay, by the reference of an order's line: the amount with VAT and the VAT within "
          + "it, in the currency's smallest unit. Any other order is refused."),
      .optional(
        "amounts", \.amounts, .choice, example: "server",
        "Who names the amount of an order: the configuration, by prices (server); or the app (client), and "
          + "then your backend must compare the amount with what it delivers."
      ).then { section, reader, _ in section.reportAmounts(reader) },
      .key("api_base", \.settings.apiBase, .base, "Scheme, host and port of Swedbank Pay's API."),
      .optional(
        "public_origin", \.publicOrigin, .origin, example: "https://pay.example.com",
        "The relay's public address, at which Swedbank Pay sends callbacks. Without it, links.origin."),
      .key(
        callbackFromKey, \.callbackFrom,
        .list(of: .network, count: KeyRanges.proxies, "addresses"),
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
        "problem_types", \.settings.problemTypes, .problemTypes,
        "What the types of problems begin with that are the relay's own and not of Swedbank Pay's SDKs, such "
          + "as busy."),
      .key(
        "timeout", \.settings.timeout, .duration(in: KeyRanges.deliveryTimeout),
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

extension SwedbankSection {
  /// The prices as the file has them: an absent key and not an empty object.
  fileprivate var pricesIfAny: [PriceID: SwedbankPrice]? {
    get { settings.prices.isEmpty ? nil : settings.prices }
    set { settings.prices = newValue ?? [:] }
  }

  private func reportAmounts(_ reader: ObjectReader) {
    guard reader.isObject else { return }
    switch (reader.has("prices"), amounts) {
    case (true, .client):
      reader.collector.fault(
        reader.path(of: "amounts"), "contradicts prices, which fixes the amounts; take one of them out")
    case (false, .server):
      reader.collector.fault(
        reader.path(of: "prices"),
        "is missing; write what customers may pay: "
          + "{ \"gold\": { amount: 5999, vat: 1200, currency: \"SEK\" } }"
      )
    case (false, nil) where !reader.has("amounts"):
      reader.collector.warning(
        reader.path,
        "lets an altered app name its own price; write what customers may pay in prices, or, if your backend "
          + "compares each purchase's amount with what it delivers, amounts: \"client\"")
    default: break
    }
  }
}

extension ValueForm<String> {
  /// A URI to which the name of a problem is appended (RFC 9457 §3.1.1).
  fileprivate static var problemTypes: ValueForm {
    ValueForm(
      "a URI that ends in / or : or #",
      mustBe: "a URI of yours that begins with https:// or urn: and ends in / or : or #, such as "
        + "https://pay.example.com/problems/", isText: true,
      schema: .pattern("^(https://[!-~]+/|urn:)[!-~]*[/:#]$"), show: JSONValue.string,
      convert: { value in
        guard let text = value.stringValue, text.utf8.count <= UntrustedText.identifierBytesMax,
          text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }),
          let last = text.utf8.last, "/:#".utf8.contains(last),
          text.hasPrefix("urn:") && text.utf8.count > 5
            || text.hasPrefix("https://") && text.utf8.count > 9
        else { return nil }
        return text
      })
  }
}

extension ValueForm<[PriceID: SwedbankPrice]> {
  /// The largest integer that every reader of JSON holds exactly (RFC 8259 §6).
  private static var amountMax: Int64 { 9_007_199_254_740_991 }

  fileprivate static var swedbankPrices: ValueForm {
    .byPrice(
      "prices",
      schema: [
        "type": "object",
        "properties": [
          "amount": ["type": "integer", "minimum": 1, "maximum": .integer(amountMax)],
          "vat": ["type": "integer", "minimum": 0, "maximum": .integer(amountMax)],
          "currency": .pattern("^[A-Z]{3}$"),
        ],
        "required": ["amount", "vat", "currency"], "additionalProperties": false,
      ], read: { value, _, path, context in price(value, path, context) }
    ) { _, price in
      [
        "amount": .integer(price.amount.minorUnits), "vat": .integer(price.vat),
        "currency": .string(price.amount.currency.code),
      ]
    }
  }

  /// Nil after a fault.
  private static func price(
    _ value: JSONValue, _ path: String, _ context: ConfigurationReader
  ) -> SwedbankPrice? {
    let own = ObjectReader(value, path: path, collector: context.collector)
    own.reportUnknownKeys(known: ["amount", "vat", "currency"])
    func integer(_ key: String, in range: ClosedRange<Int64>, _ advice: String) -> Int64? {
      guard let value = own.required(key, advice) else { return nil }
      if case .integer(let number) = value, range.contains(number) { return number }
      context.collector.fault(
        own.path(of: key),
        "must be an integer from \(range.lowerBound), in the currency's smallest unit, but is "
          + value.kind)
      return nil
    }
    let amount = integer("amount", in: 1...amountMax, "write the amount with VAT, such as 5999 for 59.99")
    let vat = integer("vat", in: 0...amountMax, "write the VAT within the amount, such as 1200, or 0")
    guard let text = own.required("currency", "write its code, such as \"SEK\"") else { return nil }
    guard let currency = text.stringValue.flatMap(Currency.init) else {
      context.collector.fault(own.path(of: "currency"), "must be a currency's code, such as \"SEK\"")
      return nil
    }
    guard let amount, let vat else { return nil }
    guard vat < amount else {
      context.collector.fault(own.path(of: "vat"), "must be less than the amount, which includes it")
      return nil
    }
    return SwedbankPrice(amount: Money(minorUnits: amount, currency), vat: vat)
  }
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
