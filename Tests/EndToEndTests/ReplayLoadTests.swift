// Replays beside new purchases, with the real programs.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct ReplayLoadTests {
  /// A relay with failed receipts, of which 60 of 100 can be replayed.
  private static func withFailed(
    app: JSONValue = [:], _ body: (Relay, Destination) throws -> Void
  ) throws {
    try withRelay(app: app) { relay, destination in
      try relay.stop()
      let start = SystemClock().wallMilliseconds - 15 * 86_400_000
      try LargeDatabase.fill(
        path: relay.databasePath, .init(receipts: 2000, failed: 1000), app: "shop", start: start)
      try relay.start()
      try body(relay, destination)
    }
  }

  @Test func `A new purchase is delivered next during a replay of hundreds to a slow destination`() throws {
    let app: JSONValue = ["delivery": ["concurrency": 4, "rate": 1000]]
    try Self.withFailed(app: app) { relay, destination in
      destination.answerAll(.late(.milliseconds(200), .taken))
      #expect(try relay.operate(["receipts", "replay", "--state", "failed", "--yes"]).end() == 3)
      _ = try destination.waitFor(requests: 12)
      for number in 0..<3 {
        let checkout = Checkout("now-\(number)")
        try relay.post(checkout)
        let before = destination.ledger.count
        try relay.ingest(checkout.completed)
        try relay.reaches(.delivered, checkout.subscription)
        let entry = try #require(destination.ledger(of: checkout.subscription).first)
        // A place is reserved for it: replays that came before it were already in flight.
        #expect(entry.number - before <= 8, "\(entry.number - before) replays came before it")
      }
      let pending = try relay.receipts { $0.state = .pending }.count
      #expect(pending <= 20, "\(pending) receipts are released and not delivered")
      let job = try #require(try relay.read { try $0.jobs(JobFilter(), limit: 1) }.first)
      #expect(job.count(.planned) > 400)
      #expect(job.count(.delivered) > 0)
    }
  }

  @Test("A job releases nothing while its app is refused, reports it, and resumes automatically")
  func pausedApp() throws {
    let app: JSONValue = ["delivery": ["breaker": ["open_for": "100ms"]]]
    try Self.withFailed(app: app) { relay, destination in
      destination.answerAll(.status(403))
      #expect(try relay.operate(["receipts", "replay", "--state", "failed", "--yes"]).end() == 3)
      try waitUntil("the app is paused") { try relay.breaker().state == .paused }
      let job = try #require(try relay.read { try $0.jobs(JobFilter(), limit: 1) }.first)
      #expect(job.count(.planned) >= 560)
      #expect(try relay.operate(["jobs", "show", job.id.text]).end() == 0)
      let said = TextFile.read(relay.directory.file("receiptctl.log"))
      #expect(said.contains("No receipt of shop is released while its deliveries to purchasely are stopped"))
      #expect(
        try relay.admin.request("GET", "/jobs/\(job.id)").text.contains("is released while its deliveries"))
      destination.answerAll(.taken)
      let done = try waitFor("the job is done") { () -> Job? in
        let found = try relay.read { try $0.job(id: job.id) }
        return found?.state == .done ? found : nil
      }
      #expect(done.count(.delivered) == 600)
    }
  }
}
