// Jobs inside the daemon: started through the committer, run by the job runner only.

import Domain
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Daemon
@testable import Upkeep

@Suite("The job runner") struct JobRunnerTests {
  @Test("A job started in the daemon is prepared and run to its end while requests are accepted")
  func wholeJob() throws {
    let destination = try ScriptedDestination()
    let bench = try Bench([Bench.app(url: destination.url)], isStarted: false)
    let start = SystemClock().wallMilliseconds - 86_400_000
    try LargeDatabase.fill(path: bench.path, .init(receipts: 3000, failed: 500), app: "shop", start: start)
    try bench.start()
    var filter = ReceiptFilter()
    filter.state = .failed
    filter.reason = "gave_up"
    let job = try bench.store(
      StartJob(JobRequest(source: .filter(filter, limit: nil), actor: "dashboard", reason: "outage")))
    bench.core.jobs.checkNow()
    try bench.sell(5000)
    try bench.waitFor(5000, .delivered)
    // The last step causes no notification, so poll.
    let deadline = soon()
    var last = job
    while last.endedAt == nil, MonotonicInstant.now() < deadline {
      try bench.store(Barrier())
      last = try #require(try bench.reader.job(id: job.id))
    }
    let done = last
    #expect(done.state == .done)
    #expect(done.count(.delivered) == 100)
    #expect(done.missed == [])
    #expect(destination.received.count == 101)
    #expect(try bench.reader.integrityFaults() == [])
  }
}
