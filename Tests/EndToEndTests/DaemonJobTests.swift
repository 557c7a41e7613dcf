// Jobs with the real programs: killed, restarted, watched on a terminal (R3, R9).

import Domain
import Glibc
import Platform
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DaemonJobTests {
  /// A relay whose receipts failed for five reasons; two of the reasons make a receipt impossible to send as
  /// it is.
  private static func withFailed(
    _ size: LargeDatabase.Size, isStarted: Bool = true, _ body: (Relay, Destination) throws -> Void
  ) throws {
    try withRelay { relay, destination in
      try relay.stop()
      let start = SystemClock().wallMilliseconds - 15 * 86_400_000
      try LargeDatabase.fill(path: relay.databasePath, size, app: "shop", start: start)
      if isStarted { try relay.start() }
      try body(relay, destination)
    }
  }

  private static func words(_ relay: Relay, _ arguments: String...) -> [String] {
    relay.receiptctlCommand + arguments
  }

  private static func onlyJob(_ relay: Relay) throws -> Job? {
    try relay.read { try $0.jobs(JobFilter(), limit: 2) }.first
  }

  @Test("A paced job survives kill -9 of receiptd, keeps its pace, and delivers its receipts (R3, R9)")
  func killedInTheMiddle() throws {
    try Self.withFailed(.init(receipts: 2000, failed: 100)) { relay, destination in
      let replay = try relay.operate(["receipts", "replay", "--state", "failed", "--rate", "30/s", "--yes"])
      #expect(try replay.end() == 3, "two of five lack something and are left")
      let before = try destination.waitFor(requests: 15)
      try relay.stop(SIGKILL)
      #expect(try Self.onlyJob(relay)?.state == .running)
      let count = destination.ledger.count
      try relay.start()
      let job = try waitFor("the job is done") { () -> Job? in
        let job = try Self.onlyJob(relay)
        return job?.endedAt == nil ? nil : job
      }
      #expect(job.state == .done)
      #expect(job.count(.delivered) == 60)
      #expect(job.total == 60)
      let ledger = destination.ledger
      let objects = Set(ledger.compactMap(\.objectID))
      #expect(objects.count == 60)
      // Only deliveries in flight at the kill are repeated.
      #expect(ledger.count - 60 <= count - before.count + 8)
      // 60 deliveries at 30/s take 59/30 s, minus at most one second of catching up.
      let took = try #require(ledger.last).at.duration(since: try #require(ledger.first).at)
      #expect(took > .milliseconds(900))
      #expect(try relay.read { try $0.integrityFaults() } == [])
    }
  }

  @Test func `receiptd continues a job whose receiptctl is killed while it selects receipts`() throws {
    try Self.withFailed(.init(receipts: 60_000, failed: 30_000)) { relay, destination in
      let replay = try relay.operate(["receipts", "replay", "--state", "failed", "--rate", "0.001", "--yes"])
      _ = try waitFor("the job is made") { try Self.onlyJob(relay) }
      replay.send(SIGKILL)
      _ = try replay.end()
      let job = try waitFor("the job is prepared") { () -> Job? in
        let job = try Self.onlyJob(relay)
        return job?.state == .running ? job : nil
      }
      #expect(job.total == 18_000)
      #expect(try relay.operate(["jobs", "cancel", job.id.text, "--yes"]).end() == 0)
      #expect(try relay.operate(["jobs", "watch", job.id.text]).end() == 3)
      #expect(destination.ledger.count <= 1)
    }
  }

  @Test("On a terminal a replay shows its receipts, asks, and draws a bar; a partial failure ends with 3")
  func onATerminal() throws {
    try Self.withFailed(.init(receipts: 2000, failed: 500)) { relay, destination in
      destination.answerAll { $0.number % 10 == 0 ? .status(422) : .taken }
      let terminal = try PseudoTerminal(
        Self.words(relay, "receipts", "replay", "--state", "failed", "--wait"))
      #expect(terminal.shows("Replay 300 receipts? [y/N]"))
      #expect(terminal.text.contains("gave_up"))
      #expect(terminal.text.contains("OLDEST"))
      terminal.type("y\n")
      #expect(terminal.shows("delivering ["))
      #expect(terminal.end() == 3)
      #expect(terminal.text.contains("300/300"))
      #expect(terminal.text.contains("/s"))
      #expect(terminal.text.contains("270 delivered, 30 failed."))
      #expect(terminal.text.contains("http_422"))
      #expect(terminal.text.contains("lacks its"))
    }
  }

  @Test func `Ctrl-C does not change a watched job, and the job can be watched again to its end`() throws {
    try Self.withFailed(.init(receipts: 2000, failed: 40)) { relay, _ in
      let terminal = try PseudoTerminal(
        Self.words(
          relay, "receipts", "replay", "--state", "failed", "--reason", "gave_up", "--rate", "2/s", "--wait",
          "--yes"))
      #expect(terminal.shows(" left"))
      terminal.interrupt()
      #expect(terminal.end() == 75)
      #expect(terminal.text.contains("continues. Watch it again with: receiptctl jobs watch job_"))
      let job = try #require(try Self.onlyJob(relay))
      #expect(job.state == .running)
      #expect(job.endedAt == nil)
      let again = try PseudoTerminal(Self.words(relay, "jobs", "watch", job.id.text))
      #expect(again.end() == 0)
      #expect(again.text.contains("8/8"))
      #expect(again.text.contains("8 delivered."))
    }
  }
}
