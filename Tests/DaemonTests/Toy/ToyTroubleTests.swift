// A merchant backend whose processor, client or daemon fails while a call is under way.

import Domain
import Glibc
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

@Suite("A merchant backend in trouble")
struct ToyTroubleTests {
  private func troubles(_ bed: ToyBed, app: String = "shop") -> [String: UInt64] {
    bed.metrics.backendTroubles.snapshot().reduce(into: [:]) { counts, sample in
      if sample.key.first == app, sample.key.second == "toy" { counts[sample.key.third] = sample.value }
    }
  }

  @Test func `A redirect is not followed`() throws {
    let bed = try ToyBed { _ in ToyBed.answer("302 Found", "", "Location: /elsewhere\r\n") }
    let reply = try bed.start().reply()
    #expect(reply.text == "status 302")
    #expect(bed.called == ["POST /orders"])
    #expect(troubles(bed) == ["unreadable": 1])
    #expect(try bed.waitForLog("was not understood").contains("app=shop processor=toy reason=unreadable"))
  }

  @Test func `No answer in time, a connection that ends early, and no connection are distinguished`() throws {
    let bed = try ToyBed(toy: ", timeout: '400ms'") { _ in nil }
    #expect(try bed.start().reply().text == "no answer")
    bed.hold { _ in true }
    let reply = try bed.start().reply()
    #expect(reply.status == 504)
    bed.hold { _ in false }
    bed.use { _ in "HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\no1" }
    #expect(try bed.start().reply().status == 504, "half an answer is none")
    let (descriptor, port) = try openSocket()
    defer { close(descriptor) }
    try bed.reload(["shop"], base: "http://127.0.0.1:\(port)")
    #expect(try bed.start().reply().text == "unreachable")
    #expect(troubles(bed)["timeout"] == 2)
    #expect(troubles(bed)["unreachable"] == 2)
    #expect(try bed.waitForLog("could not be reached").contains("failure="))
    #expect(try bed.reader().purchases(ofUser: "u1", limit: 10).isEmpty)
  }

  @Test func `Refused credentials are an error in the log; no secret is printed (R7)`() throws {
    let bed = try ToyBed { _ in ToyBed.answer("401 Unauthorized", "no") }
    #expect(try bed.start().reply().text == "credentials")
    let line = try bed.waitForLog("refuses the app's credentials")
    #expect(line.contains(" error "))
    #expect(line.contains("request_id=req_"))
    #expect(troubles(bed) == ["credentials": 1])
    for secret in ["toy-key", ToyBed.key, "secret-path"] { #expect(!bed.log.contains(secret)) }
  }

  @Test(arguments: [false, true])
  func `An answer that is too long, or that is none, is not passed on`(isLong: Bool) throws {
    let bed = try ToyBed { _ in
      isLong ? ToyBed.answer("201 Created", String(repeating: "x", count: 1 << 20 + 1)) : "nonsense\r\n\r\n"
    }
    #expect(try bed.start().reply().text == "no answer")
    #expect(try bed.reader().purchases(ofUser: "u1", limit: 10).isEmpty)
  }

  @Test("A payment that cannot be stored is not reported as started, nor an unreadable one as missing")
  func database() throws {
    let bed = try ToyBed()
    #expect(try bed.start().reply().status == 201)
    let path = "\(bed.folder.path)/relay.db"
    let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(10))
    try connection.execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON purchases BEGIN SELECT RAISE(ABORT, 'refused'); END")
    bed.use { _ in ToyBed.answer("201 Created", "o2") }
    #expect(try bed.start().reply().text == "store-unavailable 503")
    _ = try bed.waitForLog("could not store a request")
    try connection.execute("UPDATE purchases SET prices = CAST(x'FF' AS TEXT)")
    let reply = try bed.send("GET", "/v1/shop/users/u1/toy/orders/o1").reply()
    #expect(reply.text == "store-unreadable 503")
    _ = try bed.waitForLog("could not read what a request asks for")
  }

