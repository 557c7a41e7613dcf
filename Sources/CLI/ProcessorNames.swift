// The payment processors of this program in help texts. Pure.

internal import Config
internal import Domain
internal import Partners
internal import Terminal

/// What help texts say of the registered processors.
enum ProcessorNames {
  private static let kinds = ProcessorRegistry.standard.kinds
  private static let listers = kinds.filter { $0.eventsKept != nil }

  static let all = kinds.map(\.name.text)
  /// Those of purchases: also the app stores, which clients report.
  static let ofPurchases = all + StorePlatform.allCases.map(\.processor.text)
  /// `--processor` of a list without other filters.
  static let option = OptionSpec(
    "processor", placeholder: "PROCESSOR", help: "Only those of this payment processor", choices: all)

  /// Those that list their events.
  static let ofListers = listers.map(\.label).joined(separator: " or ")
  /// `Stripe's list of events, which covers the last 30 days`
  static let eventLists = listers.map { kind in
    "\(kind.label)'s list of events, which covers the last \(kind.eventsKept ?? "")"
  }.joined(separator: " and ")
  /// `stripe.api_key`
  static let listerKeys = listers.map(\.apiKeyPath).joined(separator: " or ")
  /// `Stripe keeps them for 30 days`
  static let keeping = listers.map { "\($0.label) keeps them for \($0.eventsKept ?? "")" }
    .joined(separator: ", ")
}
