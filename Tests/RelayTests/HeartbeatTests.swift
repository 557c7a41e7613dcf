// The heartbeat for a dead man's switch.

@testable import Alerts
@testable import Configuration
import HTTPClient
import Platform
import Testing

@testable import Relay

@Suite("Heartbeat") struct HeartbeatTests {
  private static let minute: Int64 = 60_000

  @Test("Signs of life go out while the relay is ready and its writer moves, and only then")
  func heartbeat() throws {
    let heartbeat = Configuration.Heartbeat(to: Secret("https://beat.example.com/x"))
    let bench = try AlertBench([], heartbeat: heartbeat)
    defer { bench.stop() }
    /// Lets the committer answer between two steps.
    func live(_ milliseconds: Int64, _ run: inout AlerterRun) throws -> Int {
      let before = bench.network.requests.count
      for _ in 0..<(milliseconds / 1000) {
        try bench.pass(0, &run)
        try bench.authorize()
        try bench.pass(0, &run)
        bench.clock.advance(1000)
      }
      return bench.network.requests.count - before
    }
    try bench.live { run throws in
      #expect(try live(5 * Self.minute, &run) == 5)
      #expect(bench.network.requests.allSatisfy { $0.method == .get && $0.body.isEmpty })
      bench.unreadiness.withLock { $0 = ["the disk is full"] }
      #expect(try live(5 * Self.minute, &run) == 0)
      bench.unreadiness.withLock { $0 = [] }
      #expect(try live(Self.minute, &run) > 0)
      bench.network.use { _ in 500 }
      #expect(try live(2 * Self.minute, &run) >= 5)
    }
    let stuck = try AlertBench([], heartbeat: heartbeat, writes: false)
    defer { stuck.stop() }
    try stuck.live(settles: false) { run throws in try stuck.pass(10 * Self.minute, &run) }
    #expect(stuck.network.requests.isEmpty)
  }
}
