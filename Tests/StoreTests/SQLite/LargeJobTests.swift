// Tests jobs with more receipts than one step handles, on a generated database.

import Domain
import Store
import TestSupport
import Testing

@Suite("Large jobs")
struct LargeJobTests {
  @Test func `A half-prepared job continues, or is cancelled completely`() throws {
    let jobs = try JobStore(failed: 0)
    try LargeDatabase.fill(path: jobs.store.path, .init(receipts: 5000, failed: 2500))
    jobs.store.now = Timestamp(unixMilliseconds: LargeDatabase.start + 40 * day)
    let job = try jobs.start()
    #expect(try jobs.run(job, stepsMax: 2).total == 1200)
    #expect(try jobs.current(job).state == .preparing)
    #expect(try jobs.store.apply(ChangeJob(id: job.id, .pause)) == .notAllowed(.preparing))
    try jobs.store.reopen()
    let prepared = try jobs.run(job, stepsMax: 1)
    #expect(prepared.state == .running)
    #expect(prepared.total == 1500)
    #expect(prepared.count(.planned) == 1500)
    let other = try jobs.start()
    try jobs.run(other, stepsMax: 1)
    _ = try jobs.store.apply(ChangeJob(id: other.id, .cancel))
    #expect(try jobs.run(other).endedAt != nil)
    #expect(try jobs.store.reader.counts().contains { $0.state == .pending } == false)
  }

  @Test func `Jobs that ended long ago are deleted, a slice at a time; open ones stay`() throws {
    let jobs = try JobStore(failed: 0)
    try LargeDatabase.fill(path: jobs.store.path, .init(receipts: 3000, failed: 2500))
    jobs.store.now = Timestamp(unixMilliseconds: LargeDatabase.start + 40 * day)
    let old = try jobs.run(try jobs.start(.cancel))
    #expect(old.state == .done)
    #expect(old.total == 2500)
    let open = try jobs.start { _ in }
    var slices = 0
    while try jobs.store.apply(RetainJobs(cutoff: jobs.store.after(day))) { slices += 1 }
    #expect(slices == 3)
    #expect(try jobs.store.reader.jobs(JobFilter(), limit: 10).map(\.id) == [open.id])
    #expect(try jobs.store.integer("SELECT count(*) FROM job_receipts") == 0)
    #expect(try jobs.store.reader.integrityFaults() == [])
  }
}
