// Steps of the dispatcher over a scripted network, with a clock that the test moves.

import Domain
import Formats
import HTTPClient
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service

@Suite("Steps of the dispatcher") struct DispatcherStepTests {
  private struct Bed {
    let clock = ManualClock()
    let transport = ScriptedTransport()
    let bench: Bench
    let dispatcher: Dispatcher

    /// - Parameter sales: how many receipts there are.
    init(_ policy: DeliveryPolicy, sales: Int = 0) throws {
      bench = try Bench([Bench.app(delivery: policy)], clock: clock, isStarted: false)
      try bench.committer.start()
      dispatcher = Dispatcher(try bench.parts(transport, clock))
      for number in 0..<sales { try bench.sell(number + 1) }
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

    /// Three rounds during which nothing is stored.
    func unstoredRounds(_ run: inout DispatcherRun) {
      let gate = CommitterTests.Gate()
      #expect(bench.committer.submit(gate, from: .internal) { _ in })
      for _ in 1...3 {
        _ = run.step()
        run.handleAnswers(within: .zero)
      }
      gate.isOpen.update { $0 = true }
    }

    /// Stores that a receipt is delivered.
    @discardableResult func storeDelivery(of number: Int) throws -> ReceiptID {
      let id = try #require(try bench.receipt(number)?.receiptID)
      let report = AttemptReport(at: bench.now)
      try bench.store(RecordAttempt(of: id, app: "shop", report: report, decision: .delivered(importID: nil)))
      return id
    }

    /// Reads the configuration again, as a reload does.
    func reload() { dispatcher.use(bench.directory) }

    func noteDue() { dispatcher.note(dueAt: ["shop": bench.now]) }

    func pause(for time: Duration? = nil) throws {
      try bench.store(PauseApp(app: "shop", for: time, actor: "ann", reason: nil))
    }

    func state(_ number: Int) throws -> ReceiptState? { try bench.receipt(number)?.receipt?.state }

    static let place = AppDestination("shop", "purchasely")

    /// What is stored of the breaker.
    func breaker() throws -> Breaker.State? { try bench.reader.breakers()[Self.place]?.state }
  }

  private static func names(_ request: TransferRequest, _ number: Int) -> Bool {
    String(decoding: request.body, as: UTF8.self).contains("\"sub_\(number)\"")
  }

  @Test func `While only a probe goes, the others are given up, too, after their retry time (R4)`() throws {
    let bed = try Bed(
      Bench.delivery(concurrency: 3, failures: 1, openFor: .minutes(1), giveUpAfter: .hours(1)), sales: 3)
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

  @Test func `A receipt that is under way is not given up while its answer may come (R3)`() throws {
    let bed = try Bed(
      Bench.delivery(concurrency: 2, failures: 3, openFor: .minutes(1), giveUpAfter: .hours(1)), sales: 2)
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

  @Test("A receipt that is being given up is not sent meanwhile, and is sent when it is replayed (R3)")
  func givingUpMeanwhile() throws {
    let bed = try Bed(
      Bench.delivery(concurrency: 3, failures: 1, openFor: .minutes(1), giveUpAfter: .hours(1)), sales: 3)
    bed.transport.use { _ in 503 }
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.advance(.hours(1))
      // The first probe is answered, so the round would try others.
      bed.unstoredRounds(&run)
      #expect(bed.transport.requests.count == 4)
      try bed.bench.store(Barrier())
      for number in 1...3 { #expect(try bed.state(number) == .failed) }
      bed.transport.use { _ in 200 }
      for number in 1...3 {
        let id = try #require(try bed.bench.receipt(number)?.receiptID)
        #expect(try bed.bench.store(ReplayReceipt(id: id, force: false, dueAt: bed.bench.now)) == .done)
      }
      bed.clock.advance(.minutes(1))
      bed.dispatcher.checkAll()
      for _ in 1...3 { try bed.round(&run) }
    }
    for number in 1...3 { #expect(try bed.state(number) == .delivered) }
  }

  @Test func `A pause holds what is stored after it, also before the dispatcher has noticed it`() throws {
    let bed = try Bed(Bench.delivery())
    try bed.drive { run in
      try bed.round(&run)
      try bed.pause()
      try bed.bench.sell(1)
      bed.noteDue()
      try bed.round(&run)
      #expect(bed.transport.requests.isEmpty)
      try bed.bench.store(ResumeApp(app: "shop"))
      bed.dispatcher.checkPauses()
      try bed.round(&run)
    }
    #expect(try bed.state(1) == .delivered)
  }

  @Test func `A pause that has ended does not begin again when the clock is set back`() throws {
    let bed = try Bed(Bench.delivery())
    try bed.pause(for: .minutes(1))
    bed.clock.advance(.minutes(2))
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.setWall(by: .seconds(-90))
      try bed.bench.sell(1)
      bed.noteDue()
      try bed.round(&run)
    }
    #expect(try bed.state(1) == .delivered)
  }

  @Test func `A pause keeps its length when the clock is set, before what is stored follows`() throws {
    let bed = try Bed(Bench.delivery())
    try bed.pause(for: .minutes(10))
    try bed.bench.sell(1)
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.setWall(by: .hours(1))
      bed.clock.advance(Dependencies.lookInterval)
      try bed.round(&run)
    }
    #expect(bed.transport.requests.isEmpty)
  }

  @Test func `A breaker keeps its distance when the clock is set, and that is stored (R9)`() throws {
    let bed = try Bed(Bench.delivery(failures: 1, openFor: .hours(1)), sales: 1)
    bed.transport.use { _ in nil }
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.setWall(by: .hours(-2))
      try bed.round(&run)
    }
    let stored = try #require(try bed.bench.reader.breakers()[Bed.place])
    #expect(stored.state == .open)
    #expect(stored.probeAt == bed.bench.now.advanced(by: .hours(1)))
  }

