// Which sales of a Stripe account an app has, in the configuration. As ConfigurationReader: one thread, every
// fault.

internal import Domain
internal import Formats
internal import Partners

extension StripeSelection {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "prices", \.prices, .set(of: .stripeID(["price_", "plan_"], of: "price"), count: range, "prices"),
        example: ["price_1MoBy5LkdIwHu7ix"], "Stripe's ids of prices."),
      .key(
        "products", \.products, .set(of: .stripeID(["prod_"], of: "product"), count: range, "products"),
        example: ["prod_NWjs8kKbJWmuuc"], "Stripe's ids of products."),
      .key(
        "payment_links", \.paymentLinks,
        .set(of: .stripeID(["plink_"], of: "Payment Link"), count: range, "Payment Links"),
        example: ["plink_1MoC3ULkdIwHu7ix"],
        "Stripe's ids of Payment Links: plink_…, not the URL that customers open."),
      .key(
        "metadata", \.metadata, .metadata, example: ["app": "ios"],
        "Metadata that a checkout session or its subscription must have, all of these pairs."),
    ])

  private static let range = 0...10_000
}

extension ValueForm<String> {
  /// One of Stripe's ids.
  /// - Parameters:
  ///   - prefixes: one of which it begins with.
  ///   - kind: of the object, in the singular.
  static func stripeID(_ prefixes: [String], of kind: String) -> ValueForm {
    let first = prefixes.first ?? ""
    let choice = prefixes.map { String($0.dropLast()) }.joined(separator: "|")
    return ValueForm(
      "the id of a \(kind) at Stripe", mustBe: "Stripe's id of a \(kind), \(first)…", isText: true,
      schema: .pattern("^(\(choice))_[!-~]{1,249}$"), show: JSONValue.string,
      convert: { value in
        guard let id = UntrustedText.identifier(value.stringValue),
          prefixes.contains(where: { id.hasPrefix($0) && id.utf8.count > $0.utf8.count }),
          id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return id
      })
  }
}

extension ValueForm {
  /// An object of texts by name.
  /// - Parameters:
  ///   - words: what it is.
  ///   - nameBytesMax: of a name.
  ///   - names: a regular expression that every name matches, for the schema.
  ///   - check: the fault of a name; nil if it is right.
  fileprivate static func texts<Text: Sendable>(
    _ words: String, nameBytesMax: Int, names: JSONValue, of text: ValueForm<Text>,
    check: @escaping @Sendable (String) -> String?
  ) -> ValueForm where Value == [String: Text] {
    let countMax = 1000
    return ValueForm(
      shape: ValueShape(
        words,
        [
          "type": "object", "maxProperties": .integer(Int64(countMax)), "propertyNames": names,
          "additionalProperties": text.shape.schema,
        ]),
      read: { value, path, context in
        let reader = ObjectReader(value, path: path, collector: context.collector)
        if reader.names.count > countMax {
          context.collector.fault(path, "must have up to \(countMax) entries, but has \(reader.names.count)")
        }
        var texts: [String: Text] = [:]
        for name in reader.names {
          let path = reader.path(of: name)
          if name.isEmpty || name.utf8.count > nameBytesMax {
            context.collector.fault(path, "needs a name of 1 to \(nameBytesMax) bytes")
          } else if let fault = check(name) {
            context.collector.fault(path, fault)
          } else if let value = reader.value(name) {
            texts[name] = text.read(value, path, context)
          }
        }
        return texts
      },
      show: { texts in
        .object(
          texts.sorted { $0.key < $1.key }.map { JSONValue.Member(name: $0.key, value: text.show($0.value)) })
      })
  }
}

extension ValueForm<[String: String]> {
  /// Stripe's limits: 40 characters in a key, 500 in a value (https://docs.stripe.com/api/metadata).
  fileprivate static var metadata: ValueForm {
    .texts(
      "an object of metadata", nameBytesMax: 40, names: .text(bytesMax: 40),
      of: .text("a text", bytesMax: 500)
    ) { _ in nil }
  }
}

extension ValueForm<[String: PriceID]> {
  /// Prices by product or lookup key.
  static var priceMap: ValueForm {
    let price = ValueForm<String>.stripeID(["price_", "plan_"], of: "price")
    let prefixes = ["prod_", "lookup:"]
    return .texts(
      "an object of prices, by product or lookup key", nameBytesMax: UntrustedText.identifierBytesMax,
      names: .pattern("^(prod_|lookup:)."),
      of: ValueForm<PriceID>(
        shape: price.shape, read: { price.read($0, $1, $2).map(PriceID.init) },
        show: { .string($0.text) })
    ) { name in
      prefixes.contains { name.hasPrefix($0) && name.utf8.count > $0.utf8.count }
        ? nil : "must begin with prod_ (a product) or lookup: (a lookup key)"
    }
  }
}
