// Captures, through the whole daemon: an order is stored before it is sent, takes effect once, and is
// answered when its outcome is on disk.

import Domain
import Platform
import SQLiteStore
import Service
import Store
import TestSupport
import Testing

@testable import Daemon

@Suite("Captures in the daemon")
struct ToyCaptureTests {
  private static let target = "/orders/6f-31/capture"

  /// A bed with the order `o1` of the user `u1`, and this answer to the calls that capture and look up.
  private func started(
    toy: String = ", timeout: '60s'", _ script: @escaping @Sendable (_ isLookup: Bool) -> String?
  ) throws -> ToyBed {
    let bed = try ToyBed(toy: toy)
    try #require(try bed.start().reply().status == 201)
    bed.use { script($0.hasPrefix("GET")) }
    return bed
  }

  private func capture(_ bed: ToyBed, by user: String = "u1", order: String = "o1") throws -> RawClient {
    try bed.send("POST", "/v1/shop/users/\(user)/toy/orders/\(order)/capture", "")
  }

  private static let captured = ToyBed.answer("200 OK", "captured")
  private static let notFound = ToyBed.answer("404 Not Found", "none")

  @Test func `A capture is answered when its outcome is on disk, and the purchase is paid`() throws {
    let bed = try started { _ in Self.captured }
    let reply = try capture(bed).reply()
    #expect(reply.status == 200)
    #expect(reply.text == #"{"state":"captured"}"#)
    #expect(try bed.stored("o1")?.purchase.observations == [.started, .paid])
    let call = try #require(bed.calls.last)
    #expect(call.hasPrefix("POST \(Self.target) HTTP/1.1\r\n"))
    #expect(call.contains("\r\nX-Toy-Key: toy-key\r\n"))
    #expect(call.contains("\r\nUser-Agent: receiptd/"))
    try bed.destination.waitForRequests(1)
    #expect(bed.metrics.captures.snapshot().map(\.value) == [1])
  }

  @Test func `The same order twice, also at the same time, has one effect and one answer`() throws {
    let bed = try started { isLookup in isLookup ? Self.notFound : Self.captured }
    bed.hold { $0.hasPrefix("POST \(Self.target)") }
    let clients = try (0..<5).map { _ in try capture(bed) }
    try bed.waitForCalls(2)
    bed.hold { _ in false }
    for client in clients { #expect(try client.reply().text == #"{"state":"captured"}"#) }
    #expect(try capture(bed).reply().text == #"{"state":"captured"}"#)
    // A repeat that reads the stored order before its first call is made has it looked up.
    #expect(bed.called.filter { !$0.hasPrefix("GET") } == ["POST /orders", "POST \(Self.target)"])
  }

  @Test func `A declined payment is no purchase, and a repeat gets the same answer`() throws {
    let bed = try started { _ in ToyBed.answer("200 OK", "declined") }
    for _ in 0..<2 {
      let reply = try capture(bed).reply()
      #expect(reply.status == 402)
      #expect(reply.header("Content-Type") == "application/problem+json")
      #expect(reply.text.contains("\"request_id\":\"req_"))
    }
    #expect(bed.calls.count == 2)
    #expect(try bed.stored("o1")?.purchase.observations == [.started, .closed])
    #expect(try bed.stored("o1")?.receipt == nil)
  }

  @Test func `A payment that is not confirmed yet may be captured again`() throws {
    let bed = try started { _ in ToyBed.answer("200 OK", "unconfirmed") }
    #expect(try capture(bed).reply().status == 412)
    bed.use { _ in Self.captured }
    #expect(try capture(bed).reply().status == 200)
    #expect(bed.calls.count == 3)
  }

  @Test func `Another user's order and an unknown one are 404, and nothing is sent`() throws {
    let bed = try started { _ in Self.captured }
    #expect(try capture(bed, by: "u2").reply().text.contains("problem:unknown-payment"))
    #expect(try capture(bed, order: "o2").reply().status == 404)
    #expect(bed.calls.count == 1)
  }

  @Test(
    "After a lost answer the payment is looked up, and the call is made again only if nothing was captured")
  func lostAnswer() throws {
    let isCaptured = Monitor(false)
    let bed = try started { isLookup in
      if isLookup { return isCaptured.withLock { $0 } ? Self.captured : Self.notFound }
      isCaptured.withLock { $0 = true }
      return nil
    }
    #expect(try capture(bed).reply().text == #"{"state":"captured"}"#)
    #expect(bed.called.dropFirst() == ["POST \(Self.target)", "GET \(Self.target)"])
    let other = try started { isLookup in
      guard !isLookup else { return Self.notFound }
      return isCaptured.update { value in
        value.toggle()
        return value
      } ? Self.captured : nil
    }
    #expect(try capture(other).reply().text == #"{"state":"captured"}"#)
    let calls = other.called.dropFirst()
    #expect(calls.first == "POST \(Self.target)")
    #expect(calls.last == "POST \(Self.target)")
    #expect(calls.dropFirst().dropLast().allSatisfy { $0 == "GET \(Self.target)" })
  }

  @Test("An app that has waited long enough learns that the outcome is unknown, and the capture goes on")
  func unknown() throws {
    let bed = try started(toy: ", timeout: '300ms'") { _ in nil }
    let reply = try capture(bed).reply()
    #expect(reply.status == 504)
    #expect(reply.text.contains("problem:capture-outcome-unknown"))
    #expect(try bed.stored("o1")?.purchase.observations == [.started])
    bed.use { _ in Self.captured }
    // A repeat of the request asks at once. It has as little time as the first.
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    var text = ""
    while text != #"{"state":"captured"}"#, MonotonicInstant.now() < deadline {
      text = try capture(bed).reply().text
    }
    #expect(text == #"{"state":"captured"}"#)
    #expect(bed.metrics.backendTroubles.snapshot().isEmpty == false)
  }

