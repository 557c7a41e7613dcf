// Afterpay and Cash App Pay in the configuration. As ConfigurationReader: one thread, every fault.

package import Domain
internal import Formats
package import Partners

/// `apps.NAME.afterpay`: the merchant's access to Afterpay, and what customers may pay.
package struct AfterpaySection: ProcessorSection {
  package var secret: Secret
  /// The settings that are not secret. Their product is added when it is known.
  package var settings: AfterpaySettings
  package var deliverTo: DeliverTo = "webhook"

  package static let kind = ProcessorKind.afterpay

  package var isAsked: Bool { true }

  package var backfillsAfter: Duration? { nil }

  /// Afterpay sends no webhooks.
  package var webhookSecrets: [Secret] { [] }

  package var rules: ProcessorRules {
    var rules = kind.rules(isAsked)
    rules.ownPrices = Set(settings.prices.keys)
    return rules
  }

  package var amounts: AmountSource {
    get { settings.amountsAreClients ? .client : .server }
    set { settings.amountsAreClients = newValue == .client }
  }

  package func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    var settings = settings
    settings.product = userAgent
    return AfterpayProcessor(settings, secret: use == .reading ? nil : try secret.reveal())
  }
}

// MARK: - Keys

extension ProcessorKind {
  static let afterpay = ProcessorKind(
    AfterpayProcessor.self, label: "Afterpay", section: AfterpaySection.section,
    "Afterpay and Cash App Pay: the relay is the merchant's server, and captures each payment once.")
}

extension AfterpaySection {
  /// The values of required keys are placeholders.
  private static let initial = Self(
    secret: Secret(""),
    settings: AfterpaySettings(
      merchantID: "", region: .unitedStates, currency: .usDollar, confirmURL: "", cancelURL: ""))

  static let section = ConfigurationSection(
    initial,
    rules: [
      "anyOf": [
        ["required": ["prices"]],
        ["properties": ["amounts": ["enum": ["client"]]], "required": ["amounts"]],
      ]
    ],
    [
      .key("api_base", \.settings.apiBase, .base, "Scheme, host and port of Afterpay's API."),
      .required(
        "merchant_id", \.settings.merchantID, .merchantID, example: "100200300",
        advice: "write the merchant id that Afterpay issued", "The merchant's id at Afterpay."),
      .required(
        "secret", \.secret, .secret, example: "file:/etc/receiptd/secrets/afterpay_secret",
        advice: "write the secret key that Afterpay issued with the merchant id, as \"env:NAME\" or "
          + "\"file:/path\"",
        "The secret key that Afterpay issued with the merchant id."),
      .required(
        "region", \.settings.region, .region, example: "US",
        advice: "write the country of the merchant's account, such as \"US\"",
        "The country of the merchant's account, or a language of it and the country (\"fr-CA\")."),
      .required(
        "currency", \.settings.currency, .afterpayCurrency, example: "USD",
        advice: "write the currency of the merchant's account, such as \"USD\"",
        "The currency of every payment: that of the merchant's account. Cash App Pay needs region \"US\" and "
          + "currency \"USD\"."
      ).then { section, reader, _ in section.reportOtherCurrency(reader) },
      .required(
        "confirm_url", \.settings.confirmURL, .returnURL, example: "https://shop.example.com/paid",
        advice:
          "write where Afterpay sends customers who have confirmed: \"https://…\" or \"exampleapp://…\"",
        "Where Afterpay's page sends customers who have confirmed the payment."),
      .required(
        "cancel_url", \.settings.cancelURL, .returnURL, example: "https://shop.example.com/cancelled",
        advice:
          "write where Afterpay sends customers who have cancelled: \"https://…\" or \"exampleapp://…\"",
        "Where Afterpay's page sends customers who have cancelled."),
      .prices,
      .key(
        "amounts", \.amounts, .choice,
        "Who names the amount of a payment: the configuration, by price (server); or the app (client), and "
          + "then your backend must compare the amount with what it delivers."
      ).then { section, reader, _ in section.reportMissingPrices(reader) },
      .key(
        "capture_within", \.settings.captureWithin,
        .duration(in: .seconds(1)...AfterpaySettings.captureWithinMax),
        "Time after the start of a payment in which an app may order its capture. Afterpay accepts no "
          + "capture after 180m."),
      .key(
        "timeout", \.settings.timeout, .duration(in: KeyRanges.deliveryTimeout),
        "Timeout of Afterpay's answers."),
      .key(
        "capture_timeout", \.settings.captureTimeout, .duration(in: KeyRanges.deliveryTimeout),
        "Timeout of the answer to a capture, and the time that an app waits for its outcome. The relay "
          + "finds out the outcome even after that."),
      .key(
        "deliver_to", \.deliverTo, .destination(of: AfterpayProcessor.name, label: "Afterpay"),
        "The destination of the receipts for its purchases."),
    ])

  private func reportOtherCurrency(_ reader: ObjectReader) {
    // A missing or faulty key was already reported.
    guard let region = reader.value("region")?.stringValue.flatMap(AfterpayRegion.init),
      let currency = reader.value("currency")?.stringValue.flatMap(AfterpaySection.currency),
      currency.code != region.currencyCode
    else { return }
    reader.collector.fault(
      reader.path(of: "currency"),
      "is not Afterpay's currency in \(region.country); write \"\(region.currencyCode)\", or correct region")
  }

