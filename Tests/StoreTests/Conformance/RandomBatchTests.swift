// Tests that commands in batches have the effect that they have one by one.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

/// A command for any store: receipts have other ids in each.
private enum Operation {
  case post(AppSlug, UserID, String, PriceID?, ContextID, isChosen: Bool)
  case event(AppSlug, PurchaseReport, EventID, keep: Bool)
  case payment(AppSlug, PurchaseReport)
  case attempt(ReceiptKey, Delivery.Decision)
  case replay(ReceiptKey, force: Bool)
  case cancel(ReceiptKey)

  /// The command; nil if the store does not have the receipt.
  func submission(to store: TestStore, _ receipts: [ReceiptKey: PurchaseRecord]) -> Submission? {
    switch self {
    case .post(let app, let user, let text, let price, let id, let isChosen):
      let blob = ContextBlob(text: text, priceID: price)
      return Submission(
        IngestContext(app: app, userID: user, blob: blob, id: id, isChosen: isChosen)
      ) { _ in }
    case .event(let app, let report, let id, let keep):
      return Submission(
        IngestEvent(
          app: app, processor: report.key.processor, eventID: id, type: "test", body: Array("{}".utf8),
          content: .report(report, keep: keep))
      ) { _ in }
    case .payment(let app, let report): return Submission(StorePayment(app: app, report)) { _ in }
    case .attempt(let key, let decision):
      guard let record = receipts[key], let receipt = record.receipt, receipt.state == .pending else {
        return nil
      }
      let report = AttemptReport(at: store.now)
      return Submission(
        RecordAttempt(
          of: record.receiptID, to: AppDestination(key.app, "purchasely"), sent: receipt.body, report: report,
          decision: decision, breaker: Breaker(state: .closed))
      ) { _ in }
    case .replay(let key, let force):
      return receipts[key]?.receipt.map { receipt in
        Submission(ReplayReceipt(id: receipt.id, force: force, dueAt: store.now)) { _ in }
      }
    case .cancel(let key):
      return receipts[key]?.receipt.map { Submission(CancelReceipt(id: $0.id, note: "why not")) { _ in } }
    }
  }
}

/// Names a receipt in every store.
private struct ReceiptKey: Hashable {
  var app: AppSlug
  var purchase: PurchaseKey

  init(_ record: PurchaseRecord) { (app, purchase) = (record.app, record.purchase.key) }
}

@Suite("Batches of random commands", .everyEngine)
struct RandomBatchTests {
  @Test(arguments: 1...3)
  func `They have the same effect as their commands one by one`(seed: UInt64) throws {
    let rules = TestStore.rules(settle: .seconds(5))
    let single = try TestStore(seed: seed, rules: rules)
    let batched = try TestStore(seed: seed, rules: rules)
    var random = SeededGenerator(seed: seed)
    var reports = RandomReports(seed: seed)
    var contexts: [ContextID] = []
    for round in 0..<20 {
      let keys = try single.receipts().map(ReceiptKey.init)
      let size = Int.random(in: 2...50, using: &random)
      let operations = (0..<size).map { _ in
        Self.operation(&random, &reports, &contexts, keys, now: single.now)
      }
      let alone = try Self.submissions(operations, to: single)
      for submission in alone {
        let result = single.writer.apply([submission], now: single.now)
        try #require(result.fault == nil, "seed \(seed), round \(round)")
      }
      let together = try Self.submissions(operations, to: batched)
      try #require(alone.count == together.count)
      let result = batched.writer.apply(together, now: batched.now)
      try #require(result.fault == nil, "seed \(seed), round \(round)")
      #expect(result.appliedCount == together.count)
      let pauses: [Int64] = [0, second, 20 * second, hour]
      let pause = pauses.randomElement(using: &random) ?? 0
      for store in [single, batched] {
        store.advance(pause)
        try store.endWaits()
        try store.checkInvariants()
      }
      let expected = try Self.content(of: single)
      let found = try Self.content(of: batched)
      try #require(expected.subtracting(found) == [], "seed \(seed), round \(round)")
      try #require(found.subtracting(expected) == [], "seed \(seed), round \(round)")
    }
  }

