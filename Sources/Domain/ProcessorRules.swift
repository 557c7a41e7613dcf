// What the join and retention need to know of a payment processor. Pure; any thread.

/// The properties of one app's payment processor. The processor's implementation supplies them.
public struct ProcessorRules: Sendable, Equatable {
  /// Whether the processor can be asked for missing data.
  public var isAsked: Bool
  /// The prefixes of the processor's own price ids; empty if they cannot be distinguished from a merchant's
  /// names.
  public var pricePrefixes: [String]
  /// How long the processor may send the events of a purchase again, in milliseconds.
  public var repeatMilliseconds: Int64

  public init(
    isAsked: Bool = false, pricePrefixes: [String] = [],
    repeatMilliseconds: Int64 = Self.repeatMillisecondsDefault
  ) {
    self.isAsked = isAsked
    self.pricePrefixes = pricePrefixes
    self.repeatMilliseconds = repeatMilliseconds
  }

  /// For a processor that is not configured any more.
  public static let repeatMillisecondsDefault: Int64 = 30 * 86_400_000

  /// Whether a price may be one of the processor's own, not just the merchant's name for it.
  func mayOwn(_ price: String) -> Bool {
    pricePrefixes.isEmpty || pricePrefixes.contains { price.hasPrefix($0) }
  }
}
