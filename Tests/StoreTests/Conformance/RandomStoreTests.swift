// Tests the promises that hold after every step, for random operations in random order (R2, R3, R4, R5).

import Domain
import Store
import Testing

/// The reasons that operators can filter by. A receipt with another reason could not be found.
private let reasons = Reason.named.map { "'\($0.text)'" }.joined(separator: ", ")

/// Rules beside `StoreReader.contradictions`: each statement counts violations.
private let faults: [(name: String, sql: String)] = [
  (
    "R2: two receipts of one purchase that were made ready",
    """
    SELECT count(*) FROM (SELECT 1 FROM purchases WHERE body IS NOT NULL AND corrects = ''
      GROUP BY app, replace(replace(object_id, 'sub_', ''), 'cs_', ''), copy_for HAVING count(*) > 1)
    """
  ),
  (
    "R4: a state without its reason, its bytes or its times",
    """
    SELECT count(*) FROM purchases WHERE state IS NOT NULL AND NOT CASE state
      WHEN 'waiting' THEN reason IS NOT NULL AND wait_until IS NOT NULL AND next_attempt_at IS NULL
      WHEN 'pending' THEN reason IS NULL AND body IS NOT NULL AND ready_at IS NOT NULL
        AND next_attempt_at IS NOT NULL AND retry_since IS NOT NULL
      WHEN 'delivered' THEN reason IS NULL AND body IS NOT NULL AND ready_at IS NOT NULL
        AND delivered_at IS NOT NULL
      ELSE reason IS NOT NULL AND next_attempt_at IS NULL END
    """
  ),
  (
    "a receipt with a reason that no operator can filter by",
    """
    SELECT count(*) FROM purchases
    WHERE reason NOT IN (\(reasons)) AND NOT (length(reason) = 8 AND substr(reason, 1, 5) = 'http_'
      AND substr(reason, 6) BETWEEN '100' AND '599')
    """
  ),
]

/// What earlier steps showed about the receipts.
private struct Memory {
  private var delivered: Set<ReceiptID> = []

  /// Returns the forbidden changes of receipts.
  mutating func faults(
    in receipts: [PurchaseRecord], sent: [ReceiptID: [UInt8]], forced: ReceiptID?
  ) -> [String] {
    var faults: [String] = []
    let now = Dictionary(uniqueKeysWithValues: receipts.compactMap(\.receipt).map { ($0.id, $0) })
    for (id, body) in sent {
      guard let receipt = now[id] else {
        faults.append("R4: \(id) vanished")
        continue
      }
      if receipt.body != body { faults.append("R2: the bytes of \(id) changed after they were sent") }
      if delivered.contains(id), receipt.state != .delivered, id != forced {
        faults.append("R3: \(id) is due again")
      }
    }
    for record in receipts {
      guard let receipt = record.receipt, let body = receipt.body else { continue }
      var purchase = record.purchase
      // The price may have become known after the receipt used the context's.
      purchase.prices = [receipt.priceID].compactMap(\.self)
      guard case .success(var ready) = Join.content(of: purchase, ProcessorRules(namesPrices: false)) else {
        faults.append("\(receipt.id) is shown without what was sent")
        continue
      }
      ready.content.priceID = receipt.priceID
      if TestStore.compose(ready.content) != body {
        faults.append("\(receipt.id) is shown otherwise than it was sent")
      }
    }
    delivered = Set(now.values.filter { $0.state == .delivered }.map(\.id))
    return faults
  }
}

@Suite("A store under random commands", .everyEngine)
struct RandomStoreTests {
  @Test("The promises hold after every step (R2, R3, R4, R5)", arguments: 1...6)
  func promises(seed: UInt64) throws { try check(RandomStore(seed: seed), seed: seed) }

  @Test(arguments: 11...14)
  func `The promises hold for purchases that go to two destinations (R2, R3, R4, R5)`(seed: UInt64) throws {
    let store = try RandomStore(seed: seed, hasSecond: true)
    try check(store, seed: seed)
    #expect(try store.store.integer("SELECT count(*) FROM purchases WHERE copy_for <> ''") != 0)
  }

  private func check(_ beginning: RandomStore, seed: UInt64) throws {
    var happening = beginning
    var memory = Memory()
    for step in 0..<TestEngine.current.randomSteps {
      do {
        try happening.step()
      } catch {
        Issue.record("seed \(seed), step \(step) failed with \(error), after: \(happening.last)")
        return
      }
      let found =
        try happening.store.reader.contradictions()
        + faults.filter { try happening.store.integer($0.sql) != 0 }.map(\.name)
        + memory.faults(in: try happening.store.receipts(), sent: happening.sent, forced: happening.forced)
        + happening.strangers(in: try happening.store.receipts())
      try #require(found == [], "seed \(seed), step \(step): \(happening.last)")
    }
    try nameAll(happening.store, seed: seed)
    #expect(try happening.store.reader.integrityFaults().isEmpty)
  }

  /// Sends an event that names checkout and subscription for every purchase. After that each has at most one
  /// receipt.
  private func nameAll(_ store: TestStore, seed: UInt64) throws {
    for app in RandomStore.apps {
      for n in 0..<RandomReports.purchases {
        try store.ingest(Said.session("\(n)", []), app: app, keep: false)
      }
    }
    let doubles = try store.integer(
      """
      SELECT count(*) FROM (SELECT 1 FROM purchases WHERE corrects = ''
        GROUP BY app, replace(replace(object_id, 'sub_', ''), 'cs_', ''), copy_for HAVING count(*) > 1)
      """)
    #expect(doubles == 0, "seed \(seed)")
    for fault in faults { #expect(try store.integer(fault.sql) == 0, "seed \(seed): \(fault.name)") }
  }
}
