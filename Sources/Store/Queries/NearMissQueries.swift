// Contexts that a purchase did not get although they may be meant for it. Read when an operator looks at one
// receipt: from the user's newest contexts, and the app's around the purchase.

public import Domain

extension StoreReader {
  /// The newest contexts of the user that are looked at.
  static let nearMissesOfUser = 20
  /// The app's contexts around the purchase that are looked at.
  static let nearMissesOfApp: Int64 = 500
  /// How many are returned.
  static let nearMissesMax = 5

  static let unclaimedSQL = """
    SELECT c.id, c.user_id, c.price_id, c.posted_at FROM (
        SELECT row_id FROM contexts WHERE app = ?1 AND row_id > ?2 AND row_id < ?3
        ORDER BY row_id DESC LIMIT ?5) AS r
      JOIN contexts c ON c.row_id = r.row_id
    WHERE c.purchase_row IS NULL AND c.user_id <> ?4 AND c.user_id <> ''
    """

  /// The near misses of a receipt without a context, or with a guessed one: those of its user, then, if it
  /// has none, those of other users whose ids are similar or that name its price.
  public func nearMisses(
    of record: PurchaseRecord, policy: JoinPolicy, processor: ProcessorRules, now: Timestamp
  ) throws(StoreFault) -> [NearMiss] {
    guard let receipt = record.receipt, let outcome = JoinOutcome(record.purchase, receipt),
      outcome == .none || outcome == .guessed, let user = record.purchase.userID
    else { return [] }
    var filter = ContextFilter()
    (filter.app, filter.userID) = (record.app, user)
    let happenedAt = record.purchase.happenedAt
    let own = try contexts(filter, now: now, limit: Self.nearMissesOfUser)
      .filter { $0.id != record.purchase.contextID }
      .compactMap { context in
        NearMiss.cause(
          postedAt: context.postedAt, price: context.blob.priceID,
          isClaimed: context.isClaimed, by: context.receiptID, of: record.purchase,
          fixedAt: receipt.readyAt, policy: policy, processor: processor, now: now
        ).map {
          NearMiss(contextID: context.id, userID: user, postedAt: context.postedAt, cause: $0)
        }
      }
    let others = outcome == .none ? try unclaimedOfOthers(around: happenedAt, record, user) : []
    return Array(
      (own.sorted { Self.distance($0, happenedAt) < Self.distance($1, happenedAt) } + others)
        .prefix(Self.nearMissesMax))
  }

  private static func distance(_ miss: NearMiss, _ moment: Timestamp) -> Duration {
    max(miss.postedAt.duration(since: moment), moment.duration(since: miss.postedAt))
  }

  /// Unclaimed contexts of other users at about the time of a purchase, similar ids first, then the nearest.
  private func unclaimedOfOthers(
    around moment: Timestamp, _ record: PurchaseRecord, _ user: UserID
  ) throws(StoreFault) -> [NearMiss] {
    var filter = ContextFilter()
    (filter.since, filter.until) = (moment - NearMiss.othersBefore, moment + NearMiss.othersAfter)
    let rows = try rows(filter)
    let prices = record.purchase.prices
    var found: [(isSimilar: Bool, miss: NearMiss)] = []
    try connection.prepare(Self.unclaimedSQL).forEach([
      .text(record.app), .integer(rows.after), .integer(rows.before), .text(user),
      .integer(Self.nearMissesOfApp),
    ]) { row throws(StoreFault) in
      let other: UserID = try row.text(1)
      let price: PriceID? = try row.optionalText(2)
      let isSimilar = NearMiss.areSimilar(other, user)
      guard isSimilar || price.map(prices.contains) ?? prices.isEmpty else { return }
      let miss = NearMiss(
        contextID: try row.text(0), userID: other, postedAt: Timestamp(unixMilliseconds: row.integer(3)),
        cause: .otherUser(isSimilar: isSimilar))
      found.append((isSimilar, miss))
    }
    return found.sorted { left, right in
      if left.isSimilar != right.isSimilar { return left.isSimilar }
      return Self.distance(left.miss, moment) < Self.distance(right.miss, moment)
    }.map(\.miss)
  }
}
