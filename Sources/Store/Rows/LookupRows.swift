// The writer's statements on `look_ups`, `service` and `backfills`. The writer's thread.

internal import Domain

final class LookupRows {
  static let slice: Int64 = 500

  private let planning: StoreStatement
  private let fetching: StoreStatement
  private let fetched: StoreStatement
  private let forgetting: StoreStatement
  private let dropping: StoreStatement
  private let moving: StoreStatement
  private let postponing: StoreStatement
  private let waiting: StoreStatement
  private let adding: StoreStatement
  private let bringingBack: StoreStatement
  private let servedAt: StoreStatement
  private let serving: StoreStatement
  private let owing: StoreStatement
  private let filled: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    planning = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, processor, due_at, tries) VALUES (?1, ?2, ?3, ?4, 0)
      ON CONFLICT (purchase_row) DO UPDATE SET due_at = iif(fetches > 0, min(due_at, ?4), ?4), tries = 0
      """)
    fetching = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, processor, due_at, tries, fetches)
      VALUES (?1, ?2, ?3, ?4, 0, 1)
      ON CONFLICT (purchase_row) DO UPDATE SET due_at = ?4, tries = 0, fetches = fetches + 1
      """)
    fetched = try connection.prepare(
      "UPDATE look_ups SET fetches = 0 WHERE purchase_row = ?1 AND fetches = ?2")
    forgetting = try connection.prepare("DELETE FROM look_ups WHERE purchase_row = ?1 AND fetches = 0")
    dropping = try connection.prepare("DELETE FROM look_ups WHERE purchase_row = ?1")
    moving = try connection.prepare(
      "UPDATE OR REPLACE look_ups SET purchase_row = ?2 WHERE purchase_row = ?1 AND fetches > 0")
    postponing = try connection.prepare(
      """
      UPDATE look_ups SET due_at = ?2, tries = tries + 1 WHERE purchase_row = ?1 AND fetches = ?4 AND (?4 > 0
        OR EXISTS (SELECT 1 FROM purchases WHERE row_id = ?1 AND state = 'waiting' AND reason = ?3))
      """)
    waiting = try connection.prepare(
      """
      SELECT row_id, receipt_id, processor FROM purchases
      WHERE app = ?1 AND state = 'waiting' AND reason = ?2 AND last_cause IS NULL AND receipt_id > ?3
      ORDER BY receipt_id LIMIT ?4
      """)
    adding = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, processor, due_at, tries) VALUES (?1, ?2, ?3, ?4, 0)
      ON CONFLICT (purchase_row) DO NOTHING
      """)
    bringingBack = try connection.prepare("UPDATE look_ups SET due_at = ?1 WHERE due_at > ?2")
    servedAt = try connection.prepare("SELECT serves_at FROM service WHERE row_id = 1")
    serving = try connection.prepare(
      """
      INSERT INTO service (row_id, serves_at) VALUES (1, ?1)
      ON CONFLICT (row_id) DO UPDATE SET serves_at = ?1
      """)
    owing = try connection.prepare(
      """
      INSERT INTO backfills (app, processor, since) VALUES (?1, ?2, ?3)
      ON CONFLICT (app, processor) DO UPDATE SET since = min(since, ?3)
      """)
    filled = try connection.prepare(
      "DELETE FROM backfills WHERE app = ?1 AND processor = ?2 AND since >= ?3")
  }

  /// Plans a lookup of a purchase.
  func plan(row: Int64, of place: AppProcessor, at due: Timestamp) throws(StoreFault) {
    try planning.run([.integer(row), .text(place.app), .text(place.processor.rawValue), .time(due)])
  }

  /// Plans a fetch that an event requires, regardless of what the receipt waits for.
  func fetch(row: Int64, of place: AppProcessor, at due: Timestamp) throws(StoreFault) {
    try fetching.run([.integer(row), .text(place.app), .text(place.processor.rawValue), .time(due)])
  }

  /// Records that a purchase was fetched for this many events. It is fetched again if more came meanwhile.
  func noteFetched(row: Int64, _ fetches: Int64) throws(StoreFault) {
    try fetched.run([.integer(row), .integer(fetches)])
  }

  /// Removes a lookup that the receipt no longer needs. A fetch that an event requires stays planned.
  func forget(row: Int64) throws(StoreFault) { try forgetting.run([.integer(row)]) }

  /// Removes all planned lookups and fetches of a purchase.
  func drop(row: Int64) throws(StoreFault) { try dropping.run([.integer(row)]) }

  /// Moves planned fetches to the remaining row after two rows were merged.
  func move(from old: Int64, to new: Int64) throws(StoreFault) {
    try moving.run([.integer(old), .integer(new)])
  }

  /// Reschedules a lookup after an answer. Changes nothing if the purchase has no lookup any more, or has one
  /// for another reason, which has its own first lookup.
  /// - Parameter fetches: the value of `DueLookup`.
  func postpone(
    row: Int64, asked: Reason?, fetches: Int64, until due: Timestamp
  ) throws(StoreFault) {
    try postponing.run([.integer(row), .time(due), .optional(asked?.text), .integer(fetches)])
  }

  /// Plans lookups for receipts of an app that wait for a reason and have no lookup yet, a slice at a time.
  /// - Parameters:
  ///   - processors: the processors that can be asked.
  ///   - after: the last receipt of the previous slice; empty for the first.
  /// - Returns: the last receipt of this slice; nil if there are no more.
  func planSlice(
    app: String, _ processors: Set<ProcessorName>, reason: Reason, after: String, at due: Timestamp
  ) throws(StoreFault) -> String? {
    let found = try waiting.all(
      [.text(app), .text(reason.text), .text(after), .integer(Self.slice)]
    ) { row throws(StoreFault) in
      (row: row.integer(0), id: try row.text(1), processor: ProcessorName(rawValue: try row.text(2)))
    }
    for receipt in found where processors.contains(receipt.processor) {
      try adding.run([
        .integer(receipt.row), .text(app), .text(receipt.processor.rawValue), .time(due),
      ])
    }
    return found.count < Self.slice ? nil : found.last?.id
  }

  /// Makes lookups due now if a clock that ran ahead planned them too late.
  func bringBack(to now: Timestamp) throws(StoreFault) {
    let latest = now.advanced(by: Lookup.pause(attempts: .max, isUnknown: true))
    try bringingBack.run([.time(now), .time(latest)])
  }

  /// When receiptd last recorded that it was serving; nil if never.
  func lastServed() throws(StoreFault) -> Timestamp? {
    try servedAt.first { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  func recordService(at now: Timestamp) throws(StoreFault) { try serving.run([.time(now)]) }

  /// Records that the events since then must be fetched.
  func addBackfill(_ place: AppProcessor, since: Timestamp) throws(StoreFault) {
    try owing.run([.text(place.app), .text(place.processor.rawValue), .time(since)])
  }

  /// Records that the events from that moment on were fetched.
  func completeBackfill(_ place: AppProcessor, since: Timestamp) throws(StoreFault) {
    try filled.run([.text(place.app), .text(place.processor.rawValue), .time(since)])
  }
}
