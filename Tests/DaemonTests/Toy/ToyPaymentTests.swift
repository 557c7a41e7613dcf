// A payment that starts at the relay, from its start to the delivered receipt.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@testable import Service

@Suite("A payment that starts at the relay")
struct ToyPaymentTests {
  /// Answers a start with the order `o1`, and a fetch with this state.
  private static func processor(_ state: String) -> ToyBed.Script {
    { request in
      request.hasPrefix("POST")
        ? ToyBed.answer("201 Created", "o1") : ToyBed.answer("200 OK", "\(state) o1 u1 gold")
    }
  }

  private func callBack(
    _ bed: ToyBed, _ body: String, token: String = "secret-path", from address: String = "192.0.2.1"
  ) throws -> RawClient.Reply {
    try bed.send("POST", "/v1/shop/webhooks/toy/\(token)", body, "X-Forwarded-For: \(address)\r\n").reply()
  }

  private func receipt(_ bed: ToyBed) throws -> JSONValue {
    try JSONValue(parsing: try #require(try bed.destination.waitForRequests(1).first).body)
  }

  @Test func `A callback causes a fetch, and the receipt has the user and the context of the start`() throws {
    let bed = try ToyBed(Self.processor("paid"))
    let context = try bed.postContext()
    #expect(try bed.start("gold", "X-Context-Id: \(context)\r\n").reply().status == 201)
    #expect(try callBack(bed, "c callback o1").status == 200)
    #expect(try receipt(bed) == ["article": "gold", "buyer": "u1", "context": "YQ==", "order": "o1"])
    #expect(bed.called == ["POST /orders", "GET /orders/6f-31"])
    #expect(bed.metrics.unreportedPayments.snapshot().isEmpty, "a callback had reported it")
    #expect(try callBack(bed, "c callback o9").status == 200)
    #expect(bed.metrics.events.snapshot()[.init(first: "shop", second: "toy", third: "unmatched")] == 1)
  }

  @Test func `CB01: Callbacks are answered while the processor answers nothing`() throws {
    let bed = try ToyBed(Self.processor("paid"))
    #expect(try bed.start().reply().status == 201)
    bed.hold { $0.hasPrefix("GET") }
    #expect(try callBack(bed, "c callback o1").status == 200)
    try bed.waitForCalls(2)
    #expect(try callBack(bed, "c callback o1").status == 200, "also while a fetch waits for its answer")
    #expect(try bed.stored("o1")?.purchase.isBought == false, "nothing was answered yet")
    bed.hold { _ in false }
    #expect(try receipt(bed)["order"]?.stringValue == "o1")
  }

  @Test func `A payment that is never reported is fetched until it is paid`() throws {
    let bed = try ToyBed(toy: ", follow_after: '10ms'", Self.processor("open"))
    #expect(try bed.start().reply().status == 201)
    try bed.waitForCalls(2)
    bed.use(Self.processor("paid"))
    #expect(try receipt(bed)["order"]?.stringValue == "o1")
    _ = try bed.waitForStored("o1") { $0.receipt?.state == .delivered }
    let unreported = bed.metrics.unreportedPayments.snapshot()
    #expect(unreported == [.init(first: "shop", second: "toy"): 1])
    let count = bed.calls.count
    #expect(try callBack(bed, "c callback o1").status == 200)
    #expect(try bed.waitForCalls(count + 1).count == count + 1, "only the callback caused another fetch")
  }

  @Test("A wrong path is none, and a foreign sender is forbidden; both are counted, nothing is stored")
  func refused() throws {
    let bed = try ToyBed(Self.processor("paid"))
    #expect(try bed.start().reply().status == 201)
    let unknown = try callBack(bed, "c callback o1", token: "other")
    #expect(unknown.status == 404)
    #expect(unknown.text.contains("urn:receiptd:problem:not-found"))
    let foreign = try callBack(bed, "c callback o1", from: ToyProcessor.foreignAddress)
    #expect(foreign.status == 403)
    #expect(try bed.reader().events(EventFilter(), limit: 10).isEmpty)
    let refused = Metrics.refusals(bed.metrics.signatureFailures.snapshot())
    #expect(refused[AppProcessor("shop", "toy")] == ["path": 1, "sender": 1])
    #expect(try bed.waitForLog("the secret at the end of its path is wrong").contains("reason=path"))
    #expect(try bed.waitForLog("is not one of the processor's").contains("listen.proxies"))
    #expect(bed.calls.count == 1)
  }

  @Test func `CB12: A fetch that fails is retried with its own pauses, and stays planned`() throws {
    let bed = try ToyBed { request in
      request.hasPrefix("POST")
        ? ToyBed.answer("201 Created", "o1") : ToyBed.answer("503 Service Unavailable")
    }
    #expect(try bed.start().reply().status == 201)
    let before = SystemClock().wallMilliseconds
    #expect(try callBack(bed, "c callback o1").status == 200)
    try bed.waitForCalls(2)
    let next = try polled {
      try bed.reader().nextLookup(
        AppProcessor("shop", "toy"), after: Timestamp(unixMilliseconds: before + 1500)
      ).flatMap { $0.unixMilliseconds < before + 60_000 ? $0 : nil }
    }
    #expect((2000..<20_000).contains(next.unixMilliseconds - before))
    bed.use(Self.processor("paid"))
    #expect(try receipt(bed)["order"]?.stringValue == "o1")
  }
}
