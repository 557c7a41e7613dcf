// The invariants of the store, which hold after every batch. Tests and the simulation check them; a release
// never does. Reads everything.

internal import Domain

extension StoreReader {
  /// The violated invariants: one sentence each.
  package func contradictions() throws(StoreFault) -> [String] {
    try connection.snapshot { () throws(StoreFault) in
      var found = try wrongCounts() + receiptContradictions() + missingKeys()
      for rule in Self.rules where try connection.integer(rule.counting) != 0 { found.append(rule.name) }
      return found
    }
  }

  /// Checks that every stored receipt satisfies the rules of its state, and that its id contains its row.
  private func receiptContradictions() throws(StoreFault) -> [String] {
    var found: [String] = []
    try connection.prepare("SELECT \(PurchaseRow.columnList) FROM purchases WHERE state IS NOT NULL")
      .forEach { row throws(StoreFault) in
        let record = try PurchaseRow.record(row)
        guard let receipt = record.receipt else { return }
        if let fault = receipt.contradiction { found.append("\(receipt.id) is \(receipt.state): \(fault)") }
        if receipt.id.purchaseRow != record.rowID {
          found.append("\(receipt.id) is in row \(record.rowID)")
        }
        let hasContent = receipt.body != nil && receipt.readyAt != nil
        if receipt.state == .pending, !hasContent { found.append("\(receipt.id) is ready without content") }
      }
    return found
  }

  /// Checks that every purchase and every context is found by each of its keys.
  private func missingKeys() throws(StoreFault) -> [String] {
    // All at once: to look for each would read the tail of the keys each time.
    let stored = try connection.engine.keys.entries(Int64.min...Int64.max)
    var found: [String] = []
    func check(_ keys: [RowKey], _ row: Int64) {
      for key in keys where !stored.contains(KeyedRow(number: key.number, row: row)) {
        found.append("row \(row) is not found by its \(key.kind)")
      }
    }
    try connection.prepare("SELECT \(PurchaseRow.columnList) FROM purchases").forEach {
      row throws(StoreFault) in
      let record = try PurchaseRow.record(row)
      check(record.keys, record.rowID.number)
      if PurchaseRow.flags(row) != [record.purchase.userConflict, record.isUnmatched] {
        found.append("row \(record.rowID) counts wrongly as matched or as in conflict")
      }
    }
    try connection.prepare("SELECT row_id, app, user_id, digest FROM contexts").forEach {
      row throws(StoreFault) in
      let keys = RowKey.keys(app: try row.text(1), contextOf: try row.text(2), digest: row.blob(3))
      check(keys, row.integer(0))
    }
    return found
  }

