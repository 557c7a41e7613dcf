// Deliveries to a scripted destination.

import Domain
import Formats
import HTTPClient
import HTTPServer
import Platform
import SQLiteStore
import Store
import Testing

@testable import Daemon
@testable import Service

@Suite("A delivery") struct DeliveryTests {
  @Test func `One app's row that cannot be read stops the deliveries of no other app (R11)`() throws {
    let destination = try ScriptedDestination()
    // In any order of the lanes, most of these come before the valid one.
    let damaged = (1...6).map { AppSlug("damaged-\($0)") }
    let bench = try Bench((damaged + ["shop"]).map { Bench.app($0, url: destination.url) }, isStarted: false)
    try bench.committer.start()
    for app in damaged { try bench.sell(1, app: app) }
    let connection = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try connection.execute("UPDATE purchases SET receipt_id = CAST(x'FF' || app AS TEXT)")
    try bench.sell(2)
    try bench.dispatcher.start()
    try bench.waitFor(2, .delivered)
    #expect(destination.received.count == 1)
  }

  @Test("A receipt that cannot be read is rescheduled and holds up no other of its app; it can be cancelled")
  func unreadableReceipt() throws {
    let destination = try ScriptedDestination()
    let clock = ManualClock()
    let bench = try Bench([Bench.app(url: destination.url)], clock: clock, isStarted: false)
    try bench.committer.start()
    for number in 1...40 { try bench.sell(number) }
    // More than a lane reads at once. Foreign keys are off by default.
    let connection = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try connection.execute("UPDATE purchases SET dictionary = 99 WHERE row_id < 39")
    let began = bench.now
    bench.dispatcher.drive { run in
      for _ in 0..<1000 where destination.received.count < 2 {
        guard let sleep = run.step() else { return }
        run.handleAnswers(within: min(sleep, .milliseconds(20)))
      }
    }
    // Commands are stored in their order.
    try bench.store(Pulse())
    let put = try connection.integer(
      "SELECT count(*) FROM purchases WHERE state = 'pending' AND next_attempt_at = "
        + "\(began.advanced(by: .hours(1)).unixMilliseconds)")
    #expect(put == 38)
    let receipt = try #require(try connection.text("SELECT receipt_id FROM purchases WHERE row_id = 1"))
    #expect(try bench.store(CancelReceipt(id: ReceiptID(receipt), note: "unreadable")) == .done)
    #expect(try connection.text("SELECT state FROM purchases WHERE row_id = 1") == "cancelled")
    #expect(try connection.integer("SELECT length(body) FROM purchases WHERE row_id = 1") ?? 0 > 0)
  }

  @Test func `Every attempt has the app's headers and the same bytes, and none follows a 2xx (R3)`() throws {
    let destination = try ScriptedDestination { number in
      switch number {
      case 1: ScriptedDestination.answer(503)
      case 2: ScriptedDestination.answer(408)
      default: ScriptedDestination.accepted(number)
      }
    }
    let bench = try Bench([Bench.app(url: destination.url)])
    try bench.sell(1)
    let receipt = try bench.waitFor(1, .delivered)
    #expect(receipt.importID == "import-3")
    #expect(receipt.attempts == 3)
    #expect(receipt.lastStatus == 200)
    // A later delivery shows that the earlier one is not repeated.
    try bench.sell(2)
    try bench.waitFor(2, .delivered)
    let received = destination.received
    #expect(received.count == 4)
    #expect(Set(received.prefix(3).map(\.body)).count == 1)
    for request in received {
      #expect(request.head.method == "POST")
      #expect(request.head.target == "/receipts")
      #expect(request.head.header("Content-Type") == "application/json")
      #expect(request.head.header("X-API-KEY") == "ply-key")
      #expect(request.head.header("X-PLATFORM-TYPE") == "STRIPE")
      #expect(request.head.header("User-Agent") == Version.userAgent)
    }
    let body = try JSONValue(parsing: try #require(received.first).body)
    #expect(
      body == [
        "ply_context": "blob1", "stripe_object_id": "sub_1", "stripe_object_type": "subscription",
        "stripe_price_id": "price_1", "user_id": "user-1",
      ])
    #expect(try bench.attempts(1).map(\.status) == [503, 408, 200])
    #expect(try bench.attempts(1).allSatisfy { !$0.isAmbiguous && $0.error == nil })
  }

  @Test(arguments: [200, 201, 202, 204, 299])
  func `Any 2xx ends the delivery, also without a body (R3)`(status: Int) throws {
    let destination = try ScriptedDestination { _ in Response(status: status) }
    let bench = try Bench([Bench.app(url: destination.url)])
    try bench.sell(1)
    let receipt = try bench.waitFor(1, .delivered)
    #expect(receipt.importID == nil)
    #expect(receipt.attempts == 1)
  }