  @Test func `A pause before a receipt gives it no more time, whether it is tried or not (R4)`() throws {
    let bed = try Bed(
      Bench.delivery(concurrency: 2, failures: 1, openFor: .minutes(1), giveUpAfter: .hours(1)))
    try bed.pause(for: .hours(2))
    bed.clock.advance(.hours(2))
    for number in 1...2 { try bed.bench.sell(number) }
    bed.transport.use { _ in nil }
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.advance(.hours(1))
      try bed.round(&run)
    }
    #expect(bed.transport.requests.count == 3)
    for number in 1...2 { #expect(try bed.state(number) == .failed) }
  }

  @Test func `Receipts behind those whose outcomes are being stored are sent meanwhile`() throws {
    let bed = try Bed(Bench.delivery(concurrency: 1), sales: 3)
    try bed.drive { run in
      bed.unstoredRounds(&run)
      #expect(bed.transport.requests.count == 2)
      try bed.bench.store(Barrier())
      try bed.round(&run)
    }
    #expect(try bed.state(3) == .delivered)
  }

  @Test func `A replay goes after nine new receipts also when these fill every place`() throws {
    let bed = try Bed(Bench.delivery(concurrency: 1), sales: 1)
    let sold = try bed.storeDelivery(of: 1)
    let replayed = try bed.bench.store(ReplayReceipt(id: sold, force: true, dueAt: bed.bench.now))
    #expect(replayed == .done)
    for number in 2...13 { try bed.bench.sell(number) }
    try bed.drive { run in
      for _ in 1...13 { try bed.round(&run) }
    }
    #expect(bed.transport.requests.count == 13)
    #expect(bed.transport.requests.firstIndex { Self.names($0, 1) } == 9)
  }

  @Test("A refusal by a previous configuration pauses nothing, and its receipt is sent again (R4)")
  func refusedBeforeReload() throws {
    let bed = try Bed(Bench.delivery(openFor: .hours(1)), sales: 1)
    bed.transport.use { _ in ScriptedTransport.held }
    try bed.drive { run in
      try bed.round(&run)
      bed.reload()
      bed.transport.use { _ in 403 }
      try bed.round(&run)
      bed.transport.use { _ in 200 }
      try bed.round(&run)
    }
    #expect(try bed.state(1) == .delivered)
    #expect(bed.transport.requests.count == 2)
  }

  @Test("A refusal judged just before the new key is installed does not wait for the pause (R4)")
  func refusedDuringReload() throws {
    let bed = try Bed(Bench.delivery(openFor: .hours(1)), sales: 1)
    bed.transport.use { _ in 403 }
    try bed.drive { run in
      try bed.round(&run)
      bed.reload()
      bed.transport.use { _ in 200 }
      try bed.round(&run)
      bed.noteDue()
      try bed.round(&run)
    }
    #expect(try bed.state(1) == .delivered)
    #expect(bed.transport.requests.count == 2)
  }

  @Test("A failure at an address that a reload has replaced says nothing about the present one (R4)")
  func failedAtPreviousAddress() throws {
    let policy = Bench.delivery(failures: 1, openFor: .hours(1))
    let bed = try Bed(policy, sales: 1)
    let moved = Bench.app(url: "https://new.example/receipts", delivery: policy)
    bed.transport.use { _ in ScriptedTransport.held }
    try bed.drive { run in
      try bed.round(&run)
      bed.dispatcher.use(try AppDirectory(Configuration(database: .file(bed.bench.path), apps: [moved])))
      bed.transport.use { _ in 422 }
      try bed.round(&run)
      bed.transport.use { _ in 200 }
      try bed.round(&run)
    }
    #expect(try bed.state(1) == .delivered)
    #expect(bed.transport.requests.map(\.url).last == "https://new.example/receipts")
  }

