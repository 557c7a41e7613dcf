// The events that say what a customer bought. One thread.

public import Domain

extension StoreReader {
  /// The events of a purchase that are looked at: those of the checkout are the first ones.
  private static let summaryEventsMax = 20
  /// The bodies that are read: the sessions', and before them the first ones of the subscription.
  private static let summaryBodiesMax = 6
  /// The longest body that is read, in bytes, stored and after it was expanded; those of checkouts have a few
  /// thousand.
  private static let summaryBodyBytesMax = 64 << 10

  /// Reads no body, because a purchase may have many.
  static let summarySQL = """
    SELECT e.row_id, e.processor, e.type FROM events e
    WHERE e.purchase_row = ?1 AND length(e.body) <= ?2
    ORDER BY e.row_id LIMIT ?3
    """

  /// The first bodies of a receipt's purchase that can say what was bought; none for a receipt of another
  /// app. Anyone who knows a checkout's id can have this read, so it is a few rows by index.
  /// - Parameter isWanted: whether events of a processor and a type can say it.
  public func summaryBodies(
    ofReceipt id: ReceiptID, app: AppSlug, isWanted: (ProcessorName, _ type: String) -> Bool
  ) throws(StoreFault) -> [(processor: ProcessorName, body: [UInt8])] {
    guard let row = id.purchaseRow,
      let purchase = try connection.prepare("SELECT receipt_id, app FROM purchases WHERE row_id = ?1")
        .first(
          [.integer(row)],
          { row throws(StoreFault) in
            (id: try row.optionalText(0) as ReceiptID?, app: try row.text(1) as AppSlug)
          }), purchase.id == id, purchase.app == app
    else { return [] }
    let values: [StoreValue] = [
      .integer(row), .integer(Int64(Self.summaryBodyBytesMax)), .integer(Int64(Self.summaryEventsMax)),
    ]
    let events = try connection.prepare(Self.summarySQL).all(values) { row throws(StoreFault) in
      (
        row: row.integer(0) as EventRowID, processor: try row.text(1) as ProcessorName,
        type: try row.text(2) as String
      )
    }
    var bodies: [(processor: ProcessorName, body: [UInt8])] = []
    for event in events where bodies.count < Self.summaryBodiesMax && isWanted(event.processor, event.type) {
      guard let body = try body(ofEvent: event.row), body.count <= Self.summaryBodyBytesMax else { continue }
      bodies.append((event.processor, body))
    }
    return bodies
  }
}
