// The writer's statements on `events`. The writer's thread.

internal import Domain

final class EventRows {
  private let existing: StoreStatement
  private let inserting: StoreStatement
  private let moving: StoreStatement
  private let byRow: StoreStatement
  private let updating: StoreStatement
  private let ofPurchase: StoreStatement
  /// The ids that the open transaction has looked for, and whether there is such an event; nil for an engine
  /// that reads without a round trip.
  private var known: [EventPlace: Bool]?

  /// An event's id at its app and processor.
  private struct EventPlace: Hashable {
    var app: AppSlug
    var processor: ProcessorName
    var id: EventID
  }

  init(_ connection: StoreConnection) throws(StoreFault) {
    known = connection.engine.readAhead == nil ? nil : [:]
    ofPurchase = try connection.prepare("SELECT 1 FROM events WHERE purchase_row = ?1 LIMIT 1")
    existing = try connection.prepare(
      "SELECT 1 FROM events WHERE event_id = ?1 AND app = ?2 AND processor = ?3")
    inserting = try connection.prepare(
      """
      INSERT INTO events (app, processor, event_id, type, outcome, received_at, purchase_row, body, is_hint,
        dictionary)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
      """)
    moving = try connection.prepare(
      "UPDATE events SET purchase_row = ?2, outcome = ?3 WHERE purchase_row = ?1")
    byRow = try connection.prepare("SELECT outcome, purchase_row, is_hint FROM events WHERE row_id = ?1")
    updating = try connection.prepare(
      "UPDATE events SET type = ?2, outcome = ?3, purchase_row = ?4 WHERE row_id = ?1")
  }

  func contains(id: EventID, app: AppSlug, processor: ProcessorName) throws(StoreFault) -> Bool {
    if let isThere = known?[EventPlace(app: app, processor: processor, id: id)] { return isThere }
    return try existing.first([.text(id), .text(app), .text(processor)]) { _ throws(StoreFault) in true }
      ?? false
  }

  /// Called at the start of a transaction, and after a change that is not known row by row.
  func forgetKnown() { known?.removeAll(keepingCapacity: true) }

  func reads(ids: Set<EventID>) -> [BulkRead] {
    [BulkRead("event_id, app, processor", of: "events", where: "event_id", in: ids.map { .text($0) })]
  }

  /// Notes the declared events that are being read. `add` follows for those that are found.
  func expect(_ keys: Set<ReadKey>) {
    guard known != nil else { return }
    for case .event(let app, let processor, let id) in keys {
      known?[EventPlace(app: app, processor: processor, id: id)] = false
    }
  }

  /// Notes a row that was read ahead.
  func add(_ row: StoreRow) throws(StoreFault) {
    known?[EventPlace(app: try row.text(1), processor: try row.text(2), id: try row.text(0))] = true
  }

  /// Whether an event names this purchase.
  func hasAny(ofPurchase row: PurchaseRowID) throws(StoreFault) -> Bool {
    try ofPurchase.first([.integer(row)]) { _ throws(StoreFault) in true } ?? false
  }

  func insert(
    _ event: IngestEvent, outcome: EventOutcome, purchaseRow: PurchaseRowID?, at now: Timestamp
  ) throws(StoreFault) {
    try inserting.run([
      .text(event.app), .text(event.processor), .text(event.eventID), .text(event.type),
      .text(outcome.rawValue),
      .time(now), .optional(purchaseRow), .blob(event.body.bytes),
      .flag(event.isHint), .optional(event.body.dictionary),
    ])
    known?[EventPlace(app: event.app, processor: event.processor, id: event.eventID)] = true
  }

  /// Updates a purchase's events after two rows were merged, or after it got a receipt.
  /// - Parameter new: nil if they belong to no purchase.
  func reassign(from old: PurchaseRowID, to new: PurchaseRowID?, outcome: EventOutcome) throws(StoreFault) {
    try moving.run([.integer(old), .optional(new), .text(outcome.rawValue)])
  }

  /// The outcome of the event in a row; nil if there is none.
  func find(
    row: EventRowID
  ) throws(StoreFault) -> (outcome: EventOutcome, purchaseRow: PurchaseRowID?, isHint: Bool)? {
    try byRow.first([.integer(row)]) { row throws(StoreFault) in
      (EventOutcome(rawValue: try row.text(0)) ?? .unparsed, row.optionalInteger(1), row.flag(2))
    }
  }

  /// Updates an event that was read again.
  func update(
    row: EventRowID, type: String, outcome: EventOutcome, purchaseRow: PurchaseRowID?
  ) throws(StoreFault) {
    try updating.run([
      .integer(row), .text(type), .text(outcome.rawValue), .optional(purchaseRow),
    ])
  }
}
