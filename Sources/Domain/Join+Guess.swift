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
