// Purchases in memory for the length of a transaction. The writer's thread.

internal import Domain

extension PurchaseRows {
  /// Reads the rows that are not known yet, in one round trip; only for an engine that reads ahead.
  func load(_ rows: [Int64]) throws(StoreFault) {
    guard known != nil, let readAhead else { return }
    let rows = unknown(Set(rows.map(PurchaseRowID.init)))
    let reads = reads(objects: [], rows: rows)
    expect(objects: [], rows: rows)
    try readAhead.read(reads) { _, row throws(StoreFault) in try add(row) }
  }

  /// Those of these rows that are not known.
  func unknown(_ rows: Set<PurchaseRowID>) -> Set<PurchaseRowID> {
    rows.filter { !(known?.isKnown($0) ?? true) }
  }

  func reads(objects: Set<ObjectID>, rows: Set<PurchaseRowID>) -> [BulkRead] {
    [
      BulkRead(PurchaseRow.columnList, of: "purchases", where: "object_id", in: objects.map { .text($0) }),
      BulkRead(PurchaseRow.columnList, of: "purchases", where: "row_id", in: rows.map { .integer($0) }),
    ]
  }

  /// Notes that these are being read. `add` follows for those that are found.
  func expect(objects: Set<ObjectID>, rows: Set<PurchaseRowID>) {
    known?.expect(rows: rows, objects: objects)
  }

  /// Notes a row that was read ahead. One that cannot be decoded fails only the command that needs it.
  func add(_ row: StoreRow) throws(StoreFault) {
    do throws(StoreFault) {
      known?.add(try PurchaseRow.record(row))
    } catch {
      guard error.kind == .corrupt else { throw error }
      // The order of `PurchaseRow.columns`.
      known?.forget(row.integer(0), of: try row.text(3))
    }
  }

  /// Called at the start of a transaction, and after a change that is not known row by row.
  func forgetKnown() {
    known?.removeAll()
    withoutContent = []
  }

  /// Notes a row as it is stored now.
  func note(_ record: PurchaseRecord) {
    if withoutContent.contains(record.rowID) {
      known?.forget(record.rowID, of: record.purchase.key.id)
    } else {
      known?.add(record)
    }
  }

  /// Whether there is a purchase with an object's id at a place; nil if that was not read.
  func knows(_ object: ObjectID, at place: AppProcessor) -> Bool? {
    known?[object].map { records in records.contains { $0.place == place } }
  }

  /// A user's purchases with an open guess, from what is known; nil if it has to be read.
  func knownOpenGuesses(app: AppSlug, user: UserID) throws(StoreFault) -> [PurchaseRecord]? {
    guard known != nil else { return nil }
    let rows = try keys.rows(RowKey(.user, user, app: app), limit: Self.candidatesMax)
    guard rows.count < Self.candidatesMax else { return nil }
    try load(rows)
    var found: [PurchaseRecord] = []
    for row in rows {
      guard let record = try find(row: PurchaseRowID(row)), record.app == app, record.purchase.userID == user,
        record.hasOpenGuess
      else { continue }
      found.append(record)
    }
    return Array(found.prefix(Self.relatedMax))
  }
}
