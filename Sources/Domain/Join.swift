// The rules of the join (contract: Join): which context belongs to a purchase, which price is reported, what
// is still waited for and until when. Functions of what was read, never of a database. Pure; any thread.

/// The rules by which a purchase becomes a receipt.
public enum Join {
  /// What is to become of a purchase's receipt now.
  public enum Resolution: Sendable, Equatable {
    /// There is no receipt: nothing was bought, as far as is known.
    case none
    /// - until: when to look again if nothing comes; nil for as long as it takes.
    case waiting(Reason, until: Timestamp?)
    case ready(ReceiptContent, priceMismatch: Bool)
    case failed(Reason)
    case cancelled(Reason)
  }

  /// Decides what becomes of a purchase, as it is known now.
  public static func resolve(_ purchase: Purchase, policy: JoinPolicy, now: Timestamp) -> Resolution {
    guard purchase.deservesReceipt else { return .none }
    guard purchase.isBought else { return awaitPayment(purchase, policy: policy, now: now) }
    if purchase.awaitsSubscription {
      return stillWait(for: .subscription, purchase, policy: policy, now: now)
    }
    let since = purchase.boughtAt ?? now
    func deadline(_ milliseconds: Int64) -> Timestamp { since.advanced(byMilliseconds: milliseconds) }

    guard purchase.userID != nil else {
      let until = deadline(policy.waitForUserMilliseconds)
      return now < until ? .waiting(.user, until: until) : .failed(.user)
    }
    let takeAnyPriceAt = deadline(policy.waitForStripePriceMilliseconds)
    guard price(of: purchase, takeAny: now >= takeAnyPriceAt) != nil else {
      let hasMerchantPrice = purchase.context?.priceID != nil
      let until = hasMerchantPrice ? takeAnyPriceAt : deadline(policy.waitForPriceMilliseconds)
      return now < until ? .waiting(.price, until: until) : .failed(.price)
    }
    if purchase.context == nil {
      switch policy.withoutContext {
      case .hold: return .waiting(.context, until: nil)
      case .deliver:
        let until = deadline(policy.waitForContextMilliseconds)
        if now < until { return .waiting(.context, until: until) }
      }
    }
    switch content(of: purchase) {
    case .success(let ready): return .ready(ready.content, priceMismatch: ready.priceMismatch)
    case .failure(let lack): return .failed(lack.reason)
    }
  }

  /// What a purchase lacks that no receipt can go without.
  public struct Lack: Error, Equatable {
    public let reason: Reason
  }

  /// The receipt of a purchase as it is known now, whether or not something more is worth waiting for.
  public static func content(
    of purchase: Purchase
  ) -> Result<(content: ReceiptContent, priceMismatch: Bool), Lack> {
    guard let user = purchase.userID else { return .failure(Lack(reason: .user)) }
    guard let price = price(of: purchase, takeAny: true) else { return .failure(Lack(reason: .price)) }
    let content = ReceiptContent(
      userID: user, key: purchase.key, priceID: price, context: purchase.context?.text)
    return .success((content, hasMismatch(purchase, reporting: price)))
  }

  private static func awaitPayment(_ purchase: Purchase, policy: JoinPolicy, now: Timestamp) -> Resolution {
    if purchase.endedUnpaid {
      return .cancelled(purchase.observations.contains(.paymentFailed) ? .paymentFailed : .sessionExpired)
    }
    return stillWait(for: .payment, purchase, policy: policy, now: now)
  }

  private static func stillWait(
    for reason: Reason, _ purchase: Purchase, policy: JoinPolicy, now: Timestamp
  ) -> Resolution {
    let until = purchase.createdAt.advanced(byMilliseconds: policy.waitForPaymentMilliseconds)
    return now < until ? .waiting(reason, until: until) : .failed(reason)
  }

  /// The price to report: of those that events named the context's own, else the first; without any, the
  /// context's when it is Stripe's kind of id.
  /// - Parameter takeAny: whether the context's price is taken whatever it looks like.
  static func price(of purchase: Purchase, takeAny: Bool) -> String? {
    let named = purchase.context?.priceID
    if let first = purchase.prices.first {
      return named.flatMap { purchase.prices.contains($0) ? $0 : nil } ?? first
    }
    guard let named else { return nil }
    return takeAny || looksLikeStripePrice(named) ? named : nil
  }

  /// Stripe's own price ids begin so; a merchant's own names (`stripe.monthly_premium_123`) do not.
  static func looksLikeStripePrice(_ price: String) -> Bool {
    price.hasPrefix("price_") || price.hasPrefix("plan_")
  }

  /// Whether the context names another price than the one that the processor reported.
  private static func hasMismatch(_ purchase: Purchase, reporting price: String) -> Bool {
    guard let named = purchase.context?.priceID, !purchase.prices.isEmpty else { return false }
    return named != price
  }

  /// A context that a purchase may claim.
  public struct Candidate: Sendable, Equatable {
    public var id: String
    public var blob: ContextBlob
    public var receivedAt: Timestamp

    public init(id: String, blob: ContextBlob, receivedAt: Timestamp) {
      self.id = id
      self.blob = blob
      self.receivedAt = receivedAt
    }
  }

  /// The earliest moment from which a context can belong to something that happened then and is heard of now.
  public static func windowStart(happenedAt: Timestamp, now: Timestamp, policy: JoinPolicy) -> Timestamp {
    min(happenedAt, now).advanced(byMilliseconds: -policy.windowMilliseconds)
  }

  /// Chooses among a user's unused contexts: the newest with one of the purchase's prices, else the newest.
  ///
  /// Eligible is what was received within the window before the event happened (or after it, up to the wait),
  /// and what is within the window of now: an event that comes days late, or whose sender's clock is off,
  /// still finds the checkout that led to it, and so does a purchase that still waits when the app gets its
  /// context through at last. A purchase whose money is days under way takes none from then on: what comes
  /// then belongs to another checkout. Of two that fit alike, one from around the event goes before a later
  /// one.
  public static func choose(
    from candidates: [Candidate], for purchase: Purchase, policy: JoinPolicy, now: Timestamp
  ) -> Candidate? {
    let around = window(before: purchase.happenedAt, after: policy.waitForContextMilliseconds, policy)
    let recent =
      purchase.observations.contains(.checkoutUnpaid)
      ? window(before: purchase.createdAt, after: policy.waitForContextMilliseconds, policy)
      : window(before: now, after: 0, policy)
    let eligible = candidates.map { candidate in
      // What a clock that ran ahead has dated is as new as can be.
      var candidate = candidate
      candidate.receivedAt = min(candidate.receivedAt, now)
      return candidate
    }.filter { around.contains($0.receivedAt) || recent.contains($0.receivedAt) }
    return eligible.max { left, right in
      rank(left, purchase, around) < rank(right, purchase, around)
    }
  }

  private static func window(
    before moment: Timestamp, after: Int64, _ policy: JoinPolicy
  ) -> ClosedRange<Timestamp> {
    let start = moment.advanced(byMilliseconds: -max(0, policy.windowMilliseconds))
    return start...moment.advanced(byMilliseconds: max(0, after))
  }

  private static func rank(
    _ candidate: Candidate, _ purchase: Purchase, _ around: ClosedRange<Timestamp>
  ) -> (Int, Int, Timestamp, String) {
    let hasPrice = candidate.blob.priceID.map(purchase.prices.contains) ?? false
    return (
      hasPrice ? 1 : 0, around.contains(candidate.receivedAt) ? 1 : 0, candidate.receivedAt, candidate.id
    )
  }
}
