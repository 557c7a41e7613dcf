// The writer's statements on `contexts`. The writer's thread.

internal import Cryptography
internal import Domain

/// A context as stored.
struct ContextRecord {
  var id: ContextID
  var app: AppSlug
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

/// What is known of a context without its blob.
struct ContextHead {
  var app: AppSlug
  var user: UserID
  /// Of the blob.
  var digest: [UInt8]
  var receivedAt: Timestamp
  var expiresAt: Timestamp
}

final class ContextRows {
  /// How many of a user's newest contexts are looked at: a client may post any number.
  static let candidatesMax = 200

  let keys: any KeyIndex
  let readAhead: (any ReadAhead)?
  /// What the open transaction has read; nil for an engine that reads without a round trip.
  var known: KnownContexts?
  private let joins: JoinRows
  private let byID: StoreStatement
  private let byRow: StoreStatement
  private let heading: StoreStatement
  private let newestRow: StoreStatement
  private let inserting: StoreStatement
  private let posting: StoreStatement
  private let claiming: StoreStatement
  private let moving: StoreStatement
  /// The row of the next context; nil until the open transaction needs it.
  private var nextRow: Int64?

  static let columns =
    "id, app, user_id, ply_context, price_id, received_at, expires_at, purchase_row, posted_at, frame, "
    + "dictionary"

  /// A context's text: in its own column, or in a frame.
  static func text(_ row: StoreRow, at column: Int, frame: Int) throws(StoreFault) -> String {
    guard !row.isNull(frame) else { return try row.text(column) }
    return String(decoding: try StoredBody(row, at: frame, frame + 1).read(), as: UTF8.self)
  }

  init(_ connection: StoreConnection, joins: JoinRows) throws(StoreFault) {
    keys = connection.engine.keys
    readAhead = connection.engine.readAhead
    known = readAhead == nil ? nil : KnownContexts()
    self.joins = joins
    let select = "SELECT \(Self.columns) FROM contexts"
    byID = try connection.prepare("\(select) WHERE id = ?1 AND app = ?2")
    byRow = try connection.prepare("\(select) WHERE row_id = ?1")
    heading = try connection.prepare(
      "SELECT app, user_id, digest, received_at, expires_at FROM contexts WHERE id = ?1")
    newestRow = try connection.prepare("SELECT max(row_id) FROM contexts")
    inserting = try connection.prepare(
      """
      INSERT INTO contexts
        (row_id, id, app, user_id, ply_context, digest, price_id, received_at, posted_at, expires_at, frame,
          dictionary)
      VALUES (?9, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?10, ?11)
      """)
    posting = try connection.prepare("UPDATE contexts SET posted_at = ?2, expires_at = ?3 WHERE id = ?1")
    // The condition on `purchase_row` keeps one context from getting two purchases, even if this program has
    // a fault (R5).
    claiming = try connection.prepare(
      "UPDATE contexts SET purchase_row = ?2 WHERE id = ?1 AND purchase_row IS ?3")
    moving = try connection.prepare(
      "UPDATE contexts SET purchase_row = ?2 WHERE id = ?1 AND purchase_row = ?3")
  }

  /// Called at the start of a transaction: another process may have added contexts.
  func begin() {
    nextRow = nil
  }

  /// Called after a change that is not known row by row.
  func forgetKnown() { known?.removeAll() }

  func record(_ row: StoreRow) throws(StoreFault) -> ContextRecord {
    ContextRecord(
      id: try row.text(0), app: try row.text(1), userID: try row.text(2),
      blob: ContextBlob(text: try Self.text(row, at: 3, frame: 9), priceID: try row.optionalText(4)),
      receivedAt: Timestamp(unixMilliseconds: row.integer(5)),
      postedAt: Timestamp(unixMilliseconds: row.integer(8)),
      expiresAt: Timestamp(unixMilliseconds: row.integer(6)), purchaseRow: row.optionalInteger(7))
  }

  func find(app: AppSlug, id: ContextID) throws(StoreFault) -> ContextRecord? {
    if let found = known?[id] { return found.flatMap { $0.app == app ? $0 : nil } }
    return try byID.first([.text(id), .text(app)], record)
  }

  /// What is known of a context without its blob.
  private struct Head {
    var purchaseRow: PurchaseRowID?
    var postedAt: Timestamp

    var isUnused: Bool { purchaseRow == nil }
  }