  private static func submissions(
    _ operations: [Operation], to store: TestStore
  ) throws -> [Submission] {
    let receipts = Dictionary(uniqueKeysWithValues: try store.receipts().map { (ReceiptKey($0), $0) })
    return operations.compactMap { $0.submission(to: store, receipts) }
  }

  private static func operation(
    _ random: inout SeededGenerator, _ reports: inout RandomReports, _ contexts: inout [ContextID],
    _ receipts: [ReceiptKey], now: Timestamp
  ) -> Operation {
    let app = RandomStore.apps.randomElement(using: &random) ?? "ios"
    let choice = Int.random(in: 0..<20, using: &random)
    if let key = receipts.randomElement(using: &random) {
      switch choice {
      case 0, 1, 2: return .attempt(key, .delivered(importID: "imp"))
      case 3: return .attempt(key, .retry(at: now + .minutes(1), spent: true))
      case 4: return .attempt(key, .failed(.status(422)))
      case 5: return .replay(key, force: Bool.random(using: &random))
      case 6: return .cancel(key)
      default: break
      }
    }
    if choice < 11 {
      var id = ContextID.make(now: now, random: &random)
      contexts.append(id)
      // A client may choose an id that events have named, or one that is in use.
      let isChosen = Bool.random(using: &random)
      if isChosen { id = contexts.randomElement(using: &random) ?? id }
      let price: PriceID? = ["price_0", "price_1", nil].randomElement(using: &random) ?? nil
      let number = Int.random(in: 0..<40, using: &random)
      return .post(app, UserID("u\(number % 4)"), "blob \(number)", price, id, isChosen: isChosen)
    }
    if choice == 11 { return .payment(app, reports.payment(contexts, now: now)) }
    let isRepeated = Int.random(in: 0..<10, using: &random) == 0
    let id = isRepeated ? "evt_again" : EventID("evt_\(UInt64.random(in: 0 ... .max, using: &random))")
    return .event(app, reports.event(contexts, now: now), id, keep: Int.random(in: 0..<6, using: &random) > 0)
  }

  /// All rows, without the numbers that differ between stores.
  private static func content(of store: TestStore) throws -> Set<String> {
    let purchase = "p.app, p.object_type, p.object_id"
    let queries: [(table: String, columns: String, rest: String)] = [
      (
        "purchases",
        """
        \(purchase), p.session_id, p.observations, p.customer_id, p.user_id, p.user_source, p.prices,
        p.context_id, p.context_source, p.context_disputed, p.price_id, p.state, p.reason, p.last_cause,
        p.attempts, p.spent_tries, p.import_id, p.wait_until, p.next_attempt_at, p.is_replay, p.is_reversal,
        p.happened_at, p.first_seen_at, p.updated_at, p.created_at, p.payment, p.note
        """, "purchases p"
      ),
      (
        "events", "e.event_id, e.outcome, \(purchase)",
        "events e LEFT JOIN purchases p ON p.row_id = e.purchase_row"
      ),
      (
        "attempts", "a.number, a.at, a.status, \(purchase)",
        "attempts a JOIN purchases p ON p.row_id = a.purchase_row"
      ),
      (
        "contexts", "c.id, c.user_id, c.price_id, c.posted_at, c.expires_at, \(purchase)",
        "contexts c LEFT JOIN purchases p ON p.row_id = c.purchase_row"
      ),
      (
        "awaited", "a.context_id, a.source, a.until, \(purchase)",
        "awaited_contexts a LEFT JOIN purchases p ON p.row_id = a.purchase_row"
      ),
      (
        "counts", "r.app, r.state, r.reason, r.last_cause, r.processor, r.count",
        "receipt_counts r WHERE r.count <> 0"
      ),
    ]
    var content: Set<String> = []
    for (table, columns, rest) in queries {
      let columns = columns.split { ", \n".contains($0) }
      let texts = columns.map { "coalesce(CAST(\($0) AS text), '-')" }.joined(separator: " || ' ' || ")
      try store.reader.connection.prepare("SELECT \(texts) FROM \(rest)").forEach { row throws(StoreFault) in
        content.insert("\(table): \(try row.text(0))")
      }
    }
    return content
  }
}
