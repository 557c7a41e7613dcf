// Tests why receipts failed: the last cause is stored, filtered by and counted. Also tests receipts delivered
// without an import id.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Causes", .everyEngine)
struct CauseTests {
  private static func end(
    _ jobs: JobStore, _ object: String, _ decision: Delivery.Decision, status: Int64? = nil,
    error: String? = nil, detail: String? = nil
  ) throws {
    var filter = ReceiptFilter()
    filter.objectID = "sub_\(object)"
    let id = try #require(try jobs.store.reader.receipts(filter, limit: 1).first).receiptID
    let report = AttemptReport(
      startedAt: jobs.store.now, duration: .milliseconds(1), status: status, error: error, detail: detail,
      isAmbiguous: false, response: [])
    _ = try jobs.store.apply(RecordAttempt(of: id, app: "ios", report: report, decision: decision))
  }

  /// Receipts that gave up after a timeout, a refused connection and a 503, and one that was refused.
  private static func store() throws -> JobStore {
    let jobs = try JobStore(failed: 0)
    for name in ["slow", "gone", "down", "bad", "good", "silent"] { try jobs.purchase(name, nil) }
    try end(jobs, "slow", .failed(.gaveUp), error: "timeout")
    try end(
      jobs, "gone", .failed(.gaveUp), error: "connect_failed", detail: "pay.example:443: Connection refused")
    try end(jobs, "down", .failed(.gaveUp), status: 503, error: "connection_lost")
    try end(jobs, "bad", .failed(.status(422)), status: 422)
    try end(jobs, "good", .delivered(importID: "imp"), status: 200)
    try end(jobs, "silent", .delivered(importID: nil), status: 204)
    return jobs
  }

  private static func objects(
    _ jobs: JobStore, _ change: (inout ReceiptFilter) -> Void
  ) throws -> Set<ObjectID> {
    var filter = ReceiptFilter()
    change(&filter)
    let found = Set(try jobs.store.reader.receipts(filter, limit: 100).map(\.purchase.key.id))
    // Bulk commands count the same receipts that the list shows.
    #expect(try jobs.store.reader.survey(filter).reduce(0) { $0 + $1.count } == found.count)
    #expect(try jobs.store.reader.countAtMost(filter) >= found.count)
    return found
  }

  @Test func `The last cause of a given up receipt is stored, and receipts are found by it`() throws {
    let jobs = try Self.store()
    #expect(try Self.objects(jobs) { $0.reason = "gave_up" } == ["sub_slow", "sub_gone", "sub_down"])
    #expect(try Self.objects(jobs) { $0.cause = "timeout" } == ["sub_slow"])
    #expect(try Self.objects(jobs) { $0.cause = "http_503" } == ["sub_down"])
    #expect(try Self.objects(jobs) { $0.cause = "http_422" } == ["sub_bad"])
    #expect(
      try Self.objects(jobs) {
        $0.reason = "gave_up"
        $0.cause = "connect_failed"
        $0.app = "ios"
        $0.state = .failed
      } == ["sub_gone"])
    #expect(
      try Self.objects(jobs) {
        $0.objectID = "sub_slow"
        $0.cause = "http_503"
      } == [])
    let groups = try jobs.store.reader.failures(limit: 10).map {
      "\($0.reason) \($0.cause ?? "-") \($0.count)"
    }
    #expect(
      groups == [
        "gave_up connect_failed 1", "gave_up http_503 1", "gave_up timeout 1", "http_422 http_422 1",
      ])
    let recent = try #require(try jobs.store.reader.recentFailures(since: TestStore.start)["ios"])
    #expect(recent.count == 4)
    #expect(recent.allSatisfy { $0.count == 1 && $0.madeSince != nil })
    #expect(try jobs.store.reader.integrityFaults() == [])
  }

  @Test func `The trend of a group counts the receipts of its last 24 hours by the hour`() throws {
    let jobs = try Self.store()
    let group = try #require(try jobs.store.reader.failures(limit: 10).first { $0.cause == "connect_failed" })
    let made = try #require(group.newest)
    func trend(_ hours: Int64) throws -> [Int64] {
      try jobs.store.reader.trend(of: group, now: made + .hours(hours))
    }
    let none = [Int64](repeating: 0, count: 23)
    #expect(try trend(0) == none + [1])
    #expect(try trend(23) == [1] + none)
    #expect(try trend(24) == [0] + none)
  }

  @Test("A replay that succeeds has no cause any more; one that is cut short by a stop keeps the last")
  func replayed() throws {
    let jobs = try Self.store()
    let job = try jobs.run(try jobs.start { $0.cause = "timeout" })
    #expect(job.total == 1)
    #expect(job.count(.released) == 1)
    try Self.end(jobs, "slow", .retry(at: jobs.store.now, spent: false), error: "cancelled")
    #expect(try Self.objects(jobs) { $0.cause = "timeout" } == ["sub_slow"])
    try Self.end(jobs, "slow", .retry(at: jobs.store.now, spent: true), status: 200, error: "html_answer")
    #expect(try Self.objects(jobs) { $0.cause = "html_answer" } == ["sub_slow"])
    // Lists show the cause of a pending receipt as its reason.
    #expect(try Self.objects(jobs) { $0.reason = "html_answer" } == ["sub_slow"])
    #expect(
      try Self.objects(jobs) {
        $0.objectID = "sub_slow"
        $0.reason = "html_answer"
      } == ["sub_slow"])
    try Self.end(jobs, "slow", .delivered(importID: "imp2"), status: 200)
    #expect(try Self.objects(jobs) { $0.cause = "timeout" } == [])
    #expect(try jobs.store.reader.integrityFaults() == [])
  }

  @Test func `The text of a connection's failure is stored with the attempt`() throws {
    let jobs = try Self.store()
    var filter = ReceiptFilter()
    filter.cause = "connect_failed"
    let id = try #require(try jobs.store.reader.receipts(filter, limit: 1).first?.receipt?.id)
    let attempts = try #require(try jobs.store.reader.detail(receipt: id)?.attempts)
    #expect(attempts.map(\.report.detail) == ["pay.example:443: Connection refused"])
  }

  @Test func `A receipt that was delivered without an import id is found, and no other`() throws {
    let jobs = try Self.store()
    #expect(try Self.objects(jobs) { $0.lacksImportID = true } == ["sub_silent"])
    #expect(
      try Self.objects(jobs) {
        $0.lacksImportID = true
        $0.userID = "u1"
      } == ["sub_silent"])
    #expect(
      try Self.objects(jobs) {
        $0.lacksImportID = true
        $0.state = .failed
      } == [])
    let job = try jobs.start(force: true) { $0.lacksImportID = true }
    #expect(try jobs.run(job).total == 1)
  }
}
