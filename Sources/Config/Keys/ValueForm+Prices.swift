// Objects with one item for each name of a price. As ConfigurationReader: one thread, every fault.

internal import Domain
internal import Formats

extension ValueForm {
  /// - Parameters:
  ///   - words: the items, in the plural.
  ///   - schema: the JSON Schema of an item.
  ///   - read: an item at a path, by the name of its price; nil after a fault.
  static func byPrice<Item>(
    _ words: String, schema: JSONValue,
    read: @escaping @Sendable (JSONValue, _ name: String, _ path: String, ConfigurationReader) -> Item?,
    show: @escaping @Sendable (_ name: String, Item) -> JSONValue
  ) -> ValueForm where Value == [PriceID: Item] {
    let range = ConfigurationLimits.prices
    let nameBytesMax = UntrustedText.identifierBytesMax
    return ValueForm(
      shape: ValueShape(
        "an object of up to \(range.upperBound) \(words), by price",
        [
          "type": "object", "minProperties": .integer(Int64(range.lowerBound)),
          "maxProperties": .integer(Int64(range.upperBound)),
          "propertyNames": .text(bytesMax: nameBytesMax), "additionalProperties": schema,
        ]),
      read: { value, path, context in
        let reader = ObjectReader(value, path: path, collector: context.collector)
        if reader.isObject, !range.contains(reader.names.count) {
          context.collector.fault(
            path,
            "must have from \(range.lowerBound) to \(range.upperBound) prices, but has \(reader.names.count)")
        }
        var items: [PriceID: Item] = [:]
        for name in reader.names {
          let path = reader.path(of: name)
          if UntrustedText.identifier(name) == nil {
            context.collector.fault(
              path, "needs a name of 1 to \(nameBytesMax) bytes without control characters")
          } else if let item = reader.value(name) {
            items[PriceID(name)] = read(item, name, path, context)
          }
        }
        return items
      },
      show: { items in
        .object(
          items.sorted { $0.key < $1.key }.map {
            JSONValue.Member(name: $0.key.text, value: show($0.key.text, $0.value))
          })
      })
  }
}
