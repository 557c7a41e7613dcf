// Tests what remains of an erased user in a job.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Jobs about a user who is forgotten", .everyEngine)
struct JobErasureTests {
  @Test func `A job kept the import id, the session or the customer of an erased receipt`() throws {
    let store = try TestStore()
    var said = Said.completed("secret", user: "u1", prices: ["price_1"])
    said.customerID = "cus_secret"
    try store.ingest(said)
    let report = AttemptReport(at: store.now, duration: .milliseconds(5))
    let record = try store.only()
    _ = try store.apply(
      RecordAttempt(
        of: try #require(record.receipt?.id), app: "ios", report: report,
        decision: .delivered(importID: "imp-secret")))
    var filters = [ReceiptFilter](repeating: ReceiptFilter(), count: 5)
    filters[0].importID = "imp-secret"
    filters[1].sessionID = "cs_secret"
    filters[2].customerID = "cus_secret"
    filters[3].objectID = "sub_secret"
    // Of another app, which has its own ids.
    (filters[4].objectID, filters[4].app) = ("sub_secret", "web")
    let jobs = try filters.map { filter in
      try store.apply(
        StartJob(JobRequest(source: .filter(filter, limit: nil), actor: "ann", reason: "secret-user called")))
    }
    _ = try store.apply(ForgetPurchases(rows: [record.rowID], cancelsOpen: true))
    for (number, job) in jobs.enumerated() {
      let left = try #require(try store.reader.job(id: job.id)).request
      #expect(left.source.json.text.contains("secret") == (number == 4), "\(left.source.json.text)")
      #expect((left.reason == nil) == (number != 4))
    }
  }

  @Test func `Neither the job's filters nor its reason names the user any more`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(user: "secret-user", prices: ["price_1"]))
    var filter = ReceiptFilter()
    filter.userID = "secret-user"
    let request = JobRequest(source: .filter(filter, limit: nil), actor: "ann", reason: "secret-user called")
    let job = try store.apply(
      Audited(StartJob(request)) { job in
        AuditEntry(
          at: job.createdAt, actor: "ann", action: "receipts replay", subject: job.id.text,
          reason: job.request.reason)
      })
    let rows = try store.receipts().map(\.rowID)
    _ = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    _ = try store.apply(ForgetUserRows(.contexts, app: "ios", userID: "secret-user"))
    let left = try #require(try store.reader.job(id: job.id))
    #expect(!left.request.source.json.text.contains("secret"))
    #expect(left.request.reason == nil)
    #expect(try store.reader.audit(AuditFilter(), limit: 1).first?.entry.reason == nil)
    var work = JobWork(job: job.row)
    guard case .apply(let step) = try work.next(store.reader, now: store.now) else { return }
    try store.apply(step)
    #expect(try store.reader.job(id: job.id)?.total == 0)
  }
}
