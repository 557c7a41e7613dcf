// The paths of the simulated Swedbank Pay. Pure.

/// The operations of the API, as faults name them.
public enum SandboxSwedbankOperation: String, Sendable, CaseIterable {
  /// POST /psp/consumers
  case consumers
  /// POST /psp/paymentorders
  case create
  /// GET of an order, or of its payment
  case get
  /// PATCH of an order: an instrument, other amounts, an abort
  case patch
  /// POST of a capture, of a cancellation and of a reversal
  case capture, cancel, reverse
  /// GET and PATCH of a payer's tokens
  case tokens
}

/// A path of the API.
enum SandboxSwedbankRoute: Equatable {
  case consumers
  case orders
  case order(uuid: String)
  case paid(uuid: String)
  case transactions(uuid: String, SandboxSwedbankAction)
  case payerTokens(payer: String)
  case token(String)

  private static let lists: [String: SandboxSwedbankAction] = [
    "captures": .capture, "cancellations": .cancel, "reversals": .reverse,
  ]

  init?(_ segments: [String]) {
    let rest = Array(segments.dropFirst(2))
    switch (Array(segments.prefix(2)), rest.count) {
    case (["psp", "consumers"], 0): self = .consumers
    case (["psp", "paymentorders"], 0): self = .orders
    case (["psp", "paymentorders"], 1): self = .order(uuid: rest[0])
    case (["psp", "paymentorders"], 2) where rest[0] == "payerownedpaymenttokens":
      self = .payerTokens(payer: rest[1])
    case (["psp", "paymentorders"], 2) where rest[1] == "paid": self = .paid(uuid: rest[0])
    case (["psp", "paymentorders"], 2):
      guard let action = Self.lists[rest[1]] else { return nil }
      self = .transactions(uuid: rest[0], action)
    case (["psp", "creditcard"], 3) where rest[..<2] == ["payments", "instrumentdata"]:
      self = .token(rest[2])
    default: return nil
    }
  }

  /// The operation of a method; nil if the path does not have it.
  func operation(_ method: String) -> SandboxSwedbankOperation? {
    switch (self, method) {
    case (.consumers, "POST"): .consumers
    case (.orders, "POST"): .create
    case (.order, "GET"), (.paid, "GET"): .get
    case (.order, "PATCH"): .patch
    case (.transactions(_, .capture), "POST"): .capture
    case (.transactions(_, .reverse), "POST"): .reverse
    case (.transactions, "POST"): .cancel
    case (.payerTokens, "GET"), (.payerTokens, "PATCH"), (.token, "PATCH"): .tokens
    default: nil
    }
  }

  /// For `Allow`.
  var methods: String {
    ["GET", "POST", "PATCH"].filter { operation($0) != nil }.joined(separator: ", ")
  }
}
