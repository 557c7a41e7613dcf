// Long polls over real connections, with a manual clock.

import Domain
import Formats
import FoundationEssentials
import HTTPServer
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service
@testable import Upkeep

@Suite("Long polls") struct CheckoutPollsTests {
  /// A listener with its housekeeper, without deliveries.
  private final class Bed {
    let clock = ManualClock()
    let bench: Bench
    let server: Server

    init(_ limits: Configuration.Limits = .init(longPollsPerContext: 1000)) throws {
      ProcessLimits.raiseOpenFiles()
      bench = try Bench([Bench.app(), Bench.app("other")], clock: clock, longPolls: limits, isStarted: false)
      try bench.startHousekeeping()
      server = try bench.serve()
    }

    deinit {
      bench.checkoutPolls.answerAll()
      server.stop(grace: .seconds(5))
    }

    func ask(_ id: ContextID, _ query: String = "?wait=30", app: String = "shop") throws -> RawClient {
      let client = try RawClient(port: server.port)
      try client.get("/v1/\(app)/contexts/\(id)\(query)")
      return client
    }

    /// Sends a request, and waits until it is a waiting long poll.
    func wait(_ id: ContextID, _ query: String = "?wait=30") throws -> RawClient {
      let before = bench.checkoutPolls.begunCount
      let client = try ask(id, query)
      try bench.waitUntil { bench.checkoutPolls.begunCount > before }
      return client
    }

    func cancel(_ number: Int) throws -> ReceiptID {
      let id = try #require(try bench.receipt(number)?.receipt?.id)
      #expect(try bench.store(CancelReceipt(id: id, note: "test")) == .done)
      return id
    }
  }

  private static func state(_ client: RawClient) throws -> String? {
    let reply = try client.reply()
    #expect(reply.status == 200)
    #expect(reply.header("Cache-Control") == "no-store")
    return try JSONValue(parsing: reply.body)["state"]?.stringValue
  }

  private static var threads: Int {
    // Without the list, the comparison must fail.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? -1_000_000
  }

  @Test func `A final state is answered at once`() throws {
    let bed = try Bed()
    let sold = try bed.bench.post(1)
    try bed.bench.buy(1)
    let receipt = try bed.cancel(1)
    let reply = try bed.ask(sold).reply()
    let body = try JSONValue(parsing: reply.body)
    #expect(body["state"] == "cancelled")
    #expect(body["receipt_id"] == .string(receipt.text))
    #expect(body["paid"] != nil)
    #expect(body["context_id"] == .string(sold.text))
    #expect(body["updated_at"]?.stringValue?.hasSuffix("Z") == true)
    let abandoned = try bed.bench.post(2)
    bed.clock.advance(.milliseconds(86_400_001))
    #expect(try Self.state(bed.ask(abandoned)) == "expired")
    #expect(bed.bench.checkoutPolls.begunCount == 0)
  }

