// What must be true after anything happened to several relays on one database.

import PostgresStore
import TestSupport
import Testing

extension Cluster {
  /// Waits until everything is delivered. Compares what was acknowledged with what the destination accepted
  /// (R1), checks the rest of the promises, and reports the figures that every suite has.
  /// - Parameters:
  ///   - interruptions: what was in flight at each of them may come twice.
  ///   - overlapsMax: how often two relays may have delivered one app at the same time.
  func judge(
    _ suite: String, _ taken: [Checkout], interruptions: Int, overlapsMax: Int = 0, seed: UInt64 = 0,
    _ connection: PostgresConnection
  ) throws {
    try waitUntil("everything is delivered") {
      let open = try connection.run("SELECT count(*) FROM purchases WHERE state <> 'delivered'")
      return open.integer(0, 0) == 0
    }
    var lost = 0
    let entries = Dictionary(grouping: destination.ledger) { $0.objectID ?? "" }
    for checkout in taken {
      let received = entries[checkout.subscription] ?? []
      if ledger.taken(checkout.subscription) == 0 {
        lost += 1
        Issue.record("\(checkout.subscription) was promised and never came (seed \(seed))")
      }
      #expect(Set(received.map(\.body)).count <= 1, "\(checkout.subscription) came with different bytes")
      #expect(received.first?["ply_context"] == checkout.context, "\(checkout.subscription)")
    }
    #expect(
      ledger.overlaps.count <= overlapsMax, "two relays delivered one app at the same time (seed \(seed))")
    let doublesMax = interruptions * inFlightMax
    #expect(ledger.doubles <= doublesMax, "\(ledger.doubles) doubles (seed \(seed))")
    let rows = try connection.run(
      """
      SELECT count(*), count(DISTINCT (app, object_id)), (SELECT count(*) FROM events),
        (SELECT count(DISTINCT (app, event_id)) FROM events)
      FROM purchases WHERE state IS NOT NULL
      """)
    #expect(rows.integer(0, 0) == rows.integer(0, 1), "one purchase makes one receipt (R2)")
    #expect(rows.integer(0, 2) == rows.integer(0, 3), "one event is stored once")
    #expect(Int(rows.integer(0, 0)) >= taken.count)
    Torture.report(suite, "receipts promised", taken.count)
    Torture.report(suite, "receipts lost", lost)
    Torture.report(suite, "receipts sent twice", ledger.doubles)
    Torture.report(suite, "two deliverers of one app", ledger.overlaps.count)
  }
}
