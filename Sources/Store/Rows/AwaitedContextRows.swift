// The contexts that events named before they were posted: an app that cannot reach the relay opens the
// checkout page with an id that it made, and posts the context later. The writer's thread.

internal import Domain

final class AwaitedContextRows {
  /// A purchase that named a context.
  struct Awaiting {
    var row: PurchaseRowID
    var source: Purchase.ContextSource
  }

  private let adding: StoreStatement
  private let finding: StoreStatement
  private let ofPurchase: StoreStatement
  private let removing: StoreStatement
  private let moving: StoreStatement
  private let dropping: StoreStatement
  private let deleting: StoreStatement
  /// What the open transaction has looked for; nil for an engine that reads without a round trip.
  private var asked: [ContextID: [(app: AppSlug, awaiting: Awaiting)]]?

  init(_ connection: StoreConnection) throws(StoreFault) {
    asked = connection.engine.readAhead == nil ? nil : [:]
    adding = try connection.prepare(
      """
      INSERT INTO awaited_contexts (context_id, app, purchase_row, source, until) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (context_id, app, purchase_row) DO NOTHING
      """)
    finding = try connection.prepare(
      """
      SELECT purchase_row, source FROM awaited_contexts WHERE context_id = ?1 AND app = ?2
      ORDER BY purchase_row
      """)
    ofPurchase = connection.prepareOnUse(
      "SELECT context_id, source FROM awaited_contexts WHERE purchase_row = ?1 ORDER BY source, context_id")
    removing = try connection.prepare("DELETE FROM awaited_contexts WHERE context_id = ?1 AND app = ?2")
    moving = try connection.prepare(
      """
      INSERT INTO awaited_contexts (context_id, app, purchase_row, source, until)
        SELECT context_id, app, ?2, source, until FROM awaited_contexts WHERE purchase_row = ?1
      ON CONFLICT (context_id, app, purchase_row) DO NOTHING
      """)
    dropping = try connection.prepare("DELETE FROM awaited_contexts WHERE purchase_row = ?1")
    deleting = try connection.prepare(
      """
      DELETE FROM awaited_contexts WHERE (context_id, app, purchase_row) IN
        (SELECT context_id, app, purchase_row FROM awaited_contexts WHERE until < ?1 ORDER BY until LIMIT ?2)
      """)
  }

  /// Notes that a purchase named a context that is not stored.
  /// - Parameter until: when the context cannot be posted any more.
  func add(
    _ id: ContextID, app: AppSlug, row: PurchaseRowID, source: Purchase.ContextSource, until: Timestamp
  ) throws(StoreFault) {
    try adding.run([.text(id), .text(app), .integer(row), .integer(source.rawValue), .time(until)])
    forgetKnown()
  }

  /// The purchases that named a context, in the order in which they were first reported.
  func find(_ id: ContextID, app: AppSlug) throws(StoreFault) -> [Awaiting] {
    if let asked = asked?[id] {
      return asked.filter { $0.app == app }.map(\.awaiting).sorted { $0.row < $1.row }
    }
    return try finding.all([.text(id), .text(app)]) { row throws(StoreFault) in
      Awaiting(row: row.integer(0), source: Self.source(row.integer(1)))
    }
  }

  /// The contexts that a purchase named, the most certain first.
  func find(
    namedBy row: PurchaseRowID
  ) throws(StoreFault) -> [(id: ContextID, source: Purchase.ContextSource)] {
    try ofPurchase.all([.integer(row)]) { row throws(StoreFault) in
      (try row.text(0), Self.source(row.integer(1)))
    }
  }

  private static func source(_ number: Int64) -> Purchase.ContextSource {
    Purchase.ContextSource(rawValue: number) ?? .reference
  }

  /// Forgets who named a context, because it is stored now.
  func remove(_ id: ContextID, app: AppSlug) throws(StoreFault) {
    try removing.run([.text(id), .text(app)])
    forgetKnown()
  }

  /// A purchase is merged into another one.
  func move(from old: PurchaseRowID, to new: PurchaseRowID) throws(StoreFault) {
    try moving.run([.integer(old), .integer(new)])
    try drop(row: old)
  }

  /// Forgets what a purchase named.
  func drop(row: PurchaseRowID) throws(StoreFault) {
    try dropping.run([.integer(row)])
    forgetKnown()
  }

  /// Deletes names of contexts that cannot be posted any more.
  /// - Returns: how many were deleted.
  func delete(before now: Timestamp, limit: Int64) throws(StoreFault) -> Int64 {
    Int64(try deleting.count([.time(now), .integer(limit)]))
  }

  /// Called at the start of a transaction, and after a change.
  func forgetKnown() { asked?.removeAll(keepingCapacity: true) }

  func reads(ids: Set<ContextID>) -> [BulkRead] {
    [
      BulkRead(
        "context_id, app, purchase_row, source", of: "awaited_contexts", where: "context_id",
        in: ids.map { .text($0) })
    ]
  }

  /// Notes that these are being read. `add` follows for those that are found.
  func expect(ids: Set<ContextID>) {
    guard asked != nil else { return }
    for id in ids { asked?[id] = [] }
  }

  /// Notes a row that was read ahead.
  func add(_ row: StoreRow) throws(StoreFault) {
    let awaiting = Awaiting(row: row.integer(2), source: Self.source(row.integer(3)))
    asked?[try row.text(0), default: []].append((try row.text(1), awaiting))
  }
}