  @Test func `A refusal fails the receipt with its status, and keeps the answer (R4)`() throws {
    let words = #"{"errors":["missing mandatory property user_id"]}"#
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(422, body: words) }
    let bench = try Bench([Bench.app(url: destination.url)])
    try bench.sell(1)
    let receipt = try bench.waitFor(1, .failed)
    #expect(receipt.reason == .status(422))
    #expect(receipt.attempts == 1)
    #expect(receipt.nextAttemptAt == nil)
    #expect(try bench.attempts(1).first?.response == Array(words.utf8))
    // An operator replays it.
    destination.use { _ in ScriptedDestination.accepted(7) }
    #expect(try bench.store(ReplayReceipt(id: receipt.id, force: false, dueAt: bench.now)) == .done)
    #expect(try bench.waitFor(1, .delivered).importID == "import-7")
  }

  @Test func `A request without an answer is ambiguous and is sent again (R3)`() throws {
    let destination = try ScriptedDestination { $0 == 1 ? nil : ScriptedDestination.accepted($0) }
    let bench = try Bench([
      Bench.app(url: destination.url, delivery: Bench.delivery(timeout: .milliseconds(500)))
    ])
    try bench.sell(1)
    #expect(try bench.waitFor(1, .delivered).attempts >= 2)
    let first = try #require(try bench.attempts(1).first)
    #expect(first.status == nil)
    #expect(first.error == "timeout")
    #expect(first.isAmbiguous)
    destination.release()
  }

  @Test func `A refused connection sent nothing, and is retried`() throws {
    let bench = try Bench([
      Bench.app(url: "http://127.0.0.1:1/receipts", delivery: Bench.delivery(failures: 1000))
    ])
    try bench.sell(1)
    try bench.waitFor { _ in try bench.attempts(1).count >= 3 ? true : nil }
    #expect(
      try bench.attempts(1).allSatisfy { $0.error == "connect_failed" && !$0.isAmbiguous && $0.status == nil }
    )
    #expect(try bench.receipt(1)?.receipt?.state == .pending)
  }

  /// Makes storing an app's outcomes fail, until it is removed.
  private struct Obstacle {
    let connection: Connection

    init(_ bench: Bench, app: AppSlug = "shop") throws {
      connection = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
      try connection.execute(
        """
        CREATE TRIGGER obstacle BEFORE INSERT ON attempts
        WHEN (SELECT app FROM purchases WHERE row_id = new.purchase_row) = '\(app)'
        BEGIN SELECT RAISE(ABORT, 'not now'); END
        """)
    }

    func remove() throws { try connection.execute("DROP TRIGGER obstacle") }
  }

  @Test("An outcome that cannot be stored is stored later, and the receipt is not sent meanwhile (R3)")
  func unstored() throws {
    let (destination, other) = (try ScriptedDestination(), try ScriptedDestination())
    let bench = try Bench([Bench.app(url: destination.url), Bench.app("other", url: other.url)])
    let obstacle = try Obstacle(bench)
    try bench.sell(1)
    try bench.waitForLog("could not store the outcome")
    // After these deliveries the dispatcher has checked every app again.
    for number in 1...3 {
      try bench.sell(number, app: "other")
      try bench.waitFor(number, .delivered, app: "other")
    }
    bench.dispatcher.checkAll()
    try bench.sell(4, app: "other")
    try bench.waitFor(4, .delivered, app: "other")
    #expect(try bench.receipt(1)?.receipt?.state == .pending)
    #expect(destination.received.count == 1)
    try obstacle.remove()
    #expect(try bench.waitFor(1, .delivered).importID == "import-1")
    try bench.sell(2)
    try bench.waitFor(2, .delivered)
    #expect(destination.received.count == 2)
  }

  @Test("A stop waits for an outcome that could not be stored, so that it is not sent again (R3)")
  func unstoredAtStop() throws {
    let destination = try ScriptedDestination()
    let bench = try Bench([Bench.app(url: destination.url)], grace: .seconds(15))
    let obstacle = try Obstacle(bench)
    try bench.sell(1)
    try bench.waitForLog("could not store the outcome")
    bench.dispatcher.windDown()
    try obstacle.remove()
    bench.stop()
    #expect(try bench.receipt(1)?.receipt?.state == .delivered)
    #expect(destination.received.count == 1)
  }

  @Test(
    "A receipt cancelled while under way is delivered if it arrived (R3), else cancelled"
  )
  func cancelledInFlight() throws {
    let destination = try ScriptedDestination { _ in nil }
    let bench = try Bench([Bench.app(url: destination.url)])
    for (number, answer) in [(1, ScriptedDestination.accepted(9)), (2, ScriptedDestination.answer(503))] {
      try bench.sell(number)
      try destination.waitForHeld(1)
      let id = try #require(try bench.receipt(number)?.receipt?.id)
      #expect(try bench.store(CancelReceipt(id: id, note: "mistake")) == .done)
      destination.release(answer)
      try bench.waitFor { _ in try bench.attempts(number).isEmpty ? nil : true }
    }
    let first = try #require(try bench.receipt(1)?.receipt)
    #expect(first.state == .delivered)
    #expect(first.importID == "import-9")
    #expect(first.reason == nil)
    let second = try #require(try bench.receipt(2)?.receipt)
    #expect(second.state == .cancelled)
    #expect(second.reason == .byOperator)
    #expect(second.nextAttemptAt == nil)
    #expect(destination.received.count == 2)
  }
}
