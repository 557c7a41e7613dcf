// The rules of the join (contract: Join): which context belongs to a purchase, which price is reported, what
// a purchase waits for and until when. The functions use values only, never a database. Pure; any thread.

/// The rules by which a purchase becomes a receipt.
public enum Join {
  /// The decision about a purchase's receipt.
  public enum Resolution: Sendable, Equatable {
    /// There is no receipt: no known event shows a purchase.
    case none
    /// - until: when to decide again if nothing comes; nil for no limit.
    case waiting(Reason, until: Timestamp?)
    case ready(ReceiptContent, priceMismatch: Bool)
    case failed(Reason)
    case cancelled(Reason)
  }

  /// Decides about a purchase's receipt from what is known now.
  public static func resolve(
    _ purchase: Purchase, policy: JoinPolicy, processor: ProcessorRules, now: Timestamp
  ) -> Resolution {
    guard purchase.deservesReceipt else { return .none }
    let settling = Settling(purchase, policy: policy, processor: processor, now: now)
    guard purchase.isBought else { return awaitPayment(purchase, policy: policy, settling, now: now) }
    if purchase.awaitsObject {
      return stillWait(for: .subscription, purchase, policy: policy, settling, now: now)
    }
    let since = purchase.boughtAt ?? now
    func deadline(_ wait: Duration) -> Timestamp { since + wait }

    guard purchase.userID != nil else {
      let until = deadline(policy.waitForUser)
      return now < until ? .waiting(.user, until: until) : .failed(.user)
    }
    switch settling {
    case .forCheckout(let until): return .waiting(.checkout, until: until)
    case .forPrice(let until): return .waiting(.price, until: until)
    case .over: break
    }
    let takeAnyPriceAt = deadline(policy.waitForProcessorPrice)
    let known =
      now >= takeAnyPriceAt ? price(of: purchase) : price(of: purchase, acceptedBy: processor)
    guard known != nil || !processor.namesPrices else {
      let hasMerchantPrice = purchase.context?.priceID != nil
      let until = hasMerchantPrice ? takeAnyPriceAt : deadline(policy.waitForPrice)
      return now < until ? .waiting(.price, until: until) : .failed(.price)
    }
    if purchase.context == nil {
      switch policy.withoutContext {
      case .hold: return .waiting(.context, until: nil)
      case .deliver:
        let until = deadline(policy.waitForContext)
        if now < until { return .waiting(.context, until: until) }
      }
    }
    switch content(of: purchase, processor) {
    case .success(let ready): return .ready(ready.content, priceMismatch: ready.priceMismatch)
    case .failure(let lack): return .failed(lack.reason)
    }
  }

  /// A missing value without which no receipt can be made.
  public struct Lack: Error, Equatable {
    public let reason: Reason
  }

  /// Returns the receipt's content from what is known now, even if more may come.
  public static func content(
    of purchase: Purchase, _ processor: ProcessorRules
  ) -> Result<(content: ReceiptContent, priceMismatch: Bool), Lack> {
    guard let user = purchase.userID else { return .failure(Lack(reason: .user)) }
    let price = price(of: purchase)
    if price == nil, processor.namesPrices { return .failure(Lack(reason: .price)) }
    let content = ReceiptContent(
      userID: user, key: purchase.key, priceID: price, context: purchase.context?.text,
      contextID: purchase.contextID, payment: purchase.payment,
      boughtAt: purchase.boughtAt ?? purchase.createdAt)
    return .success((content, price.map { hasMismatch(purchase, reporting: $0) } ?? false))
  }

  private static func awaitPayment(
    _ purchase: Purchase, policy: JoinPolicy, _ settling: Settling, now: Timestamp
  ) -> Resolution {
    if purchase.endedUnpaid {
      let hasExpired = purchase.observations.isDisjoint(with: [.failed, .ended])
      return .cancelled(hasExpired ? .sessionExpired : .paymentFailed)
    }
    return stillWait(for: .payment, purchase, policy: policy, settling, now: now)
  }

  private static func stillWait(
    for reason: Reason, _ purchase: Purchase, policy: JoinPolicy, _ settling: Settling, now: Timestamp
  ) -> Resolution {
    let until = purchase.createdAt.advanced(by: policy.waitForPayment)
    guard now < until else { return .failed(reason) }
    // Once the purchase is settled, a context can be guessed for it.
    return .waiting(reason, until: min(until, settling.until ?? until))
  }

  /// The price to report: the context's own if events named it, else the first that events named; if events
  /// named none, the context's, whatever its form.
  static func price(of purchase: Purchase) -> PriceID? {
    let named = purchase.context?.priceID
    guard let first = purchase.prices.first else { return named }
    return named.flatMap { purchase.prices.contains($0) ? $0 : nil } ?? first
  }

  /// The same, but nil if the context's price cannot be one of the processor's.
  static func price(of purchase: Purchase, acceptedBy processor: ProcessorRules) -> PriceID? {
    guard let price = price(of: purchase) else { return nil }
    return !purchase.prices.isEmpty || processor.mayOwn(price) ? price : nil
  }

  /// Whether the context names a different price from the one that the processor reported.
  private static func hasMismatch(_ purchase: Purchase, reporting price: PriceID) -> Bool {
    guard let named = purchase.context?.priceID, !purchase.prices.isEmpty else { return false }
    return named != price
  }
}
