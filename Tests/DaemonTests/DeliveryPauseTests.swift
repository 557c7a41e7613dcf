// When an app's deliveries rest, stop and resume.

import Domain
import Formats
import HTTPClient
import HTTPServer
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service

/// Shows a later time at each look, so that two looks never have the same result.
private final class HastyClock: Clock {
  private let (start, looks) = (SystemClock().wallMilliseconds, Monitor<Int64>(0))
  private let monotonicStart = MonotonicInstant.now().advanced(by: .hours(1))

  var wallMilliseconds: Int64 {
    looks.update { looks in
      looks += 1
      return start + looks
    }
  }

  var monotonic: MonotonicInstant {
    monotonicStart.advanced(by: .milliseconds(looks.withLock { $0 }))
  }
}

@Suite("An app's deliveries") struct DeliveryPauseTests {
  /// Delivers two receipts of another app; afterwards the dispatcher has checked every app since the call.
  private static func lookAround(_ bench: Bench, _ numbers: ClosedRange<Int>) throws {
    for number in numbers {
      try bench.sell(number, app: "other")
      try bench.waitFor(number, .delivered, app: "other")
    }
  }

  @Test func `After a 429 all of them rest, and no other app's (R11)`() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(429, retryAfter: "3600") }
    let other = try ScriptedDestination()
    let bench = try Bench([Bench.app(url: destination.url), Bench.app("other", url: other.url)])
    try bench.sell(1)
    let rest = try bench.waitFor { try $0.breakers()["shop"]?.restUntil }
    #expect((Duration.seconds(3500)...Duration.hours(1)).contains(rest.duration(since: bench.now)))
    for number in 2...4 { try bench.sell(number) }
    try Self.lookAround(bench, 1...2)
    #expect(destination.received.count == 1)
    #expect(try bench.receipt(2)?.receipt?.attempts == 0)
  }

  @Test func `The rest that a 429 asked for is stored, and ends automatically`() throws {
    let destination = try ScriptedDestination {
      $0 == 1 ? ScriptedDestination.answer(429, retryAfter: "1") : ScriptedDestination.accepted($0)
    }
    let bench = try Bench([Bench.app(url: destination.url)])
    try bench.sell(1)
    _ = try bench.waitFor { try $0.breakers()["shop"]?.restUntil }
    for number in 2...4 { try bench.sell(number) }
    for number in 1...4 { try bench.waitFor(number, .delivered) }
    let times = destination.received.map(\.at)
    let first = try #require(times.first)
    #expect(times.count == 5)
    #expect(times.dropFirst().allSatisfy { $0.duration(since: first) >= .milliseconds(950) })
    #expect(try bench.receipt(1)?.receipt?.attempts == 2)
  }

  @Test("A refused key pauses them; nothing is spent, probes are single, and they resume automatically")
  func misconfigured() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(403) }
    let other = try ScriptedDestination()
    let bench = try Bench([Bench.app(url: destination.url), Bench.app("other", url: other.url)])
    try bench.sell(1)
    let breaker = try bench.waitFor { reader in
      try reader.breakers()["shop"].flatMap { $0.state == .paused ? $0 : nil }
    }
    #expect(breaker.cause == .status(403))
    destination.use { _ in nil }
    try destination.waitForHeld(1)
    for number in 2...6 { try bench.sell(number) }
    for probe in 0..<3 {
      let count = destination.received.count
      try Self.lookAround(bench, (2 * probe + 1)...(2 * probe + 2))
      #expect(destination.heldCount == 1)
      #expect(destination.received.count == count)
      destination.release(ScriptedDestination.answer([401, 407, 302][probe]))
      try destination.waitForHeld(1)
    }
    for number in 1...6 {
      let receipt = try #require(try bench.receipt(number)?.receipt)
      #expect(receipt.state == .pending)
      #expect(receipt.attempts == 0)
      #expect(receipt.spentAttempts == 0)
    }
    destination.use { ScriptedDestination.accepted($0) }
    destination.release()
    for number in 1...6 { #expect(try bench.waitFor(number, .delivered).attempts == 1) }
    let after = try bench.waitFor { try $0.breakers()["shop"].flatMap { $0.state == .closed ? $0 : nil } }
    #expect(after.pausedTime > .zero)
    #expect(after.cause == nil)
  }

  @Test func `Repeated failures stop them; probes spend nothing, and waiting receipts catch up`() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(500) }
    let bench = try Bench([Bench.app(url: destination.url)])
    try bench.sell(1)
    let open = try bench.waitFor { try $0.breakers()["shop"].flatMap { $0.state == .open ? $0 : nil } }
    #expect(open.cause == .status(500))
    #expect(open.failures >= 3)
    for number in 2...8 { try bench.sell(number) }
    let probes = destination.received.count
    try destination.waitForRequests(probes + 3)
    destination.use { ScriptedDestination.accepted($0) }
    for number in 1...8 { try bench.waitFor(number, .delivered) }
    #expect(try bench.receipt(1)?.receipt?.spentAttempts == 3)
    for number in 2...8 { #expect(try bench.receipt(number)?.receipt?.attempts == 1) }
    #expect(try bench.reader.breakers()["shop"]?.state == .closed)
  }

  @Test func `A refused receipt waits for its destination's next probe, and no longer`() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(403) }
    let policy = Bench.delivery(openFor: .hours(2))
    let bench = try Bench([Bench.app(url: destination.url, delivery: policy)], clock: HastyClock())
    try bench.sell(1)
    let probeAt = try bench.waitFor { try $0.breakers()["shop"]?.probeAt }
    #expect(try bench.receipt(1)?.receipt?.nextAttemptAt == probeAt)
  }

  @Test("A restart with the right key sends at once what waits because the earlier one was refused (R9)")
  func survival() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(403) }
    let before = try Bench([
      Bench.app(url: destination.url, delivery: Bench.delivery(openFor: .hours(2)))
    ])
    try before.sell(1)
    _ = try before.waitFor { try $0.breakers()["shop"].flatMap { $0.state == .paused ? $0 : nil } }
    destination.use { ScriptedDestination.accepted($0) }
    let patient = Bench.delivery(openFor: .hours(1))
    let fixed = Bench.app(url: destination.url, key: "new-key", delivery: patient)
    let bench = try before.restarted([fixed])
    try bench.waitFor(1, .delivered)
    #expect(destination.received.last?.head.header("X-API-KEY") == "new-key")
    try bench.waitUntil { (try? bench.reader.breakers()["shop"]?.state) == .closed }
  }

  @Test func `A destination that hangs delays no other app (R11)`() throws {
    let slow = try ScriptedDestination { _ in nil }
    let fast = try ScriptedDestination()
    let bench = try Bench([Bench.app(url: slow.url), Bench.app("other", url: fast.url)])
    for number in 1...20 { try bench.sell(number) }
    try slow.waitForHeld(4)
    let start = MonotonicInstant.now()
    try Self.lookAround(bench, 1...30)
    #expect(MonotonicInstant.now().duration(since: start) < .seconds(10))
    // No more are under way than the concurrency permits.
    #expect(slow.received.count == 4)
    #expect(slow.heldCount == 4)
    slow.use { ScriptedDestination.accepted($0) }
    slow.release()
    for number in 1...20 { try bench.waitFor(number, .delivered) }
    bench.stop()
    #expect(slow.received.count == 20)
    #expect(fast.received.count == 30)
  }

  @Test func `They keep to their rate, and catch up at it`() throws {
    let destination = try ScriptedDestination()
    let bench = try Bench([Bench.app(url: destination.url, delivery: Bench.delivery(rate: 10))])
    for number in 1...15 { try bench.sell(number) }
    for number in 1...15 { try bench.waitFor(number, .delivered) }
    let times = try (1...15).flatMap { try bench.attempts($0).map(\.startedAt.unixMilliseconds) }
    // Ten at once and five more at ten a second.
    #expect(times.count == 15)
    #expect(try #require(times.max()) - #require(times.min()) >= 450)
  }

  @Test func `A receipt is given up after its retry time, also while its destination is down (R4)`() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(503) }
    let policy = Bench.delivery(failures: 2, openFor: .milliseconds(30), giveUpAfter: .milliseconds(200))
    let bench = try Bench([Bench.app(url: destination.url, delivery: policy)])
    for number in 1...3 { try bench.sell(number) }
    for number in 1...3 {
      let receipt = try bench.waitFor(number, .failed)
      #expect(receipt.reason == .gaveUp)
      #expect(receipt.attempts >= 1)
      #expect(receipt.nextAttemptAt == nil)
    }
    destination.use { ScriptedDestination.accepted($0) }
    let id = try #require(try bench.receipt(2)?.receipt?.id)
    #expect(try bench.store(ReplayReceipt(id: id, force: false, dueAt: bench.now)) == .done)
    try bench.waitFor(2, .delivered)
  }

  @Test("An app that is removed from the configuration sends nothing, and resumes when it is back (R4)")
  func retired() throws {
    let (destination, other) = (try ScriptedDestination(), try ScriptedDestination())
    let (app, stays) = (Bench.app(url: destination.url), Bench.app("other", url: other.url))
    let bench = try Bench([app, stays])
    func use(_ apps: [AppConfiguration]) throws {
      bench.dispatcher.use(try AppDirectory(Configuration(database: .file(bench.path), apps: apps)))
    }
    try use([stays])
    try bench.sell(1)
    try Self.lookAround(bench, 1...2)
    #expect(destination.received.isEmpty)
    try use([app, stays])
    try bench.waitFor(1, .delivered)
  }

  @Test func `A change by another process is found without a notification`() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(400) }
    let bench = try Bench([Bench.app(url: destination.url)])
    try bench.sell(1)
    let id = try bench.waitFor(1, .failed).id
    destination.use { ScriptedDestination.accepted($0) }
    let guest = try StoreWriter(path: bench.path, role: .guest, rules: bench.directory.rules)
    #expect(try guest.apply(ReplayReceipt(id: id, force: false, dueAt: bench.now), now: bench.now) == .done)
    try bench.waitFor(1, .delivered)
  }

  @Test("The breaker of a destination that an app does not use any more is closed at the next start")
  func unusedDestination() throws {
    let destination = try ScriptedDestination()
    // Its dispatcher would close the breaker, too.
    let before = try Bench([Bench.app(url: destination.url)], isStarted: false)
    try before.committer.start()
    let unused = AppDestination("shop", "unused")
    let open = Breaker(state: .paused, cause: .status(403))
    try before.store(SaveBreaker(unused, open))
    #expect(try before.reader.breakers()[unused] == open)
    let bench = try before.restarted([Bench.app(url: destination.url)])
    // A change of a breaker alone causes no notification.
    try bench.waitUntil { (try? bench.reader.breakers()[unused]?.state) == .closed }
    #expect(try bench.reader.breakers()[unused]?.cause == nil)
    #expect(try bench.reader.breakers().worst(of: "shop", now: bench.now)?.breaker.state == .closed)
  }

  @Test(
    "Receipts that always get a 500 or a 403 hold up no other, although they are the oldest",
    arguments: [500, 403])
  func poisoned(status: Int) throws {
    let destination = try ScriptedDestination.judging { body in
      body.contains("user-90") ? ScriptedDestination.accepted() : ScriptedDestination.answer(status)
    }
    // Without another probe than the regular one, nothing would arrive for an hour.
    let policy = Bench.delivery(failures: 3, openFor: .hours(1))
    let bench = try Bench([Bench.app(url: destination.url, delivery: policy)], isStarted: false)
    try bench.committer.start()
    for number in 1...12 { try bench.sell(number) }
    try bench.sell(901)
    try bench.dispatcher.start()
    try bench.waitFor(901, .delivered)
    #expect(try bench.reader.counts().first { $0.state == .pending }?.count == 12)
    let contact = try #require(bench.metrics.contacts.all.values.first)
    #expect(contact.failingAlone > 0)
    #expect(contact.route == "127.0.0.1")
  }
}
