// Which deliveries a program makes that shares its database with others.

import Domain
import Formats
import HTTPClient
import Platform
import Service
import Store
import TestSupport
import Testing

@testable import Daemon

/// The rights of a test's program.
private final class Rights: Ownership {
  private let owned = Monitor<Set<AppSlug>>([])
  private let ending = Monitor<Set<AppSlug>>([])

  func set(_ apps: Set<AppSlug>) { owned.withLock { $0 = apps } }
  /// Begins to give up all apps.
  func giveUp() {
    ending.withLock { $0 = apps ?? [] }
    set([])
  }
  func endingLease(of app: AppSlug) -> Lease? {
    ending.withLock { $0.contains(app) } ? Lease(fence: nil) : nil
  }
  func lease(of app: AppSlug) -> Lease? {
    owned.withLock { $0.contains(app) } ? Lease(fence: nil) : nil
  }
  var apps: Set<AppSlug>? { owned.withLock { $0 } }
  var doesSharedWork: Bool { true }
}

@Suite("Deliveries of the apps that this program owns") struct DeliveryOwnershipTests {
  private let bench: Bench
  private let rights = Rights()
  private let transport = ScriptedTransport()
  private let dispatcher: Dispatcher

  init() throws {
    bench = try Bench([Bench.app()], isStarted: false)
    try bench.committer.start()
    dispatcher = Dispatcher(try bench.parts(transport, bench.clock, ownership: rights))
    try bench.sell(1)
  }

  @Test func `Without the right nothing is sent, and what is due wakes nobody`() throws {
    dispatcher.drive { run in
      for _ in 0..<3 {
        dispatcher.note(dueAt: ["shop": bench.now])
        #expect(run.step() ?? .zero > .seconds(1))
        run.handleAnswers(within: .zero)
      }
    }
    #expect(transport.requests.isEmpty)
    #expect(!dispatcher.isBusy("shop"))
    #expect(try bench.receipt(1)?.receipt?.state == .pending)
  }

  @Test func `With the right what is due is sent, also what was due before`() throws {
    dispatcher.drive { run in
      _ = run.step()
      rights.set(["shop"])
      _ = run.step()
      #expect(transport.requests.count == 1)
      #expect(run.step() ?? .hours(1) <= .milliseconds(200), "the right may end")
      #expect(dispatcher.isBusy("shop"))
      run.handleAnswers(within: .zero)
    }
    try bench.waitFor(1, .delivered)
  }

  @Test("A right that ends cancels what is under way; the next owner sends it, and it counts once (R3)")
  func lostRight() throws {
    rights.set(["shop"])
    dispatcher.drive { run in
      _ = run.step()
      #expect(transport.requests.count == 1)
      rights.set([])
      #expect(run.step() ?? .zero > .seconds(1))
      run.handleAnswers(within: .zero)
      #expect(!dispatcher.isBusy("shop"))
    }
    #expect(try bench.receipt(1)?.receipt?.attempts == 0)
    rights.set(["shop"])
    dispatcher.drive { run in
      _ = run.step()
      run.handleAnswers(within: .zero)
    }
    try bench.waitFor(1, .delivered)
    #expect(transport.requests.count == 2)
    #expect(try bench.attempts(1).count == 1)
  }

  @Test func `A takeover sends at once what waits because the last owner's key was refused (R4)`() throws {
    let bench = try Bench([Bench.app(delivery: Bench.delivery(openFor: .hours(1)))], isStarted: false)
    try bench.committer.start()
    let dispatcher = Dispatcher(try bench.parts(transport, bench.clock, ownership: rights))
    try bench.sell(1)
    rights.set(["shop"])
    transport.use { _ in 403 }
    try dispatcher.drive { run throws in
      _ = run.step()
      run.handleAnswers(within: .zero)
      try bench.store(Barrier())
      rights.set([])
      _ = run.step()
      transport.use { _ in 200 }
      rights.set(["shop"])
      _ = run.step()
      try bench.store(Barrier())
      dispatcher.note(dueAt: ["shop": bench.now])
      _ = run.step()
      run.handleAnswers(within: .zero)
    }
    try bench.waitFor(1, .delivered)
    #expect(transport.requests.count == 2)
  }

  @Test func `A right that is being given up completes what is under way, and begins nothing`() throws {
    rights.set(["shop"])
    dispatcher.drive { run in
      _ = run.step()
      #expect(dispatcher.isBusy("shop"))
      rights.giveUp()
      #expect(throws: Never.self) { try bench.sell(2) }
      dispatcher.note(dueAt: ["shop": bench.now])
      #expect(run.step() ?? .zero > .zero)
      #expect(dispatcher.isBusy("shop"))
      run.handleAnswers(within: .zero)
    }
    try bench.waitFor(1, .delivered)
    #expect(transport.requests.count == 1)
    #expect(try bench.receipt(2)?.receipt?.state == .pending)
  }

  @Test func `An outcome of an earlier right ends nothing that is under way now (R3)`() throws {
    rights.set(["shop"])
    let row = try #require(try bench.receipt(1)?.rowID)
    dispatcher.drive { run in
      _ = run.step()
      let outcome = Dispatcher.StoredOutcome(
        place: AppDestination("shop", "purchasely"),
        lease: Lease(fence: Fence(app: "shop", owner: 1, epoch: 1)), row: row, next: nil)
      dispatcher.worker.post { $0.stored.append(outcome) }
      _ = run.step()
      #expect(dispatcher.isBusy("shop"))
      run.handleAnswers(within: .zero)
    }
    try bench.waitFor(1, .delivered)
    #expect(transport.requests.count == 1)
  }

  @Test func `An outcome that was stored although that seemed to have failed is not recorded twice`() throws {
    let record = try #require(try bench.receipt(1))
    let report = AttemptReport(at: bench.now, status: 503, duration: .milliseconds(3))
    var attempt = RecordAttempt(
      of: record.receiptID, to: AppDestination("shop", "purchasely"), report: report,
      decision: .retry(at: bench.now.advanced(by: .seconds(60)), spent: true), breaker: Breaker())
    try bench.store(attempt)
    attempt.isRepeat = true
    try bench.store(attempt)
    #expect(try bench.attempts(1).count == 1)
    #expect(try bench.receipt(1)?.receipt?.attempts == 1)
    attempt.report.startedAt = attempt.report.startedAt.advanced(by: .milliseconds(1))
    try bench.store(attempt)
    #expect(try bench.attempts(1).count == 2)
  }
}