  @Test("After a start they stay stopped but for one probe, and none waits for the earlier pause (R4, R9)")
  func refusedBeforeStart() throws {
    let bed = try Bed(Bench.delivery(openFor: .hours(1)), sales: 3)
    bed.transport.use { _ in 403 }
    try bed.drive { run in try bed.round(&run) }
    #expect(bed.transport.requests.count == 3)
    bed.transport.use { _ in ScriptedTransport.held }
    try bed.drive { run in
      for _ in 1...3 {
        try bed.round(&run)
        bed.noteDue()
      }
      #expect(bed.transport.requests.count == 4, "one probe")
      bed.transport.use { _ in 200 }
      for _ in 1...3 {
        try bed.round(&run)
        bed.noteDue()
      }
    }
    for number in 1...3 { #expect(try bed.state(number) == .delivered) }
  }

  @Test func `A failed probe of an address that a reload has replaced gives up nothing (R4)`() throws {
    let policy = Bench.delivery(
      concurrency: 2, failures: 1, openFor: .minutes(1), giveUpAfter: .hours(1))
    let bed = try Bed(policy, sales: 2)
    let moved = Bench.app(url: "https://new.example/receipts", delivery: policy)
    bed.transport.use { _ in nil }
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.advance(.hours(1))
      bed.transport.use { _ in ScriptedTransport.held }
      try bed.round(&run)
      bed.dispatcher.use(try AppDirectory(Configuration(database: .file(bed.bench.path), apps: [moved])))
      bed.transport.use { _ in nil }
      try bed.round(&run)
      for number in 1...2 { #expect(try bed.state(number) == .pending) }
      bed.transport.use { _ in 200 }
      for _ in 1...2 { try bed.round(&run) }
    }
    for number in 1...2 { #expect(try bed.state(number) == .delivered) }
  }

  @Test("A refusal judged just before an operator's request to try again does not wait for the pause (R4)")
  func refusedBeforeRetryNow() throws {
    let bed = try Bed(Bench.delivery(openFor: .hours(1)), sales: 2)
    bed.transport.use { _ in ScriptedTransport.held }
    try bed.drive { run in
      try bed.round(&run)
      try bed.bench.store(RetryNow(app: "shop"))
      bed.transport.use { _ in 403 }
      run.handleAnswers(within: .zero)
      bed.transport.use { _ in 200 }
      bed.dispatcher.checkPauses()
      try bed.round(&run)
      bed.noteDue()
      try bed.round(&run)
      bed.noteDue()
      try bed.round(&run)
    }
    #expect(try bed.state(1) == .delivered)
    #expect(try bed.state(2) == .delivered)
  }

  @Test("A receipt that was due during a round of probes is tried again with the next round (R4)")
  func heldBack() throws {
    let bed = try Bed(Bench.delivery(failures: 1, openFor: .seconds(1)), sales: 1)
    bed.transport.use { _ in 500 }
    try bed.drive { run in
      try bed.round(&run)
      bed.clock.advance(.milliseconds(100))
      try bed.round(&run)
      #expect(bed.transport.requests.count == 1, "it was tried in this round")
      bed.clock.advance(.milliseconds(900))
      try bed.round(&run)
    }
    #expect(bed.transport.requests.count == 2)
  }

  @Test("An outcome that is stored late does not close the breaker that later outcomes have opened (R9)")
  func lateOutcome() throws {
    let bed = try Bed(Bench.delivery(failures: 2, openFor: .hours(1)), sales: 2)
    let obstacle = try Connection(path: bed.bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try obstacle.execute(
      """
      CREATE TRIGGER obstacle BEFORE INSERT ON attempts
      WHEN (SELECT object_id FROM purchases WHERE row_id = new.purchase_row) = 'sub_1'
      BEGIN SELECT RAISE(ABORT, 'not now'); END
      """)
    bed.transport.use { Self.names($0, 1) ? 503 : ScriptedTransport.held }
    try bed.drive { run in
      try bed.round(&run)
      bed.transport.use { _ in 503 }
      try bed.round(&run)
      #expect(try bed.bench.attempts(1).isEmpty)
      #expect(try bed.breaker() == .open)
      try obstacle.execute("DROP TRIGGER obstacle")
      bed.clock.advance(Dispatcher.faultPause)
      try bed.round(&run)
    }
    #expect(try bed.bench.attempts(1).count == 1)
    #expect(try bed.breaker() == .open)
  }

  @Test func `An outcome whose storing seemed to fail is not stored twice (R9)`() throws {
    let bed = try Bed(Bench.delivery(), sales: 1)
    let obstacle = try Connection(path: bed.bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try obstacle.execute(
      "CREATE TRIGGER obstacle BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'not now'); END")
    try bed.drive { run in
      try bed.round(&run)
      try obstacle.execute("DROP TRIGGER obstacle")
      try bed.storeDelivery(of: 1)
      bed.clock.advance(Dispatcher.faultPause)
      try bed.round(&run)
    }
    #expect(try bed.bench.attempts(1).count == 1)
    #expect(try bed.state(1) == .delivered)
  }
}
