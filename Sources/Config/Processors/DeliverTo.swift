// `deliver_to`: where the receipts for a processor's purchases go. Keys are read as by ConfigurationReader:
// one thread, every fault.

package import Domain
internal import Formats

/// One destination, or two: then each of them gets a receipt for each purchase.
package struct DeliverTo: Sendable, Equatable, ExpressibleByStringLiteral {
  package var first: DestinationName
  /// The other one; nil for none.
  package var second: DestinationName?

  package init(_ first: DestinationName, _ second: DestinationName? = nil) {
    self.first = first
    self.second = second
  }

  package init(stringLiteral text: String) { self.init(DestinationName(text)) }

  /// Both of them, or the only one.
  package var names: [DestinationName] { [first] + [second].compactMap(\.self) }
}

extension ValueForm<DeliverTo> {
  /// The name of a destination that accepts a processor's purchases, or a list of two.
  static func destination(of processor: ProcessorName, label: String) -> ValueForm {
    let name = ValueForm<DestinationName>.destination(of: processor, label: label)
    let names = ValueForm<[DestinationName]>.set(of: name, count: 1...2, "destinations")
    @Sendable func mayHaveTwo(_ registry: DestinationRegistry) -> Bool {
      registry.kinds.count { $0.accepts(processor) } > 1
    }
    return ValueForm(
      shape: mayHaveTwo(.standard)
        ? ValueShape(
          "\(name.shape.words ?? ""), or a list of both", ["oneOf": [name.shape.schema, names.shape.schema]])
        : name.shape,
      read: { value, path, context in
        guard case .array = value, mayHaveTwo(context.destinations) else {
          return name.read(value, path, context).map { DeliverTo($0) }
        }
        guard let list = names.read(value, path, context), let first = list.first else { return nil }
        return DeliverTo(first, list.dropFirst().first)
      },
      show: { value in value.second == nil ? name.show(value.first) : names.show(value.names) })
  }
}
