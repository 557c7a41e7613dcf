// How long a purchase waits for the events that belong to it. Events of one checkout come in any order within
// moments, and each says something that the others do not: the session names the context and says whether
// money is still to come, the subscription names the price. What is sent before all of them are here would
// depend on their order (R2). Pure; any thread.

extension Join {
  /// Whether events that belong to a purchase are still to be waited for.
  enum Settling: Equatable {
    /// Only sister events are known.
    case forCheckout(until: Timestamp)
    /// Neither an event nor a context that an event names has named the price.
    case forPrice(until: Timestamp)
    case over

    init(_ purchase: Purchase, policy: JoinPolicy, processor: ProcessorRules, now: Timestamp) {
      // What is bought settles from then on; what is only promised, from when it was first heard of.
      let since = purchase.isBought ? purchase.boughtAt ?? now : purchase.createdAt
      func end(_ milliseconds: Int64) -> Timestamp { since.advanced(byMilliseconds: max(0, milliseconds)) }
      guard policy.settleMilliseconds > 0 else {
        self = .over
        return
      }
      let lookedUp = end(Join.settleMilliseconds(policy, looksUp: processor.isAsked))
      let settled = end(policy.settleMilliseconds)
      if !purchase.isCheckoutKnown, now < lookedUp {
        self = .forCheckout(until: lookedUp)
      } else if !Self.hasPrice(purchase, processor), processor.isAsked || !purchase.isKnownByCheckout,
        now < settled
      {
        self = .forPrice(until: settled)
      } else {
        self = .over
      }
    }

    /// Whether the price is known without a guess: most receipts are then sent as soon as they are paid.
    private static func hasPrice(_ purchase: Purchase, _ processor: ProcessorRules) -> Bool {
      if !purchase.prices.isEmpty { return true }
      guard purchase.contextSource?.isName ?? false else { return false }
      return Join.price(of: purchase, acceptedBy: processor) != nil
    }

    /// When the wait ends; nil when it is over.
    var until: Timestamp? {
      switch self {
      case .forCheckout(let until), .forPrice(let until): until
      case .over: nil
      }
    }
  }

  /// How many times as long as `settle` the answer of the processor is waited for, so that a receipt is not
  /// held for ever by one that does not answer.
  static let lookUpFactor: Int64 = 6

  /// For how long a purchase that is known only from sister events waits for its checkout.
  static func settleMilliseconds(_ policy: JoinPolicy, looksUp: Bool) -> Int64 {
    let settle = max(0, policy.settleMilliseconds)
    guard looksUp else { return settle }
    let (product, hasOverflowed) = settle.multipliedReportingOverflow(by: lookUpFactor)
    return hasOverflowed ? .max : product
  }

  /// Whether a context may be guessed for a purchase: nothing can be sent yet, so that the guess can still be
  /// changed; or all that is to come soon is here, so that neither a name nor a price can contradict it.
  public static func mayGuess(
    for purchase: Purchase, policy: JoinPolicy, processor: ProcessorRules, now: Timestamp
  ) -> Bool {
    guard policy.guess != .never else { return false }
    return !purchase.isBought
      || Settling(purchase, policy: policy, processor: processor, now: now) == .over
  }
}
