// Why a purchase without a context, or with a guessed one, did not get a context that may be meant for it.
// Pure; any thread.

internal import Formats

/// A context that a purchase did not get.
public struct NearMiss: Sendable, Equatable {
  public enum Cause: Sendable, Equatable {
    /// The user posted it before the window began.
    case early(by: Duration)
    /// The user posted it after the receipt's content was fixed.
    case late(by: Duration)
    /// Another purchase of the user has it. Nil if that has no receipt.
    case claimed(by: ReceiptID?)
    /// It names another price.
    case otherPrice(PriceID)
    /// Another user posted it at about the same time, and no purchase claimed it. Whether the two ids differ
    /// only in case and in characters that are no letters or digits.
    case otherUser(isSimilar: Bool)
    /// It could have been chosen.
    case possible
  }

  public var contextID: ContextID
  /// The user who posted it.
  public var userID: UserID
  public var postedAt: Timestamp
  public var cause: Cause

  public init(contextID: ContextID, userID: UserID, postedAt: Timestamp, cause: Cause) {
    self.contextID = contextID
    self.userID = userID
    self.postedAt = postedAt
    self.cause = cause
  }
}

extension NearMiss {
  /// How far outside of the window a context may be and still be a near miss.
  public static let reach: Duration = .days(7)
  /// How long before a purchase, and after it, contexts of other users are looked at.
  public static let othersBefore: Duration = .minutes(30)
  public static let othersAfter: Duration = .minutes(5)

  /// Why a purchase did not get a context of its user.
  /// - Parameters:
  ///   - price: the context's.
  ///   - isClaimed: whether a purchase has it.
  ///   - receipt: that of the purchase that has it.
  ///   - fixedAt: when the receipt's content was fixed; nil if it is still open.
  /// - Returns: nil if the context has nothing to do with the purchase.
  public static func cause(
    postedAt: Timestamp, price: PriceID?, isClaimed: Bool, by receipt: ReceiptID?, of purchase: Purchase,
    fixedAt: Timestamp?, policy: JoinPolicy, processor: ProcessorRules, now: Timestamp
  ) -> Cause? {
    let end = fixedAt ?? now
    let start = Join.windowStart(happenedAt: purchase.happenedAt, now: end, policy: policy)
    if isClaimed { return postedAt >= start && postedAt <= end ? .claimed(by: receipt) : nil }
    guard postedAt >= start - reach, postedAt <= end + reach else { return nil }
    if postedAt < start { return .early(by: start.duration(since: postedAt)) }
    if postedAt > end { return .late(by: postedAt.duration(since: end)) }
    if let price, processor.mayOwn(price), !purchase.prices.isEmpty, !purchase.prices.contains(price) {
      return .otherPrice(price)
    }
    return .possible
  }

  /// Whether two different ids may be meant for the same user: they differ only in case and in characters
  /// that are no letters or digits.
  public static func areSimilar(_ one: UserID, _ other: UserID) -> Bool {
    let core = core(one)
    return !core.isEmpty && core == Self.core(other)
  }

  private static func core(_ id: UserID) -> String {
    String(id.text.lowercased().filter { $0.isLetter || $0.isNumber })
  }
}
