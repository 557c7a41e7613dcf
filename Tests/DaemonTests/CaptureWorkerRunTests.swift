// The steps of the capture worker on a real database, with a manual clock and a scripted network.

import Domain
import Formats
import HTTPClient
import Partners
import Platform
import SQLiteStore
import Service
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon

@Suite("The steps of the capture worker") struct CaptureWorkerRunTests {
  private static let place = AppProcessor("shop", "toy")
  private static let order = CaptureOrder(key: ToyProcessor.order("o1"), user: "u1")

  private let clock = ManualClock()
  private let network = ScriptedTransport()
  private let bench: Bench
  private let worker: CaptureWorker

  init() throws {
    bench = try Bench([Bench.toyApp()], clock: clock, isStarted: false)
    try bench.committer.start()
    worker = CaptureWorker(try bench.parts(network, clock))
    try bench.startOrder("o1")
  }

  private var methods: [TransferRequest.Method] { network.requests.map(\.method) }

  private func openCaptures() throws -> [OpenCapture] { try bench.reader.openCaptures(of: Self.place) }

  /// One round of steps; what it submitted is stored when this returns.
  private func step(_ run: inout CaptureWorkerRun) throws {
    _ = run.step()
    run.handleAnswers(within: .zero)
    try bench.store(Barrier())
  }

  @Test func `A capture that the processor refused is not sent again after a restart`() throws {
    _ = try bench.store(OrderCapture(app: "shop", Self.order))
    // The order was stored before this start, so the first call is a lookup.
    network.use(404) { _ in "none" }
    try worker.drive { run in
      try step(&run)
      #expect(methods == [.get])
      network.use(200) { $0.method == .post ? "refused" : "nothing usable" }
      for _ in 0..<5 { try step(&run) }
    }
    #expect(methods.filter { $0 == .post }.count == 1)
    #expect(try openCaptures().map(\.isGivenUp) == [true])
    let calls = methods.count
    network.use(404) { _ in "none" }
    try worker.drive { run in
      for _ in 0..<5 {
        try step(&run)
        clock.advance(.hours(1))
      }
    }
    #expect(methods.count > calls)
    #expect(methods.filter { $0 == .post }.count == 1)
  }

  @Test("A capture whose app was removed and added again before its outcome was stored is looked up again")
  func appRemovedAndAdded() throws {
    _ = try bench.store(OrderCapture(app: "shop", Self.order))
    network.use(200) { _ in "captured" }
    try worker.drive { run in
      _ = run.step()
      bench.committer.use(rules: [:])
      run.handleAnswers(within: .zero)
      try bench.store(Barrier())
      bench.committer.use(rules: bench.directory.rules)
      #expect(try openCaptures().count == 1, "nothing is stored for an app that is not configured")
      for _ in 0..<4 { try step(&run) }
    }
    #expect(methods == [.get, .get])
    #expect(try openCaptures().isEmpty)
    let record = try bench.reader.startedPayment(Self.order.key, app: "shop", user: "u1")
    #expect(record?.purchase.observations == [.started, .paid])
  }

  @Test func `A call that fails after the reload that corrected its cause is repeated at once`() throws {
    _ = try bench.store(OrderCapture(app: "shop", Self.order))
    network.use { _ in 401 }
    try worker.drive { run in
      // The pauses have become long.
      while try openCaptures().first?.failures != 5 {
        try step(&run)
        clock.advance(.minutes(1))
      }
      clock.advance(.minutes(10))
      let calls = methods.count
      _ = run.step()
      #expect(methods.count == calls + 1)
      worker.use(bench.directory)
      try step(&run)
      network.use(200) { _ in "captured" }
      for _ in 0..<2 { try step(&run) }
    }
    #expect(try openCaptures().isEmpty)
  }

  @Test("A request that joins a capture while its outcome cannot be stored is answered with that outcome")
  func joinedDuringFault() throws {
    _ = try bench.store(OrderCapture(app: "shop", Self.order))
    network.use(200) { _ in "captured" }
    let connection = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try connection.execute(
      "CREATE TRIGGER refuse BEFORE UPDATE ON captures BEGIN SELECT RAISE(ABORT, 'refused'); END")
    let answers = Monitor<[Int]>([])
    let client = BackendClient(
      requestID: "req_1", route: "toy_capture",
      answer: { answer in answers.update { $0.append(answer.status) } }, refuse: { _ in })
    try worker.drive { run in
      // Nobody waits for the capture yet.
      for _ in 0..<3 { try step(&run) }
      #expect(bench.logText.contains("could not store the outcome of a capture"))
      worker.carryOut(Self.order, of: Self.place, for: client)
      try bench.store(Barrier())
      try step(&run)
      try connection.execute("DROP TRIGGER refuse")
      clock.advance(CaptureWorker.faultPause)
      for _ in 0..<3 { try step(&run) }
    }
    #expect(answers.withLock { $0 } == [200])
    #expect(methods == [.get], "the outcome was known")
    #expect(try openCaptures().isEmpty)
  }
}
