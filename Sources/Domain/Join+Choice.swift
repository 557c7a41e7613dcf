// Which of a user's contexts a purchase gets that names none. Pure; any thread.

extension Join {
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

  /// Guesses among a user's unused contexts: the newest with one of the purchase's prices, else the newest
  /// whose price cannot be compared. A context that names another of the processor's prices belongs to
  /// another purchase, unless the policy takes any.
  ///
  /// Eligible is what was received within the window before the event happened (or after it, up to the wait),
  /// and what is within the window of now: an event that comes days late, or whose sender's clock is off,
  /// still finds the checkout that led to it, and so does a purchase that still waits when the app gets its
  /// context through at last. A purchase whose money is days under way takes none from then on: what comes
  /// then belongs to another checkout. Of two that fit alike, one from around the event goes before a later
  /// one.
  public static func choose(
    from candidates: [Candidate], for purchase: Purchase, policy: JoinPolicy, processor: ProcessorRules,
    now: Timestamp
  ) -> Candidate? {
    let around = window(before: purchase.happenedAt, after: policy.waitForContextMilliseconds, policy)
    let recent =
      purchase.observations.contains(.promised)
      ? window(before: purchase.createdAt, after: policy.waitForContextMilliseconds, policy)
      : window(before: now, after: 0, policy)
    guard policy.guess != .never else { return nil }
    let eligible = candidates.filter {
      policy.guess == .newest || isComparable($0, purchase, processor)
    }.map { candidate in
      // What a clock that ran ahead has dated is as new as can be.
      var candidate = candidate
      candidate.receivedAt = min(candidate.receivedAt, now)
      return candidate
    }.filter { around.contains($0.receivedAt) || recent.contains($0.receivedAt) }
    return eligible.max { left, right in
      rank(left, purchase, around) < rank(right, purchase, around)
    }
  }

  /// Whether a guess that was made before the price was known is to be made again.
  public static func isOutdated(_ guess: ContextBlob, for purchase: Purchase) -> Bool {
    guard !purchase.prices.isEmpty else { return false }
    return guess.priceID.map { !purchase.prices.contains($0) } ?? true
  }

  /// Whether nothing says that the context belongs to a purchase of another price.
  private static func isComparable(
    _ candidate: Candidate, _ purchase: Purchase, _ processor: ProcessorRules
  ) -> Bool {
    guard let price = candidate.blob.priceID, processor.mayOwn(price) else { return true }
    return purchase.prices.isEmpty || purchase.prices.contains(price)
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
