// The rules of the join (contract: Join): which context belongs to a purchase, which price is reported, what
// a purchase waits for and until when. The functions use values only, never a database. Pure; any thread.

internal import Formats

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

    if isUndecided(purchase, processor) {
      // No event has said yet whether it is the app's. What says it mostly names the price, too.
      let until = deadline(policy.waitForPrice)
      return now < until ? .waiting(.price, until: until) : .failed(.price)
    }
    guard purchase.userID != nil else { return awaitUser(purchase, policy: policy, now: now) }
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
    if purchase.context == nil, !purchase.isOfStore {
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

  /// Decides about a receipt that lacks its user.
  public static func awaitUser(_ purchase: Purchase, policy: JoinPolicy, now: Timestamp) -> Resolution {
    let until = (purchase.boughtAt ?? purchase.createdAt) + policy.waitForUser
    return now < until ? .waiting(.user, until: until) : .failed(.user)
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
    return .success((content, price.map { hasMismatch(purchase, reporting: $0, processor) } ?? false))
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
  private static func hasMismatch(
    _ purchase: Purchase, reporting price: PriceID, _ processor: ProcessorRules
  ) -> Bool {
    guard let named = purchase.context?.priceID, !purchase.prices.isEmpty else { return false }
    return named != price && processor.ownPrices?.contains(named) ?? true
  }
}

// MARK: - Outcome

// How a receipt got its context, for the counts by which operators see whether an app's contexts still join.
// Pure; any thread.

/// How a receipt got its context.
public enum JoinOutcome: String, Sendable, CaseIterable {
  /// An event or an operator named the context, or it was in an event.
  case exact
  /// It was the only context of the purchase's user that could be meant.
  case user
  /// It was chosen among several of the user's, or names another price.
  case guessed
  /// The receipt has no context.
  case none
  /// It was sent with a context that another purchase names.
  case disputed

  /// - Returns: nil for a receipt that is not made yet and does not wait for a context, for one whose user
  ///   was erased, for a copy, and for a purchase in an app store.
  public init?(_ purchase: Purchase, _ receipt: Receipt) {
    let lacksContext = receipt.state == .waiting && receipt.reason == .context
    guard receipt.readyAt != nil || lacksContext, !purchase.isErased, !purchase.isOfStore,
      receipt.copyOf == nil
    else {
      return nil
    }
    if receipt.contextDisputed {
      self = .disputed
    } else if purchase.context == nil {
      self = .none
    } else if purchase.contextSource == .guess {
      self = purchase.contextCandidates == 1 && !receipt.priceMismatch ? .user : .guessed
    } else {
      self = .exact
    }
  }

  /// Whether the receipt has a context that no other purchase names.
  public var isJoined: Bool {
    switch self {
    case .exact, .user, .guessed: true
    case .none, .disputed: false
    }
  }
}

/// How the contexts and receipts of one app in one period joined.
public struct JoinTally: Sendable, Equatable {
  public var receipts: [JoinOutcome: Int64]
  /// Contexts that were received in the period.
  public var contexts: Int64
  /// Those of `contexts` that no purchase claimed.
  public var unclaimed: Int64

  public init(receipts: [JoinOutcome: Int64] = [:], contexts: Int64 = 0, unclaimed: Int64 = 0) {
    self.receipts = receipts
    self.contexts = contexts
    self.unclaimed = unclaimed
  }

  public static func + (left: Self, right: Self) -> Self {
    Self(
      receipts: left.receipts.merging(right.receipts, uniquingKeysWith: +),
      contexts: left.contexts + right.contexts, unclaimed: left.unclaimed + right.unclaimed)
  }

  /// - Returns: the number of receipts with an outcome.
  public subscript(outcome: JoinOutcome) -> Int64 { receipts[outcome] ?? 0 }

  /// All receipts.
  public var total: Int64 { receipts.values.reduce(0, +) }

  /// Receipts with a context that no other purchase names.
  public var joined: Int64 { receipts.reduce(0) { $0 + ($1.key.isJoined ? $1.value : 0) } }

  /// The share of the receipts that joined, rounded down; nil without receipts.
  public var joinedPercent: Int64? { total > 0 ? joined * 100 / total : nil }
}

// MARK: - Settling

// How long a purchase waits for its events. Events of one checkout come in any order within moments, and each
// has different facts: the session names the context and says whether payment is still due, the subscription
// names the price. A receipt sent before all of them came would depend on their order (R2). Pure; any thread.

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
      func isBefore(_ end: Timestamp, _ wait: Duration) -> Bool { wait > .zero && now < end }
      func end(_ wait: Duration) -> Timestamp { since + max(.zero, wait) }
      let mayBeFound = processor.isAsked && !purchase.observations.contains(.checkoutRefused)
      var checkout = Join.settle(policy, hasLookups: mayBeFound)
      if purchase.userSource?.isInferred ?? false { checkout = max(checkout, policy.settleCustomer) }
      if !purchase.isCheckoutKnown, isBefore(end(checkout), checkout) {
        self = .forCheckout(until: end(checkout))
      } else if !Self.hasPrice(purchase, processor), processor.isAsked || !purchase.isKnownByCheckout,
        isBefore(end(policy.settle), policy.settle)
      {
        self = .forPrice(until: end(policy.settle))
      } else {
        self = .over
      }
    }

    /// Whether the price is known without a guess. Most receipts are then sent as soon as they are paid.
    private static func hasPrice(_ purchase: Purchase, _ processor: ProcessorRules) -> Bool {
      if !processor.namesPrices { return true }
      let isNamed = purchase.contextSource?.isName ?? false
      if !purchase.prices.isEmpty {
        // Another event says which of several is the plan's, unless a context that an event named does.
        guard purchase.priceSource == .unranked else { return true }
        return isNamed && purchase.context?.priceID.map(purchase.prices.contains) ?? false
      }
      guard isNamed else { return false }
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
    guard policy.guess != .never, !purchase.isOfStore, !isUndecided(purchase, processor) else {
      return false
    }
    return !purchase.isBought
      || Settling(purchase, policy: policy, processor: processor, now: now) == .over
  }
}

