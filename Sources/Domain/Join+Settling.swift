// How long a purchase waits for its events. Events of one checkout come in any order within moments, and each
// has different facts: the session names the context and says whether payment is still due, the subscription
// names the price. A receipt sent before all of them came would depend on their order (R2). Pure; any thread.

internal import Formats

extension Join {
  /// Whether a purchase still waits for its events.
  enum Settling: Equatable {
    /// Only sister events are known.
    case forCheckout(until: Timestamp)
    /// Neither an event nor a context named by an event has named the price.
    case forPrice(until: Timestamp)
    case over

    init(_ purchase: Purchase, policy: JoinPolicy, processor: ProcessorRules, now: Timestamp) {
      // Settling begins when the purchase is bought; for a promised one, when it was first reported.
      let since = purchase.isBought ? purchase.boughtAt ?? now : purchase.createdAt
      func end(_ wait: Duration) -> Timestamp { since + max(.zero, wait) }
      guard policy.settle > .zero else {
        self = .over
        return
      }
      let mayBeFound = processor.isAsked && !purchase.observations.contains(.checkoutRefused)
      let lookedUp = end(Join.settle(policy, hasLookups: mayBeFound))
      let settled = end(policy.settle)
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

    /// Whether the price is known without a guess. Most receipts are then sent as soon as they are paid.
    private static func hasPrice(_ purchase: Purchase, _ processor: ProcessorRules) -> Bool {
      if !purchase.prices.isEmpty || !processor.namesPrices { return true }
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

  /// The multiple of `settle` for which an answer of the processor is awaited, so that a processor that never
  /// answers does not hold a receipt for ever.
  static let lookupFactor = 6

  /// How long a purchase known only from sister events waits for its checkout.
  static func settle(_ policy: JoinPolicy, hasLookups: Bool) -> Duration {
    let settle = min(max(.zero, policy.settle), .longest)
    return hasLookups ? settle * lookupFactor : settle
  }

  /// Whether a context may be guessed for a purchase: either nothing can be sent yet, so the guess can still
  /// be changed, or all expected events are here, so neither a name nor a price can contradict it.
  public static func mayGuess(
    for purchase: Purchase, policy: JoinPolicy, processor: ProcessorRules, now: Timestamp
  ) -> Bool {
    guard policy.guess != .never else { return false }
    return !purchase.isBought
      || Settling(purchase, policy: policy, processor: processor, now: now) == .over
  }
}
