import Domain
import Formats
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@Suite struct ReplayTests {
  /// Three failed receipts, one delivered, one waiting for its user.
  private static func harness() throws -> (harness: OperatorHarness, failed: [String], delivered: String) {
    let harness = try OperatorHarness()
    var failed: [String] = []
    for number in 1...3 {
      failed.append(try harness.purchase("sub_\(number)"))
      try harness.fail(failed[number - 1], status: number == 3 ? 400 : 422)
      harness.clock.advance(.seconds(60))
    }
    let delivered = try harness.purchase("sub_delivered")
    try harness.deliver(delivered)
    harness.clock.advance(.hours(1))
    return (harness, failed, delivered)
  }

  @Test func aDryRunShowsAndChangesNothing() throws {
    let (harness, failed, _) = try Self.harness()
    let ran = harness.run("receipts", "replay", "--state", "failed", "--dry-run")
    #expect(ran.code == .done)
    Snapshot.check(ran.out, "receipts-replay-dry-run")
    for id in failed { #expect(try harness.receipt(id).state == .failed) }
    let object = try #require(
      try harness.run("receipts", "replay", "--state", "failed", "-n", "--json").objects.last)
    #expect(object["replayed"] == 0)
    #expect(object["would_replay"] == 3)
  }

  @Test func withoutATerminalItIsRefused() throws {
    let (harness, failed, _) = try Self.harness()
    let ran = harness.run("receipts", "replay", "--state", "failed")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("this needs a confirmation; add --yes"))
    #expect(try harness.receipt(failed[0]).state == .failed)
  }

  @Test(arguments: [("n", ExitCode.refused, ReceiptState.failed), ("y", .done, .pending)])
  func aPersonDecides(answer: String, code: ExitCode, state: ReceiptState) throws {
    let (harness, failed, _) = try Self.harness()
    let ran = harness.run("receipts", "replay", "--state", "failed", answer: answer)
    #expect(ran.code == code)
    #expect(ran.notes.contains("Replay 3 receipts? [y/N]"))
    // The groups are shown before the question.
    #expect(ran.notes.contains("http_422"))
    for id in failed { #expect(try harness.receipt(id).state == state) }
  }

  @Test func aReplayIsDueNowWithAFreshBudgetAndItsHistory() throws {
    let (harness, failed, _) = try Self.harness()
    let ran = harness.run("receipts", "replay", failed[0], "--yes", "--json")
    #expect(ran.code == .done)
    #expect(ran.out == "{\"replayed\":1,\"ids\":[\"\(failed[0])\"]}\n")
    let receipt = try harness.receipt(failed[0])
    #expect(receipt.state == .pending)
    #expect(receipt.reason == nil)
    #expect(receipt.nextAttemptAt == harness.clock.now)
    #expect(receipt.retrySince == harness.clock.now)
    #expect(receipt.spentAttempts == 0)
    #expect(receipt.attempts == 1)
    #expect(try harness.receipt(failed[1]).state == .failed)
  }

  @Test func filtersNarrowAReplay() throws {
    let (harness, failed, _) = try Self.harness()
    let ran = harness.run(
      "receipts", "replay", "--state", "failed", "--reason", "http_400", "--yes", "--json")
    #expect(ran.last == "{\"replayed\":1,\"ids\":[\"\(failed[2])\"]}")
    // The job is reported before it is done.
    let job = try #require(ran.job)
    #expect(try harness.reader().job(id: JobID(job))?.count(.released) == 1)
    let limited = harness.run("receipts", "replay", "--state", "failed", "--limit", "1", "--yes", "--json")
    #expect(limited.last == "{\"replayed\":1,\"ids\":[\"\(failed[1])\"]}")
    let none = harness.run("receipts", "replay", "--state", "failed", "--user", "nobody", "--yes", "--json")
    #expect(none.code == .done)
    #expect(none.out == "{\"replayed\":0,\"ids\":[]}\n")
  }

  @Test func whatIsDeliveredIsSentAgainByForceOnly() throws {
    let (harness, failed, delivered) = try Self.harness()
    let alone = harness.run("receipts", "replay", delivered, "--yes")
    #expect(alone.code == .refused)
    #expect(alone.notes.contains("\(delivered) is delivered already; --force sends it again"))
    let partly = harness.run("receipts", "replay", delivered, failed[0], "--yes", "--json")
    #expect(partly.code == .partly)
    #expect(partly.out == "{\"replayed\":1,\"ids\":[\"\(failed[0])\"]}\n")
    #expect(try harness.receipt(delivered).state == .delivered)
    #expect(harness.run("receipts", "replay", delivered, "--yes", "--force").code == .done)
    #expect(try harness.receipt(delivered).state == .pending)
  }

  @Test func aRateIsLeftToReceiptd() throws {
    let (harness, failed, _) = try Self.harness()
    let ran = harness.run("receipts", "replay", "--state", "failed", "--rate", "0.5/s", "--yes")
    #expect(ran.code == .done)
    #expect(ran.out.contains("replays 3 receipts, about 6 s at 0.5/s."))
    #expect(ran.notes.contains("No receiptd seems to serve this database; the job begins once one does."))
    let job = try #require(try harness.reader().jobs(JobFilter(), limit: 1).first)
    #expect(job.state == .running)
    #expect(job.total == 3)
    #expect(job.count(.planned) == 3)
    for id in failed { #expect(try harness.receipt(id).state == .failed) }
    // receiptd begins with the oldest receipt.
    var work = JobWork(job: job.row)
    guard case .apply(let step) = try work.next(try harness.reader(), now: harness.clock.now) else {
      Issue.record("nothing to do")
      return
    }
    try harness.writer.apply(step, now: harness.clock.now)
    #expect(try failed.map { try harness.receipt($0).state } == [.pending, .failed, .failed])
  }

  @Test func anUnknownIDTouchesNone() throws {
    let (harness, failed, _) = try Self.harness()
    let ran = harness.run("receipts", "replay", failed[0], "rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM", "--yes")
    #expect(ran.code == .notFound)
    #expect(ran.notes.contains("there is no receipt rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM; ids are in"))
    #expect(try harness.receipt(failed[0]).state == .failed)
  }

  @Test func whatLacksSomethingSaysHowToSupplyIt() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", user: nil)
    let ran = harness.run("receipts", "replay", id, "--yes")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("\(id) lacks its user: receiptctl receipts complete \(id) --user USER"))
  }

  @Test func whatWasDeconfiguredIsLeft() throws {
    let harness = try OperatorHarness()
    // Created for an app that is not in the configuration.
    harness.writer.use(rules: [
      "gone": AppRules(join: JoinPolicy(waitForContext: .zero), processors: .stripe) { _ in [1] }
    ]
    )
    let id = try harness.purchase("sub_1", app: "gone")
    try harness.fail(id)
    let ran = harness.run("receipts", "replay", id, "--yes")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("is of the app 'gone', which is not configured"))
    // Nothing is sent, so nothing of the app is needed.
    let cancelled = harness.run(
      "receipts", "cancel", "--app", "gone", "--state", "failed", "--why", "gone", "--yes")
    #expect(cancelled.code == .done)
    #expect(try harness.receipt(id).state == .cancelled)
  }

  @Test func `The estimate of a job respects delivery.rate, before it begins and while it runs`() throws {
    let harness = try OperatorHarness()
    for number in 1...10 { try harness.fail(try harness.purchase("sub_\(number)")) }
    try harness.configure { $0.replacing("join: {", with: "delivery: { rate: 0.5 }, join: {") }
    let arguments = ["receipts", "replay", "--state", "failed", "--rate", "5/s"]
    let preview = try #require(try harness.run(arguments: arguments + ["-n", "--json"]).objects.last)
    #expect(preview["estimate_seconds"] == 20)
    #expect(harness.run(arguments: arguments + ["-n"]).out.contains("about 20 s at 0.5/s (delivery.rate)"))
    let slower = harness.run("receipts", "replay", "--state", "failed", "--rate", "0.1/s", "-n").out
    #expect(slower.contains("at 0.1/s;"))
    let job = try #require(harness.run(arguments: arguments + ["--yes"]).job)
    #expect(try harness.run("jobs", "show", job, "--json").objects.first?["seconds_left"] == 20)
    #expect(harness.run("jobs", "show", job).out.contains("5/s (0.5/s by delivery.rate), 20 s left"))
  }

  @Test func `A job whose receipts failed again does not say that it is done and nothing else`() throws {
    let harness = try OperatorHarness()
    let ids = try (1...3).map { number in
      let id = try harness.purchase("sub_\(number)")
      try harness.fail(id)
      return id
    }
    let started = harness.run("receipts", "replay", "--state", "failed", "--yes")
    let job = try #require(started.job)
    try harness.deliver(ids[0])
    for id in ids.dropFirst() { try harness.fail(id) }
    let watched = harness.run("jobs", "watch", job)
    #expect(watched.code == .partly)
    #expect(watched.out == "Job \(job) is done, 2 of 3 not delivered.\n")
    #expect(harness.run("jobs", "list").out.contains("done, 2 of 3 not delivered"))
    #expect(try harness.run("jobs", "show", job, "--json").objects.first?["state"] == "done")
  }

  @Test func waitingFollowsUntilEachEnded() throws {
    let (harness, failed, _) = try Self.harness()
    // During the wait, the destination accepts one and rejects two.
    let path = harness.databasePath
    let clock = harness.clock
    let ran = harness.run(
      "receipts", "replay", "--state", "failed", "--yes", "--wait", "--json",
      pause: { _ in
        guard clock.wallMilliseconds % 1000 < 250,
          let writer = try? StoreWriter(path: path, role: .guest, rules: [:])
        else { return }
        let report = AttemptReport(at: clock.now)
        for (index, id) in failed.enumerated() {
          let decision: Delivery.Decision = index == 0 ? .delivered(importID: nil) : .failed(.status(422))
          // A failed write shows up as a wait that never ends.
          _ = try? writer.apply(
            RecordAttempt(of: ReceiptID(id), app: "ios", report: report, decision: decision),
            now: clock.now)
        }
      })
    #expect(ran.code == .partly)
    #expect(ran.notes.contains("No receiptd seems to serve this database"))
    #expect(ran.notes.contains("1 delivered, 2 failed."))
    #expect(ran.notes.contains("failed   http_422      2"))
    #expect(try ran.objects.last?["replayed"] == 3)
  }

  @Test func `A replay says that receipts are pending again, not that they were replayed`() throws {
    let harness = try OperatorHarness()
    for number in 1...3 { try harness.fail(harness.purchase("sub_\(number)")) }
    let one = harness.run(
      "receipts", "replay", "--yes",
      try #require(try harness.reader().receipts(ReceiptFilter(), limit: 1).first?.receipt?.id.text))
    #expect(
      one.out
        == "1 receipt is pending again; no receiptd serves this database, so it is sent once one does.\n")
    let more = harness.run("receipts", "replay", "--state", "failed", "--yes")
    #expect(
      more.out
        == "2 receipts are pending again; no receiptd serves this database, so they are sent once one does.\n"
    )
  }

  @Test func thousandsAreReplayedInSlices() throws {
    let harness = try OperatorHarness()
    let rules = AppRules(join: JoinPolicy(waitForContext: .zero), processors: .stripe) { _ in [1] }
    harness.writer.use(rules: ["ios": rules])
    var events: [IngestEvent] = []
    for number in 0..<1200 {
      // Without a price they would fail when the wait ends; here their last answer makes them fail.
      let report = PurchaseReport(
        key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .paid,
        clientReference: "u", prices: ["price_1"], happenedAt: harness.clock.now)
      events.append(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: "evt_many_\(number)", type: "t", body: [],
          content: .report(report, keep: true)))
    }
    _ = try harness.writer.apply(CommandList(events), now: harness.clock.now)
    let pending = try harness.reader().due(app: "ios", now: harness.clock.now, limit: 2000)
    let report = AttemptReport(at: harness.clock.now, status: 422)
    _ = try harness.writer.apply(
      CommandList(
        pending.map {
          RecordAttempt(of: $0.id, app: "ios", report: report, decision: .failed(.status(422)))
        }), now: harness.clock.now)
    let ran = harness.run("receipts", "replay", "--state", "failed", "--yes", "--json")
    #expect(ran.code == .done)
    #expect(try ran.objects.last?["replayed"] == 1200)
    // receiptd releases the receipts that had no room.
    let counts = try harness.reader().counts().map { "\($0.state) \($0.count)" }
    #expect(counts == ["failed 1180", "pending 20"])
    #expect(ran.notes.contains("No receiptd seems to serve this database; the job begins once one does."))
  }
}
