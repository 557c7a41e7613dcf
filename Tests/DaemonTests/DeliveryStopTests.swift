// Deliveries at a stop, and after the next start.

import Domain
import HTTPClient
import HTTPServer
import Platform
import Store
import Testing

@testable import Service
@testable import Upkeep

@Suite("Deliveries at a stop") struct DeliveryStopTests {
  @Test(
    "A transfer that hangs is cut after the grace time, is ambiguous, and is repeated after the restart (R9)"
  )
  func hanging() throws {
    let destination = try ScriptedDestination { _ in nil }
    let apps = [Bench.app(url: destination.url)]
    let before = try Bench(apps, grace: .milliseconds(150))
    try before.sell(1)
    try destination.waitForHeld(1)
    let start = MonotonicInstant.now()
    before.dispatcher.stop()
    let took = MonotonicInstant.now().duration(since: start)
    #expect((Duration.milliseconds(150)..<Duration.seconds(5)).contains(took))
    before.housekeeper.stop()
    before.committer.stop()
    let attempt = try #require(try before.attempts(1).first)
    #expect(attempt.isAmbiguous)
    #expect(attempt.error == "cancelled")
    #expect(attempt.status == nil)
    let receipt = try #require(try before.receipt(1)?.receipt)
    #expect(receipt.state == .pending)
    #expect(receipt.attempts == 0)
    #expect(receipt.spentAttempts == 0)
    destination.use { ScriptedDestination.accepted($0) }
    let after = try Bench(apps, folder: before.folder)
    try after.waitFor(1, .delivered)
    after.stop()
    let bodies = destination.received.map(\.body)
    #expect(bodies.count == 2)
    #expect(bodies.first == bodies.last)
  }

  @Test func `A transfer that ends within the grace time is waited for, and no new one begins`() throws {
    let destination = try ScriptedDestination { _ in nil }
    let bench = try Bench([Bench.app(url: destination.url, delivery: Bench.delivery(concurrency: 1))])
    try bench.sell(1)
    try destination.waitForHeld(1)
    try bench.sell(2)
    bench.dispatcher.windDown()
    destination.release()
    bench.stop()
    #expect(try bench.receipt(1)?.receipt?.state == .delivered)
    #expect(try bench.receipt(2)?.receipt?.state == .pending)
    #expect(destination.received.count == 1)
  }

  @Test func `With nothing under way a stop takes no time`() throws {
    let bench = try Bench([Bench.app()], grace: .seconds(60))
    let start = MonotonicInstant.now()
    bench.stop()
    #expect(MonotonicInstant.now().duration(since: start) < .seconds(10))
  }
}