// MARK: - Near miss

// Why a purchase without a context, or with a guessed one, did not get a context that may be meant for it.
// Pure; any thread.

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

// MARK: - Guess

// Chooses a context for a purchase that names none. Pure; any thread.

extension Join {
  /// A context that a purchase may claim.
  public struct Candidate: Sendable, Equatable {
    public var id: ContextID
    public var blob: ContextBlob
    public var receivedAt: Timestamp

    public init(id: ContextID, blob: ContextBlob, receivedAt: Timestamp) {
      self.id = id
      self.blob = blob
      self.receivedAt = receivedAt
    }
  }

  /// A chosen context.
  public struct Choice: Sendable, Equatable {
    public var candidate: Candidate
    /// How many contexts might have been chosen.
    public var among: Int64
  }

  /// The earliest time at which a context can have been received and belong to an event that happened then
  /// and is processed now.
  public static func windowStart(happenedAt: Timestamp, now: Timestamp, policy: JoinPolicy) -> Timestamp {
    min(happenedAt, now) - policy.window
  }

  /// Guesses among a user's unused contexts: the newest with one of the purchase's prices, else the newest
  /// whose price cannot be compared. A context that names another of the processor's prices belongs to
  /// another purchase, unless the policy allows any price.
  ///
  /// A context is eligible if it was received within the window before the event (or after it, up to the
  /// wait), or within the window before now. So an event that comes days late, or whose sender's clock is
  /// wrong, still finds its checkout, and a waiting purchase still gets a context that was posted late. A
  /// purchase whose payment takes days gets no context posted after that: it belongs to another checkout. Of
  /// two equal matches, one received around the event is preferred to a later one.
  public static func choose(
    from candidates: [Candidate], for purchase: Purchase, policy: JoinPolicy, processor: ProcessorRules,
    now: Timestamp
  ) -> Choice? {
    let around = window(before: purchase.happenedAt, after: policy.waitForContext, policy)
    let recent =
      purchase.observations.contains(.promised)
      ? window(before: purchase.createdAt, after: policy.waitForContext, policy)
      : window(before: now, after: .zero, policy)
    guard policy.guess != .never else { return nil }
    let eligible = candidates.filter {
      policy.guess == .newest || isComparable($0, purchase, processor)
    }.map { candidate in
      // A timestamp from a clock that ran ahead counts as now.
      var candidate = candidate
      candidate.receivedAt = min(candidate.receivedAt, now)
      return candidate
    }.filter { around.contains($0.receivedAt) || recent.contains($0.receivedAt) }
    let best = eligible.max { left, right in
      rank(left, purchase, around) < rank(right, purchase, around)
    }
    return best.map { Choice(candidate: $0, among: Int64(eligible.count)) }
  }

