// Tests commands about rows whose numbers another purchase has now, as after a failover that lost commits:
// the new primary gives the numbers of what was lost again.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Row numbers that a failover repeated", .everyEngine)
struct RepeatedNumberTests {
  private static let place = AppProcessor("ios", "pay")

  /// Two histories of one database that gave the same numbers to different purchases.
  private let lost: TestStore
  private let promoted: TestStore

  init() throws {
    lost = try Self.store("1", at: TestStore.start)
    promoted = try Self.store("2", at: TestStore.start + .minutes(1))
  }

  /// A store with a receipt to deliver and a payment to fetch and to capture.
  private static func store(_ n: String, at now: Timestamp) throws -> TestStore {
    let pay = ProcessorRules(isAsked: true, followsUpAfter: .minutes(1))
    let store = try TestStore(rules: [
      "ios": AppRules(
        join: JoinPolicy(settle: .zero, waitForContext: .zero),
        processors: ["pay": pay, "stripe": .stripe()], compose: TestStore.compose)
    ])
    store.now = now
    try store.ingest(Said.completed(n, user: "u\(n)", prices: ["price_1"]))
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.started, n, by: UserID("u\(n)"))))
    _ = try store.apply(
      OrderCapture(app: "ios", CaptureOrder(key: Said.payKey(n), user: UserID("u\(n)"), grantID: "g")))
    _ = try store.apply(FetchPurchase(try store.reference(2)))
    return store
  }

  /// Everything that the commands could change.
  private func state(_ store: TestStore) throws -> String {
    let record = try store.only()
    let lookups = try store.reader.dueLookups(Self.place, now: store.after(day), limit: 9)
    let captures = try store.reader.openCaptures(of: Self.place)
    let jobs = try store.integer("SELECT count(*) FROM job_receipts WHERE purchase_row > 0")
    return "\(record)\n\(lookups)\n\(captures)\n\(jobs ?? 0)"
  }

  @Test func `What was learnt of a purchase is not recorded on the one that got its number (R3)`() throws {
    let record = try lost.only()
    #expect(try promoted.only().rowID == record.rowID)
    #expect(try promoted.only().receipt?.state == .pending)
    let open = try #require(try lost.reader.openCaptures(of: Self.place).first)
    #expect(try promoted.reader.openCaptures(of: Self.place).map(\.row) == [open.row])
    let asked = try lost.reference(2)
    let report = AttemptReport(at: lost.now)
    let job = try promoted.apply(StartJob(JobRequest(source: .ids(count: 1), actor: "ann")))
    let before = try state(promoted)

    let outcome = try promoted.apply(
      RecordAttempt(of: record.receiptID, app: "ios", report: report, decision: .delivered(importID: "imp")))
    #expect(outcome == nil)
    #expect(try promoted.integer("SELECT count(*) FROM attempts") == 0)
    let later = promoted.after(day)
    #expect(try promoted.apply(GiveUp(app: "ios", receipts: [record.receiptID], cutoff: later)) == nil)
    try promoted.apply(Reschedule([record.receiptID], until: promoted.after(day)))
    for fetches in [0, 1] as [Int64] {
      _ = try promoted.apply(
        IngestLookup(
          Self.place, of: asked, asked: nil, fetches: fetches, isFetched: true, reports: [],
          nextAt: promoted.after(day)))
    }
    #expect(try promoted.apply(FetchPurchase(asked)) == .notFound)
    try promoted.apply(
      SaveCapture(open.reference, failures: 9, retryAt: promoted.after(day), isGivenUp: true))
    let charged = CaptureOutcome(kind: .captured, status: 201, body: [])
    #expect(try !promoted.apply(EndCapture(app: "ios", open.reference, charged, report: nil)))
    #expect(
      try promoted.apply(
        ExtendJob(job: job.id, from: nil, to: "1", receipts: [record.receiptID], isLast: false)))
    let other = try lost.apply(StartJob(JobRequest(source: .ids(count: 1), actor: "ann")))
    #expect(other.row == job.row)
    #expect(
      try !promoted.apply(
        ExtendJob(
          job: other.id, from: "1", to: "2", receipts: [try promoted.only().receiptID], isLast: true)))
    #expect(try state(promoted) == before)
  }

  @Test func `The same commands change the purchase that they name`() throws {
    let record = try lost.only()
    try lost.apply(Reschedule([record.receiptID], until: lost.after(day)))
    #expect(try lost.only().receipt?.nextAttemptAt == lost.after(day))
    let open = try #require(try lost.reader.openCaptures(of: Self.place).first)
    try lost.apply(SaveCapture(open.reference, failures: 9, retryAt: lost.after(day)))
    #expect(try lost.reader.openCaptures(of: Self.place).map(\.failures) == [9])
    let job = try lost.apply(StartJob(JobRequest(source: .ids(count: 1), actor: "ann")))
    _ = try lost.apply(ExtendJob(job: job.id, from: nil, to: nil, receipts: [record.receiptID], isLast: true))
    #expect(try lost.integer("SELECT purchase_row FROM job_receipts") == record.rowID.number)
  }
}
