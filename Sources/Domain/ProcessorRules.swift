// What the rules of the join and of retention must know of a payment processor. Pure; any thread.

/// One app's payment processor, as the rules see it. The processor itself says what is true of it.
public struct ProcessorRules: Sendable, Equatable {
  /// Whether it can be asked for what a purchase lacks.
  public var isAsked: Bool
  /// How the ids of its own prices begin; empty where nothing tells them from a merchant's names.
  public var pricePrefixes: [String]
  /// For how long it may send the events of a purchase again, in milliseconds.
  public var repeatMilliseconds: Int64

  public init(
    isAsked: Bool = false, pricePrefixes: [String] = [],
    repeatMilliseconds: Int64 = Self.repeatMillisecondsDefault
  ) {
    self.isAsked = isAsked
    self.pricePrefixes = pricePrefixes
    self.repeatMilliseconds = repeatMilliseconds
  }

  /// For a processor of which nothing is known: one that is not configured any more.
  public static let repeatMillisecondsDefault: Int64 = 30 * 86_400_000

  /// Whether a price may be one of the processor's own, and not only the merchant's name for it.
  func mayOwn(_ price: String) -> Bool {
    pricePrefixes.isEmpty || pricePrefixes.contains { price.hasPrefix($0) }
  }
}
