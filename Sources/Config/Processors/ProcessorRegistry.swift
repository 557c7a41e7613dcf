// The payment processors of this program. A new one adds its section, its `ProcessorKind`, and its name to
// `ProcessorRegistry.standard`. Pure; any thread.

package import Domain

/// The payment processors that a configuration may name.
package struct ProcessorRegistry: Sendable, Equatable {
  /// The first is suggested to an app that configures none.
  package let kinds: [ProcessorKind]

  /// The processors of this program. Add a new processor here.
  package static let standard = ProcessorRegistry(kinds: [.stripe, .swedbank, .afterpay])

  /// The paths that ids of payments begin with, for `FindQuery`.
  package var idFolders: [String] { kinds.compactMap(\.idFolder) }

  /// What a body of a processor's webhook names, for a search; nothing if the processor is unknown.
  package func mentions(_ processor: ProcessorName, in body: [UInt8]) -> Mentions {
    kinds.first { $0.name == processor }?.mentions(body) ?? Mentions()
  }

  /// Whether the body of such an event can say what a customer bought.
  package func canSummarize(_ processor: ProcessorName, type: String) -> Bool {
    kinds.first { $0.name == processor }?.summaryTypes.contains(type) ?? false
  }

  /// What such a body says about what a customer bought.
  package func summary(_ processor: ProcessorName, in body: [UInt8]) -> PurchaseSummary? {
    kinds.first { $0.name == processor }?.summary(body)
  }

  /// The processor that may repeat its events for the longest time.
  var longestRepeating: ProcessorKind? {
    kinds.max { $0.rules(false).repeatPeriod < $1.rules(false).repeatPeriod }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.kinds.map(\.name) == right.kinds.map(\.name)
  }
}
