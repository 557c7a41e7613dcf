// Tests what remains of an erased user in a job.

import Domain
import JSON
import Store
import Testing

@Suite("Jobs about a user who is forgotten", .everyEngine)
struct JobErasureTests {
  @Test("Neither the job's filters nor its reason names the user any more")
  func forgotten() throws {
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
