// Tests the check of the store's invariants after each command: it finds each violated rule.

import Domain
import Store
import TestSupport
import Testing

@Suite("Rules of the store", .everyEngine)
struct InvariantTests {
  static let broken: [(sql: String, found: String)] = [
    ("UPDATE receipt_counts SET count = count + 1", "the count of receipts is wrong"),
    ("UPDATE join_counts SET count = count + 1", "the count of joins is wrong"),
    ("UPDATE purchases SET wait_until = NULL WHERE state = 'waiting'", "a waiting receipt is decided again"),
    ("UPDATE purchases SET receipt_id = substr(receipt_id, 1, 20) || 'ZZZZZZZZZZ'", "is in row"),
    ("UPDATE purchases SET ready_at = NULL WHERE state = 'pending'", "ready without content"),
    (
      "UPDATE contexts SET purchase_row = 2 WHERE purchase_row = 1",
      "a context of another app, user or purchase"
    ),
    (
      "UPDATE purchases SET context_id = (SELECT context_id FROM purchases WHERE row_id = 1)",
      "one context (R5)"
    ),
    (
      "UPDATE purchases SET context_id = NULL, body = NULL, state = 'failed', reason = 'user'",
      "does not have it"
    ),
    ("UPDATE purchases SET user_conflict = 1", "as in conflict"),
    ("UPDATE purchases SET unmatched = 1", "counts wrongly as matched"),
    ("UPDATE events SET outcome = 'noted'", "an event does not say"),
    ("UPDATE purchases SET reason = 'context' WHERE state = 'waiting'", "a lookup is planned"),
    (
      "INSERT INTO sequences (name, next) VALUES ('purchases', 1) ON CONFLICT (name) DO UPDATE SET next = 1",
      "the next row number"
    ),
    ("UPDATE jobs SET total = 5", "more or fewer receipts"),
    ("UPDATE jobs SET ended_at = 1", "receipts under way"),
    ("UPDATE jobs SET state = 'done'", "has planned receipts"),
    (
      """
      INSERT INTO claims (id, hash, app, purchase_row, origin, offered_at, expires_at)
      VALUES ('claim_1', X'00', 'ios', 1, 'page', 1, 2)
      """, "open although its purchase has a user"
    ),
    (
      "INSERT INTO payers (app, processor, customer_id, user_id) VALUES ('ios', 'pay', 'payer', 'erased:00')",
      "a payer is erased in part"
    ),
    (
      """
      INSERT INTO attempts (purchase_row, number, at, duration_ms, status, ambiguous, response, app,
        destination, outcome)
      VALUES (1, 1, 0, 5, 503, 0, X'', 'ios', 'purchasely', 'slow')
      """, "another outcome than it had"
    ),
  ]

  /// A receipt that is due with a context, one that waits for its price and has a lookup, and a job.
  private func store() throws -> TestStore {
    let rules: [AppSlug: AppRules] = [
      "ios": AppRules(join: JoinPolicy(settle: .zero), processors: .askedStripe, compose: TestStore.compose)
    ]
    let store = try TestStore(rules: rules)
    try store.post(user: "u1")
    try store.ingest(Said.completed("1", prices: ["price_1"]))
    try store.ingest(Said.completed("2", user: "u2"))
    let receipts = try store.receipts()
    try #require(receipts.map(\.rowID) == [1, 2])
    let job = try store.apply(StartJob(JobRequest(source: .ids(count: 2), actor: "ann")))
    _ = try store.apply(
      ExtendJob(job: job.id, from: nil, to: nil, receipts: receipts.map(\.receiptID), isLast: true))
    try store.execute("UPDATE job_receipts SET outcome = 'released' WHERE position = -1")
    try store.execute(
      "INSERT INTO job_counts (job_row, outcome, reason, count) VALUES (1, 'released', '', 1)")
    return store
  }

  @Test func `A store that only its commands changed violates none`() throws {
    let store = try store()
    // The store ends with its database.
    let found = try withExtendedLifetime(store) { try store.reader.contradictions() }
    #expect(found == [])
  }

  @Test(arguments: broken)
  func `Each violation is found`(_ broken: (sql: String, found: String)) throws {
    let store = try store()
    try store.execute(broken.sql)
    let found = try store.reader.contradictions()
    #expect(found.contains { $0.contains(broken.found) }, "\(found)")
  }
}