  /// The contexts of a user with a key that meet a condition, newest first.
  ///
  /// One whose blob cannot be decompressed is left out: the user's purchases must not wait for a repair of
  /// the database, and a receipt without a guessed context is allowed (R5).
  private func contexts(
    _ key: RowKey, of user: UserID, app: AppSlug, where isWanted: (Head) -> Bool
  ) throws(StoreFault) -> [ContextRecord] {
    var found: [ContextRecord] = []
    let rows = try keys.rows(key, limit: Self.candidatesMax)
    try load(rows)
    for row in rows {
      if let known = known?[row] {
        guard let record = known, record.userID == user, record.app == app else { continue }
        if isWanted(Head(purchaseRow: record.purchaseRow, postedAt: record.postedAt)) { found.append(record) }
        continue
      }
      let read = try byRow.first([.integer(row)]) { row throws(StoreFault) -> ContextRecord? in
        guard try row.text(2) == user, try row.text(1) == app else { return nil }
        let head = Head(
          purchaseRow: row.optionalInteger(7), postedAt: Timestamp(unixMilliseconds: row.integer(8)))
        guard isWanted(head) else { return nil }
        do throws(StoreFault) {
          return try record(row)
        } catch {
          guard error.kind == .corrupt else { throw error }
          return nil
        }
      }
      if let record = read ?? nil { found.append(record) }
    }
    return found
  }

  /// Whether a user has posted a context to an app that is still stored.
  func have(app: AppSlug, user: UserID) throws(StoreFault) -> Bool {
    let rows = try keys.rows(RowKey(.contextUser, user, app: app), limit: Self.candidatesMax)
    for row in rows {
      if let known = known?[row] {
        if let record = known, record.userID == user, record.app == app { return true }
        continue
      }
      let isOfUser = try byRow.first([.integer(row)]) { row throws(StoreFault) in
        let (place, owner): (AppSlug, UserID) = (try row.text(1), try row.text(2))
        return place == app && owner == user
      }
      if isOfUser == true { return true }
    }
    return false
  }

  /// The user's unused context with this blob.
  /// - Parameter digest: of the blob.
  func unused(
    app: AppSlug, user: UserID, blob: String, digest: [UInt8]
  ) throws(StoreFault) -> ContextRecord? {
    try contexts(RowKey(contextOf: user, digest: digest, app: app), of: user, app: app, where: \.isUnused)
      .first { $0.blob.text == blob }
  }

  /// The user's contexts with the blob that was in an event, unused ones first.
  func posted(app: AppSlug, user: UserID, blob: String) throws(StoreFault) -> [ContextRecord] {
    let key = RowKey(contextOf: user, digest: SHA256.digest(blob.utf8.span), app: app)
    let posted = try contexts(key, of: user, app: app) { $0.purchaseRow != 0 }.filter { record in
      record.blob.text == blob
    }
    return posted.filter(\.isUnused) + posted.filter { !$0.isUnused }
  }

  /// The user's newest contexts by their first post, used or unused, in the order of their last post.
  func newest(app: AppSlug, user: UserID) throws(StoreFault) -> [ContextRecord] {
    try newest(app: app, user: user) { _ in true }
  }

  private func newest(
    app: AppSlug, user: UserID, where isWanted: (Head) -> Bool
  ) throws(StoreFault) -> [ContextRecord] {
    try contexts(RowKey(.contextUser, user, app: app), of: user, app: app, where: isWanted)
      .sorted { $0.postedAt > $1.postedAt }
  }

  /// The user's unused contexts, newest first.
  func candidates(app: AppSlug, user: UserID, since: Timestamp) throws(StoreFault) -> [ContextRecord] {
    try newest(app: app, user: user) { $0.isUnused && $0.postedAt >= since }
  }

  /// - Parameter frame: the blob compressed; nil if it is stored as a text.
  func insert(_ record: ContextRecord, digest: [UInt8], frame: StoredBody?) throws(StoreFault) {
    let row = try makeRow()
    let text = frame == nil ? record.blob.text : ""
    try inserting.run([
      .text(record.id), .text(record.app), .text(record.userID), .text(text), .blob(digest),
      .optional(record.blob.priceID), .time(record.receivedAt), .time(record.expiresAt), .integer(row),
      .optional(frame?.bytes), .optional(frame?.dictionary),
    ])
    known?.add(record, row: row)
    joins.count(.received, 1, app: record.app, receivedAt: record.receivedAt)
    joins.count(.unclaimed, 1, app: record.app, receivedAt: record.receivedAt)
    for key in RowKey.keys(app: record.app, contextOf: record.userID, digest: digest) {
      try keys.add(key, row: row)
    }
  }

  private func makeRow() throws(StoreFault) -> Int64 {
    if let readAhead { return try readAhead.makeRow(.contexts) }
    let row: Int64
    if let nextRow {
      row = nextRow
    } else {
      row = try (newestRow.first { row throws(StoreFault) in row.integer(0) } ?? 0) + 1
    }
    nextRow = row + 1
    return row
  }

