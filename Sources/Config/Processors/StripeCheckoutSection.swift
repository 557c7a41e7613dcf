// Checkout Sessions in the configuration. As ConfigurationReader: one thread, every fault.

package import Domain
package import Formats
package import Partners

/// `apps.NAME.stripe.checkout`: what the relay sells in Checkout Sessions.
package struct StripeCheckoutSection: Sendable, Equatable {
  /// By the price that a context names; at least one.
  package var items: [PriceID: StripeCheckoutSettings.Item]
  /// Where customers reach the return page; nil for `links.origin`.
  package var returnOrigin: WebOrigin?
  package var timeout: Duration

  package init(
    items: [PriceID: StripeCheckoutSettings.Item], returnOrigin: WebOrigin? = nil,
    timeout: Duration = StripeCheckoutSettings.timeoutDefault
  ) {
    self.items = items
    self.returnOrigin = returnOrigin
    self.timeout = timeout
  }

  /// Nil for an app without links, which is a fault.
  func settings(in app: AppConfiguration) -> StripeCheckoutSettings? {
    guard let origin = returnOrigin ?? app.links?.origin else { return nil }
    return StripeCheckoutSettings(
      items: items, returnURL: "\(origin.text)/v1/\(app.slug)/return", timeout: timeout)
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
    ])
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