  @Test func `A client that hangs up stops no call: what was started is stored`() throws {
    let bed = try ToyBed()
    bed.hold { _ in true }
    do {
      _ = try bed.start()
      try bed.waitForCalls(1)
    }
    // The client is gone, and its place is free.
    let abandoned = try polled {
      bed.metrics.requests.snapshot()[LabelValues(first: "toy_orders", second: "408")]
    }
    #expect(abandoned == 1)
    #expect(try bed.stored("o1") == nil)
    bed.hold { _ in false }
    #expect(try bed.waitForStored("o1").purchase.userID == "u1")
  }

  @Test func `One app's slow processor takes no place of another app (R11)`() throws {
    let bed = try ToyBed(apps: ["slow", "quick"]) { _ in ToyBed.answer("201 Created", "o1") }
    bed.hold { $0.contains(" slow-") }
    let share = BackendPlaces.shareMax
    let waiting = try (0..<share).map { _ in try bed.start("slow-", app: "slow") }
    try bed.waitForCalls(share)
    let refused = try bed.start("slow-", app: "slow").reply()
    #expect(refused.status == 503)
    #expect(refused.text == "busy")
    #expect(bed.calls.count == share, "nothing was sent")
    for _ in 0..<3 { #expect(try bed.start("gold", app: "quick").reply().status == 201) }
    bed.hold { _ in false }
    for client in waiting { #expect(try client.reply().status == 201) }
    #expect(try bed.start("slow-", app: "slow").reply().status == 201)
  }

  @Test func `A reload changes later calls; one that is under way ends as it began`() throws {
    let bed = try ToyBed()
    bed.hold { _ in true }
    let client = try bed.start()
    try bed.waitForCalls(1)
    let (descriptor, port) = try openSocket()
    defer { close(descriptor) }
    try bed.reload(["shop"], base: "http://127.0.0.1:\(port)")
    #expect(try bed.start("gold", user: "u2").reply().text == "unreachable")
    bed.hold { _ in false }
    #expect(try client.reply().status == 201)
    #expect(try bed.stored("o1") != nil)
  }

  @Test func `After a reload that removes the app, nothing of a call under way is stored`() throws {
    let bed = try ToyBed(apps: ["shop", "other"])
    bed.hold { _ in true }
    let client = try bed.start()
    try bed.waitForCalls(1)
    try bed.reload(["other"])
    bed.hold { _ in false }
    #expect(try client.reply().text == "unknown-app 404")
    #expect(try bed.stored("o1") == nil)
  }

  @Test("A stop lets a call under way end, stores what it started, and answers; it begins no other")
  func stop() throws {
    let bed = try ToyBed()
    bed.hold { _ in true }
    let client = try bed.start()
    try bed.waitForCalls(1)
    bed.daemon.core.windDown()
    #expect(try bed.start("silver", user: "u2").reply().text == "stopping 503")
    #expect(try bed.send("GET", "/v1/shop/toy/limits").reply().text == "stopping 503")
    #expect(try bed.send("GET", "/v1/shop/toy/").reply().status == 200, "it needs no call")
    bed.hold { _ in false }
    #expect(try client.reply().status == 201)
    bed.stop()
    #expect(bed.calls.count == 1)
    #expect(try bed.stored("o1") != nil)
  }

  @Test func `A call that outlasts the grace of a stop is cancelled, and the stop ends`() throws {
    let held = try ScriptedDestination { _ in nil }
    var app = Bench.app(client: .restricted(keys: [Secret(ToyBed.key)], tokens: nil))
    app.destinations = .withToy(held.url)
    app.processors = [
      ConfiguredProcessor(
        section: ToySection(
          token: Secret("t"), apiKey: Secret("k"), apiBase: String(held.url.dropLast("/receipts".count)),
          deliverTo: DeliverTo(ToyDestination.name)))
    ]
    let bench = try Bench([app], grace: .milliseconds(50), callsBackends: true)
    let server = try bench.serve(processors: .withToy)
    let client = try RawClient(port: server.port)
    try client.send(
      "POST /v1/shop/users/u1/toy/orders HTTP/1.1\r\nHost: test\r\nX-API-KEY: \(ToyBed.key)\r\n"
        + "Content-Type: text/plain\r\nContent-Length: 4\r\n\r\ngold")
    try held.waitForHeld(1)
    bench.core.windDown()
    bench.core.backendWorker?.stop()
    #expect(try client.reply().text == "no answer")
    server.stop(grace: .seconds(5))
    bench.stop()
    #expect(held.received.count == 1)
  }
}