  @Test("The status says what was charged, once it is paid: 0 for a free order, and whether a trial began")
  func amounts() throws {
    let bed = try Bed()
    func status(_ number: Int, _ events: [(type: String, object: String)]) throws -> JSONValue {
      let id = try bed.bench.post(number)
      let report = PurchaseReport(
        key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .paid,
        clientReference: "user-\(number)", prices: ["price_1"], happenedAt: bed.bench.now)
      for (index, event) in events.enumerated() {
        try bed.bench.store(
          IngestEvent(
            app: "shop", processor: "stripe", eventID: "evt_\(number)_\(index)", type: event.type,
            body: Array("{\"created\": 1, \"data\": {\"object\": {\(event.object)}}}".utf8),
            content: .report(report, keep: true)))
      }
      return try JSONValue(parsing: bed.ask(id, "").reply().body)
    }
    let session = "checkout.session.completed"
    let paid = try status(
      1,
      [(session, #""object": "checkout.session", "amount_total": 4999, "currency": "eur""#)])
    #expect(paid["amount"] == .integer(4999))
    #expect(paid["currency"] == "EUR")
    #expect(paid["trial"] == .bool(false))
    let free = try status(
      2, [(session, #""object": "checkout.session", "payment_status": "no_payment_required""#)])
    #expect(free["paid"] == .bool(true))
    #expect(free["amount"] == .integer(0))
    #expect(free["trial"] == .bool(false))
    let trial = try status(
      3,
      [
        ("customer.subscription.created", #""object": "subscription", "status": "trialing""#),
        (session, #""object": "checkout.session", "amount_total": 0, "currency": "eur""#),
      ])
    #expect(trial["amount"] == .integer(0))
    #expect(trial["trial"] == .bool(true))
    let unknown = try status(4, [("invoice.paid", #""object": "invoice""#)])
    #expect(unknown["amount"] == .null)
    let open = try JSONValue(parsing: bed.ask(bed.bench.post(5), "").reply().body)
    #expect(open["amount"] == .null)
  }

  @Test(arguments: ["", "?wait=0", "?x=1", "?"])
  func `Without a wait, or with a wait of zero, the answer has the current state`(query: String) throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    #expect(try Self.state(bed.ask(id, query)) == "open")
    try bed.bench.buy(1)
    #expect(try Self.state(bed.ask(id, query)) == "paid")
  }

  @Test(arguments: [
    "31", "-1", "x", "", "1.5", "1e1", "99999999999999999999", "%zz", "%FF", " 5", "5%00", "٥",
  ])
  func `A wait that is not a whole number of seconds up to 30 is refused`(wait: String) throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    let target = "?wait=" + wait.replacing(" ", with: "%20").replacing("٥", with: "%D9%A5")
    let reply = try bed.ask(id, target).reply()
    #expect(reply.status == 400)
    #expect(reply.header("Content-Type") == "application/problem+json")
    #expect(try JSONValue(parsing: reply.body)["type"] == "urn:receiptd:problem:invalid-wait")
  }

  @Test func `An unknown or another app's context is not found, without waiting (R5)`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    let unknown: ContextID = "ctx_\(String(repeating: "0", count: 26))"
    let lower = ContextID(id.text.lowercased())
    let asked: [(ContextID, String)] = [
      (unknown, "shop"), ("ctx_1", "shop"), (id, "other"), (lower, "shop"), ("%00", "shop"),
    ]
    for (id, app) in asked {
      #expect(try bed.ask(id, app: app).reply().status == 404)
    }
    #expect(bed.bench.checkoutPolls.begunCount == 0)
  }

  @Test func `A change that is not final does not end the wait, a final one does`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    let clients = try (0..<3).map { _ in try bed.wait(id) }
    try bed.bench.buy(1)
    try bed.bench.step(bed.clock)
    #expect(!clients.contains { $0.hasNews })
    _ = try bed.cancel(1)
    for client in clients { #expect(try Self.state(client) == "cancelled") }
  }

  @Test func `Each long poll gets the current state at its own timeout`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    let (short, long) = (try bed.wait(id, "?wait=2"), try bed.wait(id, "?wait=30"))
    bed.clock.advance(.milliseconds(1999))
    try bed.bench.step(bed.clock)
    #expect(!short.hasNews)
    #expect(!long.hasNews)
    // Long polls are answered in steps, up to 10 ms late.
    bed.clock.advance(.milliseconds(11))
    bed.bench.housekeeper.checkNow()
    #expect(try Self.state(short) == "open")
    try bed.bench.step(bed.clock)
    #expect(!long.hasNews)
    bed.clock.advance(.seconds(28))
    bed.bench.housekeeper.checkNow()
    #expect(try Self.state(long) == "open")
    // The connection stays open.
    try short.get("/v1/shop/contexts/\(id)")
    #expect(try Self.state(short) == "open")
  }

  @Test("The expiry of a context that a purchase has is checked once, not until the long poll ends")
  func expiryOfClaimed() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    bed.clock.advance(.days(1) - .seconds(10))
    let client = try bed.wait(id)
    try bed.bench.buy(1)
    try bed.bench.step(bed.clock)
    bed.clock.advance(.seconds(11))
    let next = try #require(bed.bench.checkoutPolls.completeDue())
    #expect(next > bed.clock.monotonic)
    #expect(!client.hasNews)
  }

  @Test func `A change by another process is found without a notification`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    try bed.bench.buy(1)
    let client = try bed.wait(id)
    let receipt = try #require(try bed.bench.receipt(1)?.receipt?.id)
    let guest = try StoreWriter(path: bed.bench.path, role: .guest, rules: bed.bench.directory.rules)
    #expect(try guest.apply(CancelReceipt(id: receipt, note: "test"), now: bed.bench.now) == .done)
    bed.clock.advance(Dependencies.lookInterval)
    bed.bench.housekeeper.checkNow()
    #expect(try Self.state(client) == "cancelled")
  }

  @Test func `At a stop all long polls get the current state, and no new one waits`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    let clients = try (0..<5).map { _ in try bed.wait(id) }
    bed.bench.checkoutPolls.answerAll()
    for client in clients { #expect(try Self.state(client) == "open") }
    #expect(try Self.state(bed.ask(id)) == "open")
    bed.bench.checkoutPolls.answerAll()
  }

  @Test func `Five hundred long polls wait without a thread each, and all are answered (R8)`() throws {
    let bed = try Bed()
    let ids = try (0..<50).map { try bed.bench.post($0) }
    let before = Self.threads
    // One after the other: a server that is slow must not take longer for a burst than a request may wait.
    let clients = try (0..<500).map { try bed.wait(ids[$0 % 50]) }
    #expect(bed.bench.checkoutPolls.waitingCount == 500)
    #expect(Self.threads < before + 100)
    // Half of the checkouts end; all other requests time out.
    for number in 0..<25 {
      try bed.bench.buy(number)
      _ = try bed.cancel(number)
    }
    for (number, client) in clients.enumerated() where number % 50 < 25 {
      #expect(try Self.state(client) == "cancelled")
    }
    #expect(!clients.enumerated().contains { $0.offset % 50 >= 25 && $0.element.hasNews })
    bed.clock.advance(.seconds(30))
    bed.bench.housekeeper.checkNow()
    for (number, client) in clients.enumerated() where number % 50 >= 25 {
      #expect(try Self.state(client) == "open")
    }
  }

  @Test func `A long poll whose client hangs up frees its place at once`() throws {
    let bed = try Bed()
    let id = try bed.bench.post(1)
    for _ in 0..<20 { _ = try bed.wait(id) }
    // The clock stands still, so only the hang-ups can end these.
    try bed.bench.waitUntil { bed.bench.checkoutPolls.waitingCount == 0 }
    #expect(bed.bench.metrics.longPolls.snapshot()[LabelValues(first: "abandoned")] == 20)
    let client = try bed.wait(id)
    #expect(bed.bench.checkoutPolls.waitingCount == 1)
    try bed.bench.buy(1)
    _ = try bed.cancel(1)
    #expect(try Self.state(client) == "cancelled")
  }
}
