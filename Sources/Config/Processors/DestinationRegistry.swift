// The destinations that receipts can be sent to. A new one adds its `DestinationKind` and its name to
// `DestinationRegistry.standard`. Pure; any thread.

package import Domain

/// The destinations that a configuration may name.
package struct DestinationRegistry: Sendable, Equatable {
  package let kinds: [DestinationKind]

  /// The destinations of this program. Add a new destination here.
  package static let standard = DestinationRegistry(kinds: [.purchasely, .webhook])

  package init(kinds: [DestinationKind]) { self.kinds = kinds }

  package subscript(name: DestinationName) -> DestinationKind? { kinds.first { $0.name == name } }

  package static func == (left: Self, right: Self) -> Bool {
    left.kinds.map(\.name) == right.kinds.map(\.name)
  }
}
