// The writer's statements on `contexts`. The writer's thread.

internal import Domain

/// A context as stored.
struct ContextRecord {
  var id: ContextID
  var userID: UserID
  var blob: ContextBlob
  var receivedAt: Timestamp
  /// When its blob was last posted; guesses use this time.
  var postedAt: Timestamp
  var expiresAt: Timestamp
  /// The purchase that claimed it. 0 if that purchase released it after the same blob was posted again: the
  /// later post replaces it.
  var purchaseRow: PurchaseRowID?

  func isFree(for row: PurchaseRowID) -> Bool { purchaseRow == nil || purchaseRow == 0 || purchaseRow == row }

  /// Whether no purchase has it, and no later post of the same blob replaces it.
  var isUnused: Bool { purchaseRow == nil }

  /// The context as a candidate for a guess.
  var candidate: Join.Candidate { Join.Candidate(id: id, blob: blob, receivedAt: postedAt) }
}

final class ContextRows {
  /// The maximum number of a user's unused contexts, newest first, that a guess considers.
  static let candidatesMax: Int64 = 200

  private let byID: StoreStatement
  private let repeated: StoreStatement
  private let candidates: StoreStatement
  private let sameBlob: StoreStatement
  private let ofUser: StoreStatement
  private let inserting: StoreStatement
  private let posting: StoreStatement
  private let claiming: StoreStatement
  private let releasing: StoreStatement
  private let moving: StoreStatement

  private static let columns =
    "id, user_id, ply_context, price_id, received_at, expires_at, purchase_row, posted_at"

  init(_ connection: StoreConnection) throws(StoreFault) {
    let select = "SELECT \(Self.columns) FROM contexts"
    byID = try connection.prepare("\(select) WHERE id = ?1 AND app = ?2")
    repeated = try connection.prepare(
      "\(select) WHERE app = ?1 AND user_id = ?2 AND digest = ?3 AND purchase_row IS NULL")
    candidates = try connection.prepare(
      """
      SELECT id, ply_context, price_id, posted_at FROM contexts
      WHERE app = ?1 AND user_id = ?2 AND posted_at >= ?3 AND purchase_row IS NULL
      ORDER BY posted_at DESC LIMIT ?4
      """)
    ofUser = try connection.prepare(
      "\(select) WHERE app = ?1 AND user_id = ?2 ORDER BY posted_at DESC LIMIT ?3")
    sameBlob = try connection.prepare(
      """
      SELECT \(Self.columns) FROM (
        SELECT * FROM contexts WHERE app = ?1 AND user_id = ?2 ORDER BY posted_at DESC LIMIT ?4)
      WHERE ply_context = ?3 AND purchase_row IS NOT 0
      """)
    inserting = try connection.prepare(
      """
      INSERT INTO contexts
        (id, app, user_id, ply_context, digest, price_id, received_at, posted_at, expires_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
      """)
    posting = try connection.prepare("UPDATE contexts SET posted_at = ?2, expires_at = ?3 WHERE id = ?1")
    // The condition on `purchase_row` keeps one context from getting two purchases, even if this program has
    // a fault (R5).
    claiming = try connection.prepare(
      "UPDATE contexts SET purchase_row = ?2 WHERE id = ?1 AND purchase_row IS ?3")
    // If the user posted the same blob again meanwhile, the later post replaces this context, which then
    // belongs to no purchase.
    releasing = try connection.prepare(
      """
      UPDATE contexts SET purchase_row =
        (SELECT 0 FROM contexts AS again
         WHERE again.app = contexts.app AND again.user_id = contexts.user_id
           AND again.digest = contexts.digest AND again.purchase_row IS NULL)
      WHERE id = ?1 AND purchase_row = ?2
      """)
    moving = try connection.prepare(
      "UPDATE contexts SET purchase_row = ?2 WHERE id = ?1 AND purchase_row = ?3")
  }

  private static func record(_ row: StoreRow) throws(StoreFault) -> ContextRecord {
    ContextRecord(
      id: try row.text(0), userID: try row.text(1),
      blob: ContextBlob(text: try row.text(2), priceID: try row.optionalText(3)),
      receivedAt: Timestamp(unixMilliseconds: row.integer(4)),
      postedAt: Timestamp(unixMilliseconds: row.integer(7)),
      expiresAt: Timestamp(unixMilliseconds: row.integer(5)), purchaseRow: row.optionalInteger(6))
  }

  func find(app: AppSlug, id: ContextID) throws(StoreFault) -> ContextRecord? {
    try byID.first([.text(id), .text(app)], Self.record)
  }

  /// The user's unused context with this blob.
  func unused(app: AppSlug, user: UserID, digest: [UInt8]) throws(StoreFault) -> ContextRecord? {
    try repeated.first([.text(app), .text(user), .blob(digest)], Self.record)
  }

  /// The user's contexts with the blob that was in an event, unused ones first.
  func posted(app: AppSlug, user: UserID, blob: String) throws(StoreFault) -> [ContextRecord] {
    let posted = try sameBlob.all(
      [.text(app), .text(user), .text(blob), .integer(Self.candidatesMax)], Self.record)
    return posted.filter(\.isUnused) + posted.filter { !$0.isUnused }
  }

  /// The user's newest contexts, used or unused.
  func newest(app: AppSlug, user: UserID) throws(StoreFault) -> [ContextRecord] {
    try ofUser.all([.text(app), .text(user), .integer(Self.candidatesMax)], Self.record)
  }

  /// The user's unused contexts, newest first.
  func candidates(app: AppSlug, user: UserID, since: Timestamp) throws(StoreFault) -> [Join.Candidate] {
    try candidates.all([.text(app), .text(user), .time(since), .integer(Self.candidatesMax)]) {
      row throws(StoreFault) in
      Join.Candidate(
        id: try row.text(0), blob: ContextBlob(text: try row.text(1), priceID: try row.optionalText(2)),
        receivedAt: Timestamp(unixMilliseconds: row.integer(3)))
    }
  }

  func insert(app: AppSlug, _ record: ContextRecord, digest: [UInt8]) throws(StoreFault) {
    try inserting.run([
      .text(record.id), .text(app), .text(record.userID), .text(record.blob.text), .blob(digest),
      .optional(record.blob.priceID), .time(record.receivedAt), .time(record.expiresAt),
    ])
  }

  /// Records that the same blob was posted again: the context is as recent as a new one.
  func post(id: ContextID, at now: Timestamp, expiresAt: Timestamp) throws(StoreFault) {
    try posting.run([.text(id), .time(now), .time(expiresAt)])
  }

  /// - Parameter old: the value of `ContextRecord.purchaseRow` when the context was read.
  /// - Throws: `constraint` if another purchase has it now.
  func claim(id: ContextID, for row: PurchaseRowID, from old: PurchaseRowID?) throws(StoreFault) {
    try claiming.changeOne([.text(id), .integer(row), .optional(old)], for: "claim a context")
  }

  /// Marks it as unused, unless another purchase has claimed it meanwhile.
  func release(id: ContextID, by row: PurchaseRowID) throws(StoreFault) {
    try releasing.run([.text(id), .integer(row)])
  }

  func move(id: ContextID, from old: PurchaseRowID, to new: PurchaseRowID) throws(StoreFault) {
    try moving.run([.text(id), .integer(new), .integer(old)])
  }
}
