// Queries of claims: for operators, newest first, and for the customers who open a claim's page. An id begins
// with its time, so the order of ids is that of time.

public import Domain

/// A claim as displayed to operators.
public struct ClaimSummary: Sendable, Equatable {
  public var claim: Claim
  public var app: AppSlug
  public var receiptID: ReceiptID
  public var objectID: ObjectID
  public var state: ClaimState
}

/// Which claims to list; a nil property does not restrict the list.
public struct ClaimFilter: Sendable, Equatable {
  public var app: AppSlug?
  public var receiptID: ReceiptID?
  /// Only those in one of these states; empty does not restrict the list.
  public var states: Set<ClaimState> = []
  public var since: Timestamp?
  public var until: Timestamp?
  /// The last claim of the previous page.
  public var after: ClaimID?

  public init() {}
}

/// Purchases that wait for a user, or failed without one.
public struct UnclaimedPurchases: Sendable, Equatable {
  public var count: Int64 = 0
  /// When the oldest receipt was made; nil if there is none.
  public var oldest: Timestamp?

  public init() {}
}

extension StoreReader {
  /// - Parameter claims: a table or a query.
  private static func summaries(of claims: String = "claims") -> String {
    """
    SELECT \(ClaimRow.columns), c.app, p.receipt_id, p.object_id
    FROM \(claims) AS c JOIN purchases p ON p.row_id = c.purchase_row
    """
  }

  /// The newest claims, or those of a receipt: at most as many as the last of four parameters says.
  private static func candidates(_ columns: String, _ filter: ClaimFilter) -> String {
    """
    SELECT \(columns) FROM claims
    WHERE id < ?1 AND id >= ?2\(filter.receiptID == nil ? "" : " AND purchase_row = ?3")
    ORDER BY id DESC LIMIT ?4
    """
  }

  /// The candidates that match.
  static func select(_ filter: ClaimFilter) -> String {
    let states = filter.states.map { state in
      switch state {
      case .offered: "c.ended_at IS NULL AND c.expires_at > ?6"
      case .expired: "c.ended_at IS NULL AND c.expires_at <= ?6"
      case .claimed: "c.user_id IS NOT NULL"
      case .revoked: "c.ended_at IS NOT NULL AND c.user_id IS NULL"
      }
    }
    let state = states.isEmpty ? "" : " AND (\(states.sorted().joined(separator: " OR ")))"
    return """
      \(summaries(of: "(\(candidates("*", filter)))"))
      WHERE (?5 IS NULL OR c.app = ?5)\(state) ORDER BY c.id DESC LIMIT ?7
      """
  }

  /// A text that sorts after every id.
  private static let lastID = ClaimID.prefix + "~"

  /// Claims, newest first: at most `limit`, and fewer if `comparedMax` were compared.
  public func claims(
    _ filter: ClaimFilter, now: Timestamp, limit: Int, comparing comparedMax: Int = comparedMax
  ) throws(StoreFault) -> ListPage<ClaimSummary, ClaimID> {
    let isCompared = filter.app != nil || !filter.states.isEmpty
    let bound = isCompared ? comparedMax : limit + 1
    let until = filter.until.map(ClaimID.bound) ?? Self.lastID
    let range: [StoreValue] = [
      .text(min(filter.after?.text ?? until, until)), .text(filter.since.map(ClaimID.bound) ?? ""),
      .optional(filter.receiptID?.purchaseRow), .integer(Int64(bound)),
    ]
    return try connection.snapshot { () throws(StoreFault) in
      let found = try connection.prepare(Self.select(filter)).all(
        range + [.optional(filter.app), .time(now), .integer(Int64(limit + 1))]
      ) { row throws(StoreFault) in try Self.summary(row, now: now) }
      return try ListPage(
        // A row's number may be that of another purchase.
        found.filter { filter.receiptID == nil || $0.receiptID == filter.receiptID }, limit: limit,
        comparing: isCompared ? bound : nil, position: \.claim.id
      ) { () throws(StoreFault) in
        let sql = "SELECT count(*), min(id) FROM (\(Self.candidates("id", filter))) AS c"
        return try connection.prepare(sql).first(range) { row throws(StoreFault) in
          (count: Int(clamping: row.integer(0)), last: try row.optionalText(1) ?? "")
        }
      }
    }
  }