  /// Whether a guess made before the price was known must be made again.
  public static func isOutdated(_ guess: ContextBlob, for purchase: Purchase) -> Bool {
    guard !purchase.prices.isEmpty else { return false }
    return guess.priceID.map { !purchase.prices.contains($0) } ?? true
  }

  /// Whether the context's price does not contradict the purchase's prices.
  private static func isComparable(
    _ candidate: Candidate, _ purchase: Purchase, _ processor: ProcessorRules
  ) -> Bool {
    guard let price = candidate.blob.priceID, processor.mayOwn(price) else { return true }
    return purchase.prices.isEmpty || purchase.prices.contains(price)
  }

  private static func window(
    before moment: Timestamp, after: Duration, _ policy: JoinPolicy
  ) -> ClosedRange<Timestamp> {
    let start = moment - max(.zero, policy.window)
    return start...moment + max(.zero, after)
  }

  private static func rank(
    _ candidate: Candidate, _ purchase: Purchase, _ around: ClosedRange<Timestamp>
  ) -> (Int, Int, Timestamp, ContextID) {
    let hasPrice = candidate.blob.priceID.map(purchase.prices.contains) ?? false
    return (
      hasPrice ? 1 : 0, around.contains(candidate.receivedAt) ? 1 : 0, candidate.receivedAt, candidate.id
    )
  }
}

// MARK: - JoinHealth

// Whether an app's contexts no longer join, for example because it posts wrong user ids. Pure; any thread.

/// The rule by which contexts count as not joining.
public enum JoinHealth {
  /// The hours that are judged, the present one among them.
  public static let recentHours: Int64 = 6
  /// The hours before them that they are compared with.
  public static let earlierHours: Int64 = 7 * 24
  /// The receipts without a context, and the unclaimed contexts, below which nothing is wrong.
  public static let unjoinedMin: Int64 = 10
  /// The receipts that a comparison needs.
  private static let receiptsMin: Int64 = 20
  /// The share in percent that must join if there is nothing to compare with.
  private static let joinedMin: Int64 = 20

  /// Whether receipts lack contexts while contexts are posted that no purchase claims, and more of them than
  /// in the days before. An app that posts no contexts is healthy.
  /// - Parameters:
  ///   - recent: the last `recentHours`.
  ///   - earlier: the `earlierHours` before.
  public static func isBroken(recent: JoinTally, earlier: JoinTally) -> Bool {
    guard recent[.none] >= unjoinedMin, recent.unclaimed >= unjoinedMin,
      let joined = recent.joinedPercent
    else { return false }
    guard earlier.total >= receiptsMin, let usual = earlier.joinedPercent else {
      return recent.total >= receiptsMin && joined < joinedMin
    }
    return joined * 2 < usual
  }
}
