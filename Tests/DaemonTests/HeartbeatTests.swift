// The heartbeat for a dead man's switch.

import Formats
import HTTPClient
import Platform
import Testing

@testable import Config
@testable import Upkeep

@Suite("Heartbeat") struct HeartbeatTests {
  @Test func `Heartbeats are sent only while the relay is ready and its writer makes progress`() throws {
    let heartbeat = Configuration.Heartbeat(to: Secret("https://beat.example.com/x"))
    let bench = try AlertBench([], heartbeat: heartbeat)
    /// Lets the committer answer between two steps.
    func live(_ time: Duration, _ run: inout AlerterRun) throws -> Int {
      let before = bench.network.requests.count
      for _ in 0..<(time.components.seconds) {
        try bench.pass(.zero, &run)
        try bench.authorize()
        try bench.pass(.zero, &run)
        bench.clock.advance(.seconds(1))
      }
      return bench.network.requests.count - before
    }
    try bench.live { run throws in
      #expect(try live(.minutes(5), &run) == 5)
      #expect(bench.network.requests.allSatisfy { $0.method == .get && $0.body.isEmpty })
      bench.unreadiness.withLock { $0 = ["the disk is full"] }
      #expect(try live(.minutes(5), &run) == 0)
      bench.unreadiness.withLock { $0 = [] }
      #expect(try live(.minutes(1), &run) > 0)
      bench.network.use { _ in 500 }
      #expect(try live(.minutes(2), &run) >= 5)
      bench.network.use { _ in 200 }
      #expect(try live(.minutes(1), &run) > 0)
    }
    try bench.bench.waitForLog("alerts can be sent again")
    #expect(bench.bench.logText.ranges(of: "could not send an alert").count == 1)
    let stuck = try AlertBench([], heartbeat: heartbeat, writes: false)
    try stuck.live(settles: false) { run throws in try stuck.pass(.minutes(10), &run) }
    #expect(stuck.network.requests.isEmpty)
  }
}