  /// Records that the same blob was posted again: the context is as recent as a new one.
  func post(id: ContextID, at now: Timestamp, expiresAt: Timestamp) throws(StoreFault) {
    try posting.run([.text(id), .time(now), .time(expiresAt)])
    known?.change(id) { ($0.postedAt, $0.expiresAt) = (now, expiresAt) }
  }

  /// - Parameter context: as it was read.
  /// - Throws: `constraint` if another purchase has it now.
  func claim(_ context: ContextRecord, for row: PurchaseRowID) throws(StoreFault) {
    try set(context, to: row, for: "claim a context")
  }

  /// Changes the purchase of a context.
  private func set(
    _ context: ContextRecord, to row: PurchaseRowID?, for operation: String
  ) throws(StoreFault) {
    try claiming.changeOne(
      [.text(context.id), .optional(row), .optional(context.purchaseRow)], for: operation)
    known?.change(context.id) { $0.purchaseRow = row }
    let change: Int64 = (row == nil ? 1 : 0) - (context.isUnused ? 1 : 0)
    joins.count(.unclaimed, change, app: context.app, receivedAt: context.receivedAt)
  }

  /// Marks an unused context as replaced by a later post of the same blob: only a name gets it.
  func replace(_ context: ContextRecord) throws(StoreFault) {
    try set(context, to: 0, for: "replace a context")
  }

  /// Whose a context is, in any app; nil if there is none.
  func head(of id: ContextID) throws(StoreFault) -> ContextHead? {
    if let found = known?[id] {
      return found.map {
        ContextHead(
          app: $0.app, user: $0.userID, digest: SHA256.digest($0.blob.text.utf8.span),
          receivedAt: $0.receivedAt, expiresAt: $0.expiresAt)
      }
    }
    return try heading.first([.text(id)]) { row throws(StoreFault) in
      ContextHead(
        app: try row.text(0), user: try row.text(1), digest: row.blob(2),
        receivedAt: Timestamp(unixMilliseconds: row.integer(3)),
        expiresAt: Timestamp(unixMilliseconds: row.integer(4)))
    }
  }

  /// Marks it as unused, unless another purchase has claimed it meanwhile. If the user posted the same blob
  /// again meanwhile, the later post replaces this context, which then belongs to no purchase.
  func release(id: ContextID, by row: PurchaseRowID) throws(StoreFault) {
    guard let key = try head(of: id), let context = try find(app: key.app, id: id), context.purchaseRow == row
    else { return }
    let again = try unused(app: key.app, user: key.user, blob: context.blob.text, digest: key.digest)
    try set(context, to: again == nil ? nil : 0, for: "release a context")
  }

  func move(id: ContextID, from old: PurchaseRowID, to new: PurchaseRowID) throws(StoreFault) {
    try moving.run([.text(id), .integer(new), .integer(old)])
    known?.change(id) { if $0.purchaseRow == old { $0.purchaseRow = new } }
  }
}

// MARK: - Known

// Contexts in memory for the length of a transaction. The writer's thread.

extension ContextRows {
  private static let readColumns = columns + ", row_id"

  /// A context in any app, from what is known.
  func find(id: ContextID) throws(StoreFault) -> ContextRecord? { (known?[id] ?? nil) ?? nil }

  /// Reads the rows that are not known yet, in one round trip; only for an engine that reads ahead.
  func load(_ rows: [Int64]) throws(StoreFault) {
    guard known != nil, let readAhead else { return }
    let rows = unknown(Set(rows))
    let reads = reads(rows: rows)
    expect(ids: [], rows: rows)
    try readAhead.read(reads) { _, row throws(StoreFault) in try add(row) }
  }

  /// Those of these rows that are not known.
  func unknown(_ rows: Set<Int64>) -> Set<Int64> { rows.filter { !(known?.isKnown($0) ?? true) } }

  func reads(ids: Set<ContextID>) -> [BulkRead] {
    [BulkRead(Self.readColumns, of: "contexts", where: "id", in: ids.map { .text($0) })]
  }

  func reads(rows: Set<Int64>) -> [BulkRead] {
    [BulkRead(Self.readColumns, of: "contexts", where: "row_id", in: rows.map { .integer($0) })]
  }

  /// Notes that these are being read. `add` follows for those that are found.
  func expect(ids: Set<ContextID>, rows: Set<Int64>) { known?.expect(rows: rows, ids: ids) }

  /// Notes a row that was read ahead. One whose blob cannot be decompressed is left out, as in `contexts`.
  func add(_ row: StoreRow) throws(StoreFault) {
    do throws(StoreFault) {
      known?.add(try record(row), row: row.integer(11))
    } catch {
      guard error.kind == .corrupt else { throw error }
      known?.addUnreadable(try row.text(0), row: row.integer(11))
    }
  }
}
