// Bulk commands on a realistically large database: what they show, what they change, how they end.

import Domain
import Formats
import Platform
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@Suite struct BulkTests {
  /// 200,000 receipts, 4,000 of which failed for five reasons.
  private static func large(_ size: LargeDatabase.Size = .init()) throws -> OperatorHarness {
    let harness = try OperatorHarness()
    try LargeDatabase.fill(path: harness.databasePath, size, start: ManualClock.start - 15 * 86_400_000)
    return harness
  }

  @Test func aPreviewOfALargeDatabaseIsQuickAndTellsReasonsAgesAndTime() throws {
    let harness = try Self.large()
    let began = MonotonicInstant.now()
    let ran = harness.run("receipts", "replay", "--state", "failed", "--rate", "5/s", "--dry-run")
    #expect(MonotonicInstant.now().duration(since: began) < .seconds(2))
    #expect(ran.code == .done)
    Snapshot.check(ran.out, "receipts-replay-large")
    let price =
      "800 receipts left as they are: each lacks its price; supply it with: receiptctl receipts complete"
    #expect(ran.notes.split(separator: price, omittingEmptySubsequences: false).count == 2, "\(ran.notes)")
    let json = try #require(
      try harness.run("receipts", "replay", "--state", "failed", "--rate", "5/s", "-n", "--json")
        .objects.last)
    #expect(json["would_replay"] == 2400)
    #expect(json["refused"] == 1600)
    #expect(json["estimate_seconds"] == 480)
    guard case .array(let groups) = json["groups"] else { throw UsageError("no groups") }
    #expect(groups.count == 3)
    #expect(groups.allSatisfy { $0["count"] == 800 })
    // Delivered receipts are only counted.
    let delivered = harness.run("receipts", "replay", "--state", "delivered", "--yes")
    #expect(delivered.code == .refused)
    #expect(delivered.notes.contains("196,000 receipts left as they are: each is delivered already"))
  }

  @Test func `A list that compared only a part of the receipts does not say that there are none`() throws {
    let harness = try Self.large(.init(receipts: 6000, failed: 100))
    let list = ["receipts", "list", "--price", "price_nowhere"]
    let table = harness.run(arguments: list)
    #expect(table.code == .partly)
    #expect(table.out.contains("None of the newest 5,000 receipts matches"))
    let json = harness.run(arguments: list + ["--json"])
    #expect(json.code == .partly)
    #expect(try json.objects.map { $0["compared"] } == [5000])
    #expect(try json.objects.first?["complete"] == false)
    let found = harness.run("find", "price_nowhere")
    #expect(found.code == .notFound)
    #expect(found.notes.contains("none of the newest 5,000 receipts has this price"))
  }

  @Test func aBulkReplayTellsWhatItCouldNotReplayAndLeavesAJobToLookAt() throws {
    let harness = try Self.large(.init(receipts: 20_000, failed: 1000))
    let ran = harness.run("receipts", "replay", "--state", "failed", "--yes", "--json", "--why", "outage")
    #expect(ran.code == .partly)
    #expect(try ran.objects.last?["replayed"] == 600)
    #expect(
      ran.notes.contains(
        "200 receipts left as they are: each lacks its price; supply it with: receiptctl receipts"))
    let id = try #require(ran.job)
    let shown = harness.run("jobs", "show", id).out
    for word in [
      "state failed", "running", "600: 20 under way, 580 to come", "ann", "outage",
    ] {
      #expect(shown.contains(word), "\(word) in \(shown)")
    }
    // One entry for the job, none for each receipt.
    let audit = try harness.reader().audit(AuditFilter(), limit: 10)
    #expect(audit.map(\.entry.subject) == [id])
    #expect(audit.first?.entry.reason == "outage")
    let receipt = LargeDatabase.receiptID(20 * 5, start: ManualClock.start - 15 * 86_400_000)
    let story = harness.run("receipts", "show", receipt).out
    #expect(story.contains("\(id), replay, started by ann: outage"))
    #expect(try harness.reader().integrityFaults() == [])
    #expect(shown.contains("state     running, no receiptd\n"), "a job does not run while receiptd is down")
    #expect(shown.contains("No receiptd serves this database: the job continues"))
    let listed = harness.run("jobs", "list", "--state", "running").out
    #expect(listed.contains("running, no receiptd  "))
    #expect(listed.contains(id))
    #expect(listed.contains("replay: state failed  "))
  }

  @Test func idsComeFromTheInputAsWordsOrAsLinesOfJSON() throws {
    let harness = try Self.large(.init(receipts: 2000, failed: 400))
    let listed = harness.run(
      "receipts", "list", "--state", "failed", "--reason", "gave_up", "--limit", "500", "--json")
    let ids = try listed.objects.compactMap { $0["id"]?.stringValue }
    #expect(ids.count == 80)
    let few = harness.run(
      "receipts", "replay", "-", "--yes", "--json", input: "\n \(ids[0]) \r\n\n{\"id\": \"\(ids[1])\"}\n")
    #expect(few.code == .done)
    #expect(few.last == "{\"replayed\":2,\"ids\":[\"\(ids[1])\",\"\(ids[0])\"]}")
    let all = harness.run("receipts", "cancel", "-", "--why", "test", "--yes", input: listed.out)
    #expect(all.out == "Cancelled 80 receipts.\n")
    for input in ["{}", "{\"id\": 1}", "rcp_\u{0}\n{", "{"] {
      #expect(harness.run("receipts", "replay", "-", "--yes", input: input).code != .done)
    }
    let none = harness.run("receipts", "replay", "-", "--yes", "--json", input: "\n")
    #expect(none.code == .done)
    #expect(none.last == "{\"replayed\":0,\"ids\":[]}")
    // Confirmation is impossible when stdin provides the ids.
    #expect(harness.run("receipts", "replay", "-", input: ids[2]).code == .refused)
  }

  @Test func manyIDsBecomeAJob() throws {
    let harness = try Self.large(.init(receipts: 5000, failed: 2000))
    let listed = harness.run(
      "receipts", "list", "--state", "failed", "--reason", "http_422", "--limit", "10000", "--json")
    let ids = try listed.objects.compactMap { $0["id"]?.stringValue }
    let ran = harness.run("receipts", "replay", "-", "--yes", "--json", input: listed.out)
    #expect(ran.code == .done)
    #expect(try ran.objects.count == 1)
    #expect(try ran.objects.last?["replayed"] == .integer(Int64(ids.count)))
    let job = try #require(try harness.reader().jobs(JobFilter(), limit: 1).first)
    #expect(job.request.source == .ids(count: ids.count))
    #expect(job.count(.released) == 20)
    // The oldest was released first.
    #expect(try harness.reader().receipts(ofJob: job.row, limit: 1).first?.receiptID?.text == ids.min())
  }

  @Test func cancelAndCompleteTakeFilters() throws {
    let harness = try Self.large(.init(receipts: 2000, failed: 400))
    let asked = harness.run(
      "receipts", "cancel", "--state", "failed", "--reason", "user", "--why", "w", answer: "y")
    #expect(asked.code == .done)
    #expect(asked.notes.contains("Cancel 80 receipts? [y/N]"))
    #expect(asked.notes.contains("NEWEST"))
    #expect(asked.out == "Cancelled 80 receipts.\n")
    let completed = harness.run(
      "receipts", "complete", "--state", "failed", "--reason", "price", "--price", "price_7", "--yes",
      "--json")
    #expect(completed.code == .done)
    #expect(try completed.objects.last?["completed"] == 80)
    let id = try #require(try completed.objects.last?["ids"]).text
    #expect(id.contains("rcp_"))
    let counts = try harness.reader().counts().map { "\($0.state) \($0.count)" }
    #expect(counts == ["cancelled 80", "delivered 1600", "failed 300", "pending 20"])
    #expect(try harness.reader().integrityFaults() == [])
  }

  @Test func `Receipts that the destination refused get another price as a job, slowly`() throws {
    let harness = try Self.large(.init(receipts: 2000, failed: 400))
    let refused = ["receipts", "complete", "--state", "failed", "--reason", "http_422", "--price", "price_7"]
    let paced = refused + ["--rate", "2/s"]
    let preview = try #require(
      try harness.run(arguments: paced + ["--dry-run", "--json"]).objects.first)
    #expect(preview["would_complete"] == 80)
    #expect(preview["estimate_seconds"] == 40)
    let ran = harness.run(arguments: paced + ["--yes"])
    #expect(ran.code == .done)
    let id = try #require(ran.job)
    #expect(ran.out == "Job \(id) completes 80 receipts, about 40 s at 2/s.\n")
    let shown = harness.run("jobs", "show", id).out
    #expect(shown.contains("complete: state failed, reason http_422, with the price price_7"))
    #expect(shown.contains("80: 80 to come"))
    let single = harness.run("receipts", "complete", "rcp_1", "--price", "price_7", "--rate", "2/s")
    #expect(single.code == .usage)
    #expect(single.notes.contains("--rate is for several receipts"))
  }

  @Test func severalAreCompletedOnlyWhereTheyLackAPrice() throws {
    let harness = try Self.large(.init(receipts: 2000, failed: 400))
    let typo = ["receipts", "complete", "--state", "failed", "--reason", "gave_up", "--price", "price_TYPO"]
    let ran = harness.run(arguments: typo + ["--yes"])
    #expect(ran.code == .refused)
    #expect(ran.out == "Completed 0 receipts.\n")
    #expect(ran.notes.contains("80 receipts left as they are: each does not lack a price"))
    let json = try harness.run(arguments: typo + ["--dry-run", "--json"]).objects.last
    #expect(json?["would_complete"] == 0)
    #expect(json?["refused"] == 80)
    #expect(try harness.reader().counts().contains { $0.state == .pending } == false)
  }

  @Test func aJobIsPausedResumedWatchedAndCancelledByHand() throws {
    let harness = try Self.large(.init(receipts: 2000, failed: 100))
    let ran = harness.run("receipts", "replay", "--state", "failed", "--rate", "1/s", "--yes", "--json")
    let id = try #require(ran.job)
    #expect(harness.run("jobs", "pause", id, "--reason", "too fast").out.contains("is paused; 60 to come"))
    #expect(harness.run("jobs", "pause", id).out.contains("is paused already"))
    let watched = harness.run("jobs", "watch", id)
    #expect(watched.code == .tryAgain)
    #expect(watched.notes.contains("Job \(id) is paused"))
    #expect(watched.notes.contains("resume it with"))
    #expect(harness.run("jobs", "resume", id).code == .done)
    #expect(harness.run("jobs", "cancel", id).code == .refused)
    #expect(harness.run("jobs", "cancel", id, "--reason", "wrong ones", answer: "y").code == .done)
    #expect(harness.run("jobs", "resume", id).code == .refused)
    #expect(harness.run("jobs", "watch", id, "--json").code == .partly)
    #expect(try harness.run("jobs", "show", id, "--json").objects.first?["planned"] == 60)
    #expect(harness.run("jobs", "list").out.contains("cancelled  replay: state failed     0  60"))
    #expect(harness.run("jobs", "show", "job_none").code == .notFound)
    let audit = try harness.reader().audit(AuditFilter(), limit: 10).map(\.entry.action)
    #expect(audit == ["jobs cancel", "jobs resume", "jobs pause", "receipts replay"])
    #expect(try harness.reader().counts().contains { $0.state == .pending } == false)
  }

  @Test func watchingDoesTheWorkWhereNoReceiptdDoes() throws {
    let harness = try Self.large(.init(receipts: 2000, failed: 100))
    var filter = ReceiptFilter()
    filter.state = .failed
    filter.reason = "http_422"
    // The state after a receiptctl that was killed before its first step.
    let job = try harness.writer.apply(
      StartJob(JobRequest(source: .filter(filter, limit: nil), actor: "ann")), now: harness.clock.now)
    let (path, clock) = (harness.databasePath, harness.clock)
    let ran = harness.run(
      "jobs", "watch", job.id.text,
      pause: { _ in
        // A failed write shows up as a wait that never ends.
        guard let writer = try? StoreWriter(path: path, role: .guest, rules: [:]),
          let due = try? StoreReader(path: path).due(app: "ios", now: clock.now, limit: 1000)
        else { return }
        let report = AttemptReport(at: clock.now)
        for receipt in due {
          let record = RecordAttempt(
            of: receipt.id, app: "ios", report: report, decision: .delivered(importID: nil))
          _ = try? writer.apply(record, now: clock.now)
        }
      })
    #expect(ran.code == .done)
    #expect(ran.out == "Job \(job.id) is done.\n")
    #expect(ran.notes.contains("20 delivered."))
  }
}
