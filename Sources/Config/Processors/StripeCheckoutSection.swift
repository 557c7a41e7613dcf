// Checkout Sessions in the configuration. As ConfigurationReader: one thread, every fault.

package import Domain
package import Formats
package import Partners
internal import Platform

/// `apps.NAME.stripe.checkout`: what the relay sells in Checkout Sessions.
package struct StripeCheckoutSection: Sendable, Equatable {
  /// By the price that a context names; at least one.
  package var items: [PriceID: StripeCheckoutSettings.Item]
  /// Where customers reach the return page; nil for `links.origin`.
  package var returnOrigin: WebOrigin?
  package var timeout = StripeCheckoutSettings.timeoutDefault
  /// Nil for none.
  package var trialDays: Int?
  package var allowsPromotionCodes = false
  /// Nil for Stripe's default.
  package var origin: StripeCheckoutSettings.Origin?
  package var parameters = StripeCheckoutParameters()

  /// Nil for an app without links, which is a fault.
  func settings(in app: AppConfiguration) -> StripeCheckoutSettings? {
    guard let origin = returnOrigin ?? app.links?.origin else { return nil }
    var settings = StripeCheckoutSettings(
      items: items, returnURL: "\(origin.text)/v1/\(app.slug)/return", timeout: timeout)
    settings.trialDays = trialDays
    settings.allowsPromotionCodes = allowsPromotionCodes
    settings.origin = self.origin
    settings.parameters = parameters
    return settings
  }
}

extension StripeCheckoutSection {
  static let section = ConfigurationSection(
    Self(items: [:]),
    [
      .required(
        "prices", \.items, .checkoutItems,
        example: ["price_123": "subscription", "gold": ["price": "price_456", "mode": "payment"]],
        advice: "write how each price is paid: { \"price_…\": \"subscription\" } or \"payment\"",
        "How each price that a context may name is paid: \"subscription\" if it recurs, otherwise "
          + "\"payment\". A name of your own needs an object with Stripe's price."),
      .optional(
        "return_origin", \.returnOrigin, .origin, example: "https://back.pay.example.com",
        "The origin of the return page to which customers come back. For iOS it must be another name of the "
          + "relay than links.origin, which is the default."),
      .key(
        "timeout", \.timeout, .duration(in: .milliseconds(1)...(.minutes(1))),
        "Timeout of Stripe's answer, for which a customer waits."),
      .optional(
        "trial_days", \.trialDays, .integer(in: 1...730), example: 7,
        "Days without payment at the start of each subscription."),
      .key("promotion_codes", \.allowsPromotionCodes, .flag, "Whether customers may enter promotion codes."),
      .optional(
        "origin_context", \.origin, .choice, example: "mobile_app",
        "Where customers come from, for which Stripe optimizes its page."),
      .key(
        "parameters", \.parameters, .checkoutParameters,
        example: ["locale": "auto", "subscription_data": ["description": "Pro"]],
        "Further parameters of each session, by Stripe's names "
          + "(docs.stripe.com/api/checkout/sessions/create). The relay's own cannot be set: reference, "
          + "metadata, mode, line items, customer and URLs. Those that only the other mode has are left out."
      ).then { checkout, reader, _ in checkout.reportTwins(reader) },
    ])

  /// Reports parameters that a key of the section sets, too.
  private func reportTwins(_ reader: ObjectReader) {
    let set = parameters.object
    let twins = [
      ("trial_days", "subscription_data.trial_period_days", set["subscription_data"]?["trial_period_days"]),
      ("promotion_codes", "allow_promotion_codes", set["allow_promotion_codes"]),
      ("origin_context", "origin_context", set["origin_context"]),
    ]
    for (key, parameter, value) in twins where value != nil && reader.has(key) {
      reader.collector.fault(
        reader.path(of: key), "is also set by parameters.\(parameter); take one of them out")
    }
  }
}

extension ValueForm<[PriceID: StripeCheckoutSettings.Item]> {
  fileprivate typealias Mode = StripeCheckoutSettings.Mode

  fileprivate static var checkoutItems: ValueForm {
    let mode = ValueForm<Mode>.choice.shape.schema
    return .byPrice(
      "items",
      schema: [
        "oneOf": [
          mode,
          [
            "type": "object", "properties": ["price": .pattern(Self.pricePattern), "mode": mode],
            "required": ["price", "mode"], "additionalProperties": false,
          ],
        ]
      ], read: item
    ) { name, item in
      let mode = JSONValue.string(item.mode.rawValue)
      return item.price == name ? mode : ["price": .string(item.price), "mode": mode]
    }
  }

  /// https://docs.stripe.com/api/prices, https://docs.stripe.com/api/plans
  private static var pricePattern: String { "^(price|plan)_[!-~]{1,249}$" }

  private static func isPrice(_ text: String) -> Bool {
    ["price_", "plan_"].contains { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }
      && text.utf8.count <= UntrustedText.identifierBytesMax
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// Nil after a fault.
  private static func item(
    _ value: JSONValue, name: String, path: String, _ context: ConfigurationReader
  ) -> StripeCheckoutSettings.Item? {
    var price = name
    var mode = value
    var modePath = path
    if case .object = value {
      let own = ObjectReader(value, path: path, collector: context.collector)
      own.reportUnknownKeys(known: ["price", "mode"])
      guard let given = own.required("price", "write Stripe's id of the price: \"price_…\""),
        let given = context.text(
          given, path: own.path(of: "price"), mustBe: "Stripe's id of a price, price_…"),
        let how = own.required("mode", "write \"subscription\" or \"payment\"")
      else { return nil }
      (price, mode, modePath) = (given, how, own.path(of: "mode"))
    }
    guard isPrice(price) else {
      if price == name, modePath == path {
        context.collector.fault(
          path,
          "is a name of your own; say which price of Stripe's it is: "
            + "{ price: \"price_…\", mode: \"payment\" }")
      } else {
        context.collector.fault("\(path).price", "must be Stripe's id of a price, price_…")
      }
      return nil
    }
    return ValueForm<Mode>.choice.read(mode, modePath, context).map { .init(price: price, mode: $0) }
  }
}

extension ValueForm<StripeCheckoutParameters> {
  fileprivate static var checkoutParameters: ValueForm {
    ValueForm(
      shape: ValueShape(
        "an object of parameters",
        [
          "type": "object",
          "propertyNames": [
            "enum": .array(StripeCheckoutParameters.known.sorted().map(JSONValue.string))
          ],
        ]),
      read: { value, path, context in
        do throws(StripeCheckoutParameters.Fault) {
          return try StripeCheckoutParameters(value)
        } catch {
          context.collector.fault(error.path(in: path), error.words(for: value))
          return nil
        }
      }, show: \.object)
  }
}

extension StripeCheckoutParameters.Fault {
  fileprivate func path(in section: String) -> String {
    switch self {
    case .notAnObject: section
    case .unknown(let name), .value(let name): JSON5Reader.path(section, name)
    case .own(let path): "\(section).\(path)"
    }
  }

  fileprivate func words(for value: JSONValue) -> String {
    switch self {
    case .notAnObject: return "must be an object of parameters, { … }, but is \(value.kind)"
    case .own:
      return "is set by the relay, which finds the user or names the customer by it, or leads customers "
        + "back; take it out"
    case .value: return "must be a text, a whole number, true, false, a list or an object of these"
    case .unknown(let name):
      let near = EditDistance.nearest(to: name, among: StripeCheckoutParameters.known.sorted())
      return "is no parameter of a Checkout Session that Stripe's libraries know"
        + (near.map { "; did you mean \"\($0)\"?" } ?? "")
    }
  }
}