  @Test("A stop lets a call under way end, stores its outcome, and answers; it begins no other")
  func stop() throws {
    let bed = try started { _ in Self.captured }
    bed.hold { $0.hasPrefix("POST \(Self.target)") }
    let client = try capture(bed)
    try bed.waitForCalls(2)
    bed.daemon.core.windDown()
    #expect(try capture(bed).reply().text == "stopping 503")
    bed.hold { _ in false }
    #expect(try client.reply().status == 200)
    bed.stop()
    #expect(bed.calls.count == 2)
    #expect(try bed.stored("o1")?.purchase.observations.contains(.paid) == true)
  }

  @Test("A reload that removes the processor keeps the obligation, and one that adds it again continues it")
  func removed() throws {
    let bed = try started(toy: ", timeout: '300ms'") { _ in nil }
    #expect(try capture(bed).reply().status == 504)
    try bed.reload(["other"])
    bed.use { _ in Self.captured }
    let calls = bed.calls.count
    try bed.reload(["shop"])
    _ = try bed.waitForStored("o1") { $0.purchase.observations.contains(.paid) }
    #expect(bed.calls.count > calls)
    #expect(bed.called.last == "GET \(Self.target)")
  }

  @Test func `A call under way when its section is removed ends, and its outcome is stored`() throws {
    let bed = try started { _ in Self.captured }
    bed.hold { $0.hasPrefix("POST \(Self.target)") }
    let client = try capture(bed)
    try bed.waitForCalls(2)
    try bed.reload(["shop"], hasKey: false)
    #expect(try capture(bed).reply().status == 404, "there is no backend")
    bed.hold { _ in false }
    #expect(try client.reply().text == #"{"state":"captured"}"#)
    #expect(try bed.stored("o1")?.purchase.observations.contains(.paid) == true)
    try bed.reload(["shop"])
    #expect(try capture(bed).reply().text == #"{"state":"captured"}"#)
    #expect(bed.calls.count == 2)
  }

  @Test("An outcome that cannot be stored is not answered; it is stored as soon as that is possible")
  func database() throws {
    let bed = try started { _ in Self.captured }
    let path = "\(bed.folder.path)/relay.db"
    let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(10))
    try connection.execute(
      "CREATE TRIGGER refuse BEFORE UPDATE ON captures BEGIN SELECT RAISE(ABORT, 'refused'); END")
    let client = try capture(bed)
    _ = try bed.waitForLog("could not store the outcome of a capture")
    #expect(try bed.stored("o1")?.purchase.observations == [.started])
    try connection.execute("DROP TRIGGER refuse")
    // An order that comes during the pause shares the outcome.
    let second = try capture(bed)
    #expect(try client.reply().text == #"{"state":"captured"}"#)
    #expect(try second.reply().text == #"{"state":"captured"}"#)
    #expect(bed.called == ["POST /orders", "POST \(Self.target)"])
    try connection.execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON captures BEGIN SELECT RAISE(ABORT, 'refused'); END")
    bed.use { _ in ToyBed.answer("201 Created", "o2") }
    #expect(try bed.start().reply().status == 201)
    #expect(try capture(bed, order: "o2").reply().text == "store-unavailable 503")
    #expect(bed.calls.count == 3, "what is not stored is not sent")
  }
}
