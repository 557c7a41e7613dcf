// Steps of the dispatcher over a scripted network, with a clock that the test moves.

import Domain
import Formats
import HTTPClient
import Platform
import Store
import TestSupport
import Testing

@testable import Daemon
@testable import Service

@Suite("Steps of the dispatcher") struct DispatcherStepTests {
  private struct Bed {
    let clock = ManualClock()
    let transport = ScriptedTransport()
    let bench: Bench
    private let dispatcher: Dispatcher

    init(_ policy: DeliveryPolicy) throws {
      bench = try Bench([Bench.app(delivery: policy)], clock: clock, isStarted: false)
      try bench.committer.start()
      dispatcher = Dispatcher(try bench.parts(transport, clock))
    }

    func drive(_ body: (inout DispatcherRun) throws -> Void) throws {
      try dispatcher.drive(body)
    }

    /// One round of steps; what it has submitted is stored when this returns.
    func round(_ run: inout DispatcherRun) throws {
      _ = run.step()
      run.handleAnswers(within: .zero)
      try bench.store(Barrier())
    }

    func state(_ number: Int) throws -> ReceiptState? { try bench.receipt(number)?.receipt?.state }
  }

  private static func names(_ request: TransferRequest, _ number: Int) -> Bool {
    String(decoding: request.body, as: UTF8.self).contains("\"sub_\(number)\"")
  }

  @Test("While only a probe goes, the others are given up, too, after their retry time (R4)")
  func givingUpWithoutAttempt() throws {
    let bed = try Bed(
      Bench.delivery(concurrency: 3, failures: 1, openFor: .minutes(1), giveUpAfter: .hours(1)))
    defer { bed.bench.stop() }
    for number in 1...3 { try bed.bench.sell(number) }
    bed.transport.use { _ in nil }
    try bed.drive { run in
      try bed.round(&run)
      #expect(bed.transport.requests.count == 3)
      bed.clock.advance(.hours(1))
      try bed.round(&run)
    }
    #expect(bed.transport.requests.count == 4)
    for number in 1...3 {
      let receipt = try bed.bench.receipt(number)?.receipt
      #expect(receipt?.state == .failed)
      #expect(receipt?.reason == .gaveUp)
    }
  }

  @Test("A receipt that is under way is not given up while its answer may come (R3)")
  func givingUpUnderWay() throws {
    let bed = try Bed(
      Bench.delivery(concurrency: 2, failures: 3, openFor: .minutes(1), giveUpAfter: .hours(1)))
    defer { bed.bench.stop() }
    for number in 1...2 { try bed.bench.sell(number) }
    bed.transport.use { _ in nil }
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.advance(.seconds(1))
      bed.transport.use { Self.names($0, 2) ? ScriptedTransport.held : nil }
      try bed.round(&run)
      bed.clock.advance(.hours(1))
      try bed.round(&run)
      #expect(try bed.state(1) == .failed)
      #expect(try bed.state(2) == .pending)
      bed.transport.use { _ in 200 }
      try bed.round(&run)
    }
    #expect(try bed.state(2) == .delivered)
    #expect(bed.transport.requests.filter { Self.names($0, 2) }.count == 2)
  }

  @Test("A replay goes after nine new receipts also when these fill every place")
  func replayUnderFullLoad() throws {
    let bed = try Bed(Bench.delivery(concurrency: 1))
    defer { bed.bench.stop() }
    try bed.bench.sell(1)
    let sold = try #require(try bed.bench.receipt(1)?.receiptID)
    let report = AttemptReport(
      startedAt: bed.bench.now, duration: .milliseconds(1), status: 200, error: nil, isAmbiguous: false,
      response: [])
    try bed.bench.store(
      RecordAttempt(
        of: sold, to: AppDestination("shop", "purchasely"), report: report,
        decision: .delivered(importID: nil), breaker: Breaker()))
    let replayed = try bed.bench.store(ReplayReceipt(id: sold, force: true, dueAt: bed.bench.now))
    #expect(replayed == .done)
    for number in 2...13 { try bed.bench.sell(number) }
    try bed.drive { run in
      for _ in 1...13 { try bed.round(&run) }
    }
    #expect(bed.transport.requests.count == 13)
    #expect(bed.transport.requests.firstIndex { Self.names($0, 1) } == 9)
  }
}
