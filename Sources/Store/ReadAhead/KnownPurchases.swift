// The purchases that the open transaction has read, for an engine whose reads cost a round trip. The writer's
// thread.

internal import Domain

/// What is known of the rows of `purchases`. Other programs do not change them until the transaction ends.
struct KnownPurchases {
  /// By row; nil for a row that does not exist.
  private var byRow: [PurchaseRowID: PurchaseRecord?] = [:]
  /// The rows with an object's id, in all apps; complete for each id.
  private var byObject: [ObjectID: Set<PurchaseRowID>] = [:]

  /// nil if the row was not read; a nil inside if it does not exist.
  subscript(row: PurchaseRowID) -> PurchaseRecord?? { byRow[row] }

  /// The purchases with an object's id; nil if they were not read.
  subscript(object: ObjectID) -> [PurchaseRecord]? {
    byObject[object]?.compactMap { byRow[$0] ?? nil }
  }

  var count: Int { byRow.count }

  func isKnown(_ row: PurchaseRowID) -> Bool { byRow[row] != nil }

  /// Notes that these rows and objects were looked for. `add` follows for those that were found.
  mutating func expect(rows: Set<PurchaseRowID>, objects: Set<ObjectID>) {
    for row in rows where byRow[row] == nil { byRow[row] = .some(nil) }
    for object in objects where byObject[object] == nil { byObject[object] = [] }
  }

  /// Notes a row that was read or changed.
  mutating func add(_ record: PurchaseRecord) {
    if let old = byRow[record.rowID] ?? nil, old.purchase.key.id != record.purchase.key.id {
      byObject[old.purchase.key.id]?.remove(record.rowID)
    }
    byRow[record.rowID] = record
    byObject[record.purchase.key.id]?.insert(record.rowID)
  }

  /// Forgets a row and its object: who needs it reads it again.
  mutating func forget(_ row: PurchaseRowID, of object: ObjectID) {
    byRow[row] = nil
    byObject[object] = nil
  }

  /// Notes the result of a search by row.
  mutating func note(_ record: PurchaseRecord?, row: PurchaseRowID) {
    if let record { add(record) } else { byRow[row] = .some(nil) }
  }

  mutating func remove(_ record: PurchaseRecord) {
    byRow[record.rowID] = .some(nil)
    byObject[record.purchase.key.id]?.remove(record.rowID)
  }

  /// Forgets everything: at the start of a transaction, and after a change that is not known row by row.
  mutating func removeAll() {
    byRow.removeAll(keepingCapacity: true)
    byObject.removeAll(keepingCapacity: true)
  }
}
