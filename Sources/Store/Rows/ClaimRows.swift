// The writer's statements on `claims`. Claims are rare, so each statement is prepared on its first use. The
// writer's thread, except for `ClaimHash`.

internal import Domain

/// The keyed hash of a token, by which its claim is found.
enum ClaimHash {
  static let keyBytes = 32
  static let readingKeySQL = "SELECT key FROM claim_key WHERE row_id = 1"

  static func bytes(of token: ClaimToken, app: AppSlug, key: [UInt8]) throws(StoreFault) -> [UInt8] {
    try ErasureHash(key: key).bytes(of: token.text, app: app)
  }
}

/// The columns of a `Claim`.
enum ClaimRow {
  static let columns = "c.id, c.origin, c.actor, c.offered_at, c.expires_at, c.ended_at, c.user_id"
  static let count = 7

  static func claim(_ row: StoreRow) throws(StoreFault) -> Claim {
    Claim(
      id: try row.text(0), origin: ClaimOrigin(rawValue: try row.text(1)) ?? .operator,
      actor: try row.optionalText(2), offeredAt: Timestamp(unixMilliseconds: row.integer(3)),
      expiresAt: Timestamp(unixMilliseconds: row.integer(4)), endedAt: row.timestamp(5),
      userID: try row.optionalText(6))
  }
}

final class ClaimRows {
  private let readingKey: StoreStatement
  private let insertingKey: StoreStatement
  private let byHash: StoreStatement
  private let byID: StoreStatement
  private let openOfPurchase: StoreStatement
  private let inserting: StoreStatement
  private let claiming: StoreStatement
  private let revoking: StoreStatement
  private let revokingAll: StoreStatement
  private let moving: StoreStatement
  private let dropping: StoreStatement
  private let ofUser: StoreStatement
  private let hashing: StoreStatement

  init(_ connection: StoreConnection) {
    readingKey = connection.prepareOnUse(ClaimHash.readingKeySQL)
    insertingKey = connection.prepareOnUse(
      "INSERT INTO claim_key (row_id, key) VALUES (1, ?1) ON CONFLICT DO NOTHING")
    let select = "SELECT \(ClaimRow.columns), c.purchase_row FROM claims c"
    byHash = connection.prepareOnUse("\(select) WHERE c.hash = ?1 AND c.app = ?2")
    byID = connection.prepareOnUse("\(select) WHERE c.id = ?1")
    openOfPurchase = connection.prepareOnUse(
      "SELECT count(*) FROM claims WHERE purchase_row = ?1 AND ended_at IS NULL AND expires_at > ?2")
    inserting = connection.prepareOnUse(
      """
      INSERT INTO claims (id, hash, app, purchase_row, origin, actor, offered_at, expires_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """)
    claiming = connection.prepareOnUse(
      "UPDATE claims SET user_id = ?2, ended_at = ?3 WHERE id = ?1 AND ended_at IS NULL")
    revoking = connection.prepareOnUse("UPDATE claims SET ended_at = ?2 WHERE id = ?1 AND ended_at IS NULL")
    revokingAll = connection.prepareOnUse(
      "UPDATE claims SET ended_at = ?2 WHERE purchase_row = ?1 AND ended_at IS NULL")
    moving = connection.prepareOnUse("UPDATE claims SET purchase_row = ?2 WHERE purchase_row = ?1")
    dropping = connection.prepareOnUse("DELETE FROM claims WHERE purchase_row = ?1")
    ofUser = connection.prepareOnUse("SELECT id FROM claims WHERE user_id = ?1 AND app = ?2 LIMIT ?3")
    hashing = connection.prepareOnUse("UPDATE claims SET user_id = ?2 WHERE id = ?1")
  }

  private func key() throws(StoreFault) -> [UInt8]? {
    try readingKey.first([]) { row throws(StoreFault) in row.blob(0) }
  }

  /// Stores a claim.
  /// - Parameter makeKey: makes the key of the hashes, with the first claim.
  func add(
    _ claim: Claim, _ token: ClaimToken, to record: PurchaseRecord, makeKey: () -> [UInt8]
  ) throws(StoreFault) {
    // With a server, another relay may make the key at the same time.
    if try key() == nil { try insertingKey.run([.blob(makeKey())]) }
    guard let key = try key() else {
      throw StoreFault(.corrupt, operation: "read the key of claims", reason: "it was stored and is missing")
    }
    try inserting.run([
      .text(claim.id), .blob(try ClaimHash.bytes(of: token, app: record.app, key: key)), .text(record.app),
      .integer(record.rowID), .text(claim.origin.rawValue), .optional(claim.actor), .time(claim.offeredAt),
      .time(claim.expiresAt),
    ])
  }

  typealias Found = (claim: Claim, row: PurchaseRowID)

  private static func found(_ row: StoreRow) throws(StoreFault) -> Found {
    (try ClaimRow.claim(row), row.integer(ClaimRow.count))
  }

  /// The claim of a token; nil if an app has none.
  func find(_ token: ClaimToken, app: AppSlug) throws(StoreFault) -> Found? {
    guard let key = try key() else { return nil }
    return try byHash.first(
      [.blob(try ClaimHash.bytes(of: token, app: app, key: key)), .text(app)], Self.found)
  }

  func find(_ id: ClaimID) throws(StoreFault) -> Found? { try byID.first([.text(id)], Self.found) }

  /// How many claims of a purchase are open.
  func countOpen(_ row: PurchaseRowID, now: Timestamp) throws(StoreFault) -> Int {
    try openOfPurchase.first([.integer(row), .time(now)]) { row throws(StoreFault) in
      Int(clamping: row.integer(0))
    } ?? 0
  }

  /// - Throws: `constraint` if the claim has ended.
  func claim(_ id: ClaimID, by user: UserID, at now: Timestamp) throws(StoreFault) {
    try claiming.changeOne([.text(id), .text(user), .time(now)], for: "claim a purchase")
  }

  /// Revokes a claim; one that has ended does not change.
  /// - Returns: whether it was open or had only expired.
  func revoke(_ id: ClaimID, at now: Timestamp) throws(StoreFault) -> Bool {
    try revoking.count([.text(id), .time(now)]) == 1
  }

  /// Revokes the claims of a purchase that were not used.
  /// - Returns: how many.
  @discardableResult
  func revokeAll(_ row: PurchaseRowID, at now: Timestamp) throws(StoreFault) -> Int {
    try revokingAll.count([.integer(row), .time(now)])
  }

  /// Moves claims to the remaining row after two rows were merged.
  func move(from old: PurchaseRowID, to new: PurchaseRowID) throws(StoreFault) {
    try moving.run([.integer(old), .integer(new)])
  }

  /// Deletes the claims of an erased purchase.
  func drop(row: PurchaseRowID) throws(StoreFault) { try dropping.run([.integer(row)]) }

  /// Replaces a user by a hash in some of the claims that the user made.
  /// - Returns: how many; fewer than `limit` when none is left.
  func erase(app: AppSlug, user: UserID, limit: Int64, _ hash: ErasureHash) throws(StoreFault) -> Int {
    let ids: [ClaimID] = try ofUser.all([.text(user), .text(app), .integer(limit)]) {
      row throws(StoreFault) in try row.text(0)
    }
    for id in ids { try hashing.run([.text(id), .text(hash.token(user.text, app: app))]) }
    return ids.count
  }
}