  /// Each statement counts the violations of its rule.
  private static let rules: [(name: String, counting: String)] = [
    (
      "a purchase has a context of another app, user or purchase (R5)",
      """
      SELECT count(*) FROM purchases p JOIN contexts c ON c.id = p.context_id
      WHERE (c.purchase_row IS NOT p.row_id AND p.context_disputed = 0 AND p.corrects = ''
          AND p.copy_for = '')
        OR c.app <> p.app OR c.user_id IS NOT p.user_id
      """
    ),
    (
      "two purchases have one context (R5)",
      """
      SELECT count(*) FROM (SELECT 1 FROM purchases WHERE context_id IS NOT NULL AND context_disputed = 0
        AND corrects = '' AND copy_for = '' GROUP BY context_id HAVING count(*) > 1)
      """
    ),
    (
      "a user has two unused contexts with the same blob",
      """
      SELECT count(*) FROM (SELECT 1 FROM contexts WHERE purchase_row IS NULL AND user_id <> ''
        GROUP BY app, user_id, digest HAVING count(*) > 1)
      """
    ),
    (
      // A context that came too late for a receipt still reports the state of its checkout, unless an
      // operator changed the user. An erased purchase or context is excluded.
      "a context is claimed by a purchase that does not have it (R5)",
      """
      SELECT count(*) FROM contexts c JOIN purchases p ON p.row_id = c.purchase_row
      WHERE p.context_id IS NOT c.id AND c.user_id <> '' AND p.object_id NOT LIKE '\(Purchase.erasedPrefix)%'
        AND NOT ((p.body IS NOT NULL OR p.state = 'cancelled') AND p.app = c.app
          AND (p.user_id = c.user_id OR p.user_source = \(Purchase.UserSource.byOperator.rawValue)))
      """
    ),
    (
      "a receipt and its correction do not name each other, or are not of one purchase",
      """
      SELECT (SELECT count(*) FROM purchases n WHERE n.corrects <> '' AND EXISTS (
          SELECT 1 FROM purchases p WHERE p.receipt_id = n.corrects
            AND (p.corrected_by IS NOT n.receipt_id OR p.app <> n.app OR p.processor <> n.processor)))
        + (SELECT count(*) FROM purchases p WHERE p.corrected_by IS NOT NULL AND EXISTS (
          SELECT 1 FROM purchases n WHERE n.receipt_id = p.corrected_by AND n.corrects <> p.receipt_id))
      """
    ),
    (
      "a receipt and its copy do not name each other, are not of one purchase, or have one destination (R2)",
      """
      SELECT (SELECT count(*) FROM purchases n WHERE (n.copy_for <> '') <> (n.copy_of IS NOT NULL)
          OR (n.copy_for <> '' AND n.corrects = '' AND EXISTS (
          SELECT 1 FROM purchases p WHERE p.receipt_id = n.copy_of
            AND (p.copied_by IS NOT n.receipt_id OR p.copied_for IS NOT n.copy_for OR p.app <> n.app
              OR p.processor <> n.processor OR (p.body IS NOT NULL AND p.destination = n.copy_for)))))
        + (SELECT count(*) FROM purchases p WHERE p.copied_by IS NOT NULL AND p.corrects = '' AND EXISTS (
          SELECT 1 FROM purchases n WHERE n.receipt_id = p.copied_by AND n.copy_of IS NOT p.receipt_id))
      """
    ),
    (
      "an event does not say that its purchase has a receipt",
      """
      SELECT count(*) FROM events e JOIN purchases p ON p.row_id = e.purchase_row
      WHERE p.receipt_id IS NOT NULL
        AND e.outcome <> CASE p.reason WHEN 'foreign' THEN 'foreign' ELSE 'receipt' END
      """
    ),
    (
      "a receipt's body, or a context, has a dictionary of events, or its row contradicts itself",
      """
      SELECT (SELECT count(*) FROM purchases
          WHERE dictionary <> \(BodyDictionary.receipt.rawValue)
            OR (body IS NULL AND (dictionary IS NOT NULL OR context_at IS NOT NULL))
            OR (ply_context IS NOT NULL AND context_at IS NOT NULL))
        + (SELECT count(*) FROM contexts
          WHERE dictionary <> \(BodyDictionary.receipt.rawValue)
            OR (frame IS NULL) <> (dictionary IS NULL) OR (frame IS NOT NULL AND ply_context <> ''))
      """
    ),
    (
      "an event's body has the dictionary of receipts, or an erased one has a dictionary",
      """
      SELECT count(*) FROM events
      WHERE dictionary = \(BodyDictionary.receipt.rawValue) OR (dictionary IS NOT NULL AND length(body) = 0)
      """
    ),
    (
      "a lookup is planned, but no receipt waits for it and no event requires a fetch",
      """
      SELECT count(*) FROM look_ups l LEFT JOIN purchases p ON p.row_id = l.purchase_row
      WHERE p.row_id IS NULL OR p.app <> l.app OR p.processor <> l.processor
        OR (l.fetches = 0 AND (p.state IS NOT 'waiting' OR p.reason NOT IN (\(lookedUp))))
      """
    ),
    (
      "a capture is not of a payment that started at the relay, or its user was erased meanwhile",
      """
      SELECT count(*) FROM captures c LEFT JOIN purchases p ON p.row_id = c.purchase_row
      WHERE p.row_id IS NULL OR p.app <> c.app OR p.processor <> c.processor
        OR (p.observations & \(Observations.started.rawValue)) = 0
        OR (c.outcome IS NULL AND p.object_id LIKE '\(Purchase.erasedPrefix)%')
      """
    ),
    (
      "a capture is captured or final, and another was ordered after it",
      """
      SELECT count(*) FROM captures c
      WHERE EXISTS (SELECT 1 FROM captures n WHERE n.purchase_row = c.purchase_row AND n.row_id > c.row_id)
        AND c.outcome IS NOT '\(CaptureOutcome.Kind.unconfirmed.rawValue)'
      """
    ),
    (
      "a capture has an outcome without an answer, or an answer without an outcome",
      """
      SELECT count(*) FROM captures WHERE (outcome IS NULL) <> (status IS NULL)
        OR (outcome IS NULL) <> (body IS NULL) OR (outcome IS NULL) <> (ended_at IS NULL)
      """
    ),
    (
      "an attempt has another app than its receipt, no destination, or another outcome than it had",
      """
      SELECT count(*) FROM attempts a JOIN purchases p ON p.row_id = a.purchase_row
      WHERE a.app <> p.app OR a.destination = '' OR a.outcome <> \(attemptOutcomeSQL)
      """
    ),
    (
      "a claim is of another app than its purchase, of a purchase without a receipt, or open although its "
        + "purchase has a user",
      """
      SELECT count(*) FROM claims c LEFT JOIN purchases p ON p.row_id = c.purchase_row
      WHERE p.row_id IS NULL OR p.app <> c.app OR p.receipt_id IS NULL
        OR (c.ended_at IS NULL AND p.user_id IS NOT NULL)
      """
    ),
    (
      "a payer is erased in part",
      """
      SELECT count(*) FROM payers WHERE (customer_id LIKE '\(Purchase.erasedPrefix)%')
        <> (user_id LIKE '\(Purchase.erasedPrefix)%')
      """
    ),
    (
      "the next row number was already used",
      """
      SELECT count(*) FROM sequences WHERE name = 'purchases'
        AND (EXISTS (SELECT 1 FROM purchases WHERE row_id >= next)
          OR EXISTS (SELECT 1 FROM contexts WHERE purchase_row >= next))
      """
    ),
    (
      "an unfinished job has more or fewer receipts than it counts",
      """
      SELECT count(*) FROM jobs j WHERE ended_at IS NULL
        AND total <> (SELECT count(*) FROM job_receipts WHERE job_row = j.row_id)
      """
    ),
    (
      "a job has ended and has receipts under way",
      """
      SELECT count(*) FROM jobs j JOIN job_receipts r ON r.job_row = j.row_id
      WHERE j.ended_at IS NOT NULL AND r.outcome = 'released'
      """
    ),
    (
      "a job is done and has planned receipts",
      """
      SELECT count(*) FROM jobs j JOIN job_receipts r ON r.job_row = j.row_id
      WHERE j.state = 'done' AND r.outcome = 'planned'
      """
    ),
  ]

  private static let lookedUp = Lookup.reasons.map { "'\($0.text)'" }.joined(separator: ", ")
}