  /// A claim by its id.
  public func claim(id: ClaimID, now: Timestamp) throws(StoreFault) -> ClaimSummary? {
    try connection.prepare("\(Self.summaries()) WHERE c.id = ?1").first([.text(id)]) {
      row throws(StoreFault) in
      try Self.summary(row, now: now)
    }
  }

  /// A claim by its token; nil if the app has none.
  public func claim(token: ClaimToken, app: AppSlug, now: Timestamp) throws(StoreFault) -> ClaimSummary? {
    let key = try connection.prepare(ClaimHash.readingKeySQL).first([]) { row throws(StoreFault) in
      row.blob(0)
    }
    guard let key else { return nil }
    return try connection.prepare("\(Self.summaries()) WHERE c.hash = ?1 AND c.app = ?2")
      .first([.blob(try ClaimHash.bytes(of: token, app: app, key: key)), .text(app)]) {
        row throws(StoreFault) in try Self.summary(row, now: now)
      }
  }

  /// Purchases whose receipts wait for a user, or failed without one, of all apps.
  public func unclaimedPurchases() throws(StoreFault) -> UnclaimedPurchases {
    var filter = ReceiptFilter()
    filter.reason = Reason.user.text
    var found = UnclaimedPurchases()
    for state in [ReceiptState.waiting, .failed] {
      filter.state = state
      for (group, count) in try countedGroups(filter) {
        found.count += Int64(count)
        guard let oldest = try times(of: group, filter.bounds)?.oldest else { continue }
        found.oldest = min(found.oldest ?? oldest, oldest)
      }
    }
    return found
  }

  /// The receipts of an app whose announcements are due, the longest overdue first.
  public func dueAnnouncements(
    of app: AppSlug, now: Timestamp, limit: Int
  ) throws(StoreFault) -> [ReceiptID] {
    try connection.prepare(
      """
      SELECT p.receipt_id FROM announcements a JOIN purchases p ON p.row_id = a.purchase_row
      WHERE a.app = ?1 AND a.due_at <= ?2 AND p.receipt_id IS NOT NULL ORDER BY a.due_at LIMIT ?3
      """
    ).all([.text(app), .time(now), .integer(Int64(limit))]) { row throws(StoreFault) in try row.text(0) }
  }

  /// When the next announcement of an app is due after a time; nil if there is none.
  public func nextAnnouncement(of app: AppSlug, after now: Timestamp) throws(StoreFault) -> Timestamp? {
    try connection.prepare("SELECT min(due_at) FROM announcements WHERE app = ?1 AND due_at > ?2")
      .first([.text(app), .time(now)]) { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  /// The claims of a purchase's receipt, oldest first.
  func claims(of row: PurchaseRowID) throws(StoreFault) -> [Claim] {
    try connection.prepare(
      "SELECT \(ClaimRow.columns) FROM claims c WHERE c.purchase_row = ?1 ORDER BY c.id"
    ).all([.integer(row)], ClaimRow.claim)
  }

  /// The status of the checkout whose purchase a user claimed; nil if it is not a claim of the user.
  public func status(app: AppSlug, claimID: ClaimID, user: UserID) throws(StoreFault) -> CheckoutStatus? {
    try connection.prepare(
      """
      SELECT p.receipt_id, p.state, p.reason, p.updated_at, p.context_id, p.observations
      FROM claims c JOIN purchases p ON p.row_id = c.purchase_row
      WHERE c.id = ?1 AND c.app = ?2 AND c.user_id = ?3
      """
    ).first([.text(claimID), .text(app), .text(user)], Self.status)
  }

  private static func summary(_ row: StoreRow, now: Timestamp) throws(StoreFault) -> ClaimSummary {
    let claim = try ClaimRow.claim(row)
    return ClaimSummary(
      claim: claim, app: try row.text(ClaimRow.count), receiptID: try row.text(ClaimRow.count + 1),
      objectID: try row.text(ClaimRow.count + 2), state: claim.state(at: now))
  }
}