  private func reportMissingPrices(_ reader: ObjectReader) {
    guard reader.isObject, !reader.has("prices"), amounts == .server else { return }
    reader.collector.fault(
      reader.path(of: "prices"),
      "is missing; write what customers may pay: { \"gold-yearly\": \"59.99\" }; or let the app name any "
        + "amount with amounts: \"client\"")
  }

  /// A currency in which Afterpay works.
  fileprivate static func currency(_ code: String) -> Currency? {
    AfterpayRegion.currencyCodes.contains(code) ? Currency(code) : nil
  }
}

extension ConfigurationKey<AfterpaySection> {
  /// The amounts by price, in the currency that was read before.
  fileprivate static let prices = ConfigurationKey(
    "prices",
    describe: { _ in
      KeyDescription(
        name: "prices",
        text: "What customers may pay: for each name that an app may send, the amount in the currency. "
          + "Required unless amounts is \"client\".",
        need: .alternative(isPreferred: true), example: ["gold-yearly": "59.99"],
        shape: ValueForm.prices(in: .usDollar).shape)
    },
    read: { section, reader, context in
      guard let value = reader.value("prices") else { return true }
      let form = ValueForm.prices(in: section.settings.currency)
      section.settings.prices = form.read(value, reader.path(of: "prices"), context) ?? [:]
      return true
    },
    show: { section in
      let settings = section.settings
      return settings.prices.isEmpty
        ? nil : ValueForm.prices(in: settings.currency).show(settings.prices)
    }, secrets: { _, _ in [] })
}

extension ValueForm<[PriceID: Money]> {
  fileprivate static func prices(in currency: Currency) -> ValueForm {
    .byPrice("amounts", schema: .pattern("^(0|[1-9][0-9]*)\\.[0-9][0-9]$")) { value, _, path, context in
      if let amount = value.stringValue.flatMap({ Money($0, currency) }), amount.minorUnits > 0 {
        return amount
      }
      context.collector.fault(
        path,
        "must be an amount greater than zero, a text with two decimals such as \"59.99\", but is "
          + value.otherKind)
      return nil
    } show: { _, amount in
      .string(amount.text)
    }
  }
}

extension ValueForm<AfterpayRegion> {
  fileprivate static var region: ValueForm {
    let countries = AfterpayRegion.countries
    return ValueForm(
      "a country: \(countries.joined(separator: ", "))",
      mustBe: "a country in which Afterpay works (\(countries.joined(separator: ", "))), or one of its "
        + "languages there and the country, such as \"fr-CA\"",
      isText: true,
      schema: .pattern("^([a-z][a-z]-)?(UK|\(countries.joined(separator: "|")))$"),
      show: { .string($0.text) }, convert: { $0.stringValue.flatMap(AfterpayRegion.init) })
  }
}

extension ValueForm<Currency> {
  fileprivate static var afterpayCurrency: ValueForm {
    let codes = AfterpayRegion.currencyCodes
    return ValueForm(
      "a currency: \(codes.joined(separator: ", "))",
      mustBe: "a currency in which Afterpay works (\(codes.joined(separator: ", ")))", isText: true,
      schema: ["type": "string", "enum": .array(codes.map(JSONValue.string))],
      show: { .string($0.code) }, convert: { $0.stringValue.flatMap(AfterpaySection.currency) })
  }
}

extension ValueForm<String> {
  /// Basic credentials are separated by a colon (RFC 7617 §2).
  fileprivate static var merchantID: ValueForm {
    ValueForm(
      "the merchant's id at Afterpay",
      mustBe: "the merchant id that Afterpay issued: letters and digits, as a text", isText: true,
      schema: .pattern("^[!-9;-~]{1,255}$"), show: JSONValue.string,
      convert: { value in
        guard let id = UntrustedText.identifier(value.stringValue),
          id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") })
        else { return nil }
        return id
      })
  }

  /// Where customers return: a page, or an app that owns the scheme.
  fileprivate static var returnURL: ValueForm {
    ValueForm(
      shape: ValueShape(
        "an https URL, or a URL with the app's own scheme", .pattern("^[A-Za-z][A-Za-z0-9+.-]*://[!-~]")),
      read: { value, path, context in
        let expected = "a URL, such as https://shop.example.com/paid or exampleapp://paid"
        guard let url = context.text(value, path: path, mustBe: expected) else { return nil }
        guard let fault = AfterpaySection.fault(inReturnURL: url) else { return url }
        context.collector.fault(path, fault)
        return nil
      }, show: { .string(RedactedURL.text($0)) })
  }
}

extension AfterpaySection {
  /// The fault and its fix; nil if customers can return by the URL.
  fileprivate static func fault(inReturnURL url: String) -> String? {
    guard let separator = url.firstRange(of: "://") else {
      return "must be a whole URL, such as https://shop.example.com/paid or exampleapp://paid"
    }
    let scheme = String(url[..<separator.lowerBound])
    if ["https", "http"].contains(scheme.lowercased()) {
      return EndpointURL.fault(in: url, carriesSecret: false)
    }
    do throws(NameFault) {
      _ = try CustomScheme(scheme)
    } catch {
      return "has a text before :// that \(error.description)"
    }
    let rest = url[separator.upperBound...]
    let isUsual = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}".utf8.contains($0) }
    guard !rest.isEmpty, isUsual else {
      return "is empty after :// or has a character that a URL cannot have; write it percent-encoded"
    }
    return rest.contains("#") ? "has a fragment (#…); take it out" : nil
  }
}
