// The simulated Swedbank Pay over real connections: callbacks, the payer's page, and faults.

import Formats
import HTTPClient
import HTTPServer
import Platform
import Sandbox
import Testing

@Suite("The simulated Swedbank Pay") struct SandboxSwedbankTests {
  private static let newest = "application/json;version=3.1"

  /// A stand-in, a client, and a receiver of callbacks.
  private final class Rig {
    let swedbank: SandboxSwedbank
    let caller: SandboxCaller
    let receiver = CallbackReceiver()
    let server: Server
    let exchanges = Monitor<[SandboxExchange]>([])
    let attempts = Monitor<[SandboxCallbackAttempt]>([])
    private var count = 0

    init(faults: SandboxFaults = SandboxFaults(), callbackScale: Double = 1) throws {
      let (exchanges, attempts) = (exchanges, attempts)
      swedbank = try SandboxSwedbank(
        token: "secret", faults: faults, callbackScale: callbackScale,
        onExchange: { exchange in exchanges.update { $0.append(exchange) } },
        onCallback: { attempt in attempts.update { $0.append(attempt) } })
      caller = try SandboxCaller(
        swedbank.base, [("Authorization", "Bearer secret"), ("User-Agent", "relay/1")])
      server = try receiver.serve()
    }

    deinit {
      swedbank.stop()
      server.stop(grace: .milliseconds(100))
    }

    func post(timeout: Duration = .seconds(300)) throws -> TransferResult {
      count += 1
      let urls: JSONValue = [
        "hostUrls": ["https://example.com/"], "completeUrl": "https://example.com/complete",
        "callbackUrl": .string("http://127.0.0.1:\(server.port)/callback"),
      ]
      let body = SandboxSwedbankRig.purchase("ref\(count)", [("urls", urls)])
      return try caller.send(.post, "/psp/paymentorders", body, type: newest, timeout: timeout)
    }

    /// - Returns: the id of a new order.
    func create() throws -> String { try #require(try post().json?.text("paymentOrder", "id")) }
  }

  @Test func `A payment is followed by a callback, and then the order is paid`() throws {
    let rig = try Rig()
    let id = try rig.create()
    #expect(rig.swedbank.perform(.pay, on: id))
    let callback = try #require(try rig.receiver.bodies(1).first)
    #expect(callback.text("paymentOrder", "id") == id)
    let order = try rig.caller.get("\(id)?$expand=paid", type: Self.newest)
    #expect(order.text("paymentOrder", "status") == "Paid")
    #expect(order.at("paymentOrder", "paid", "amount") == 1000)
    let attempt = try #require(Self.wait(rig.attempts, 1).first)
    #expect(attempt.isAccepted)
    #expect(!attempt.isRetried)
  }

  @Test func `A callback is sent until it is accepted`() throws {
    let rig = try Rig(callbackScale: 0.0001)
    rig.receiver.state.update { $0.statuses = [500, 302, 404] }
    let id = try rig.create()
    #expect(rig.swedbank.perform(.pay, on: id))
    #expect(try rig.receiver.bodies(4).count == 4)
    let attempts = Self.wait(rig.attempts, 4)
    #expect(attempts.map(\.status) == [500, 302, 404, 200])
    #expect(attempts.map(\.isRetried) == [true, true, true, false])
    #expect(attempts.map(\.number) == [1, 2, 3, 4])
  }

  @Test func `A callback that nobody accepts is given up after the seventh attempt`() throws {
    let rig = try Rig(callbackScale: 0)
    rig.receiver.state.update { $0.statuses = Array(repeating: 503, count: 20) }
    let id = try rig.create()
    #expect(rig.swedbank.perform(.cancel, on: id))
    let attempts = Self.wait(rig.attempts, 7)
    #expect(attempts.map(\.isRetried) == Array(repeating: true, count: 6) + [false])
    #expect(rig.swedbank.perform(.pay, on: id) == false)
    #expect(rig.swedbank.repeatCallback(of: id))
    #expect(Self.wait(rig.attempts, 14).dropFirst(7).first?.number == 1)
  }

  @Test func `A user plays the payer on the order's page`() throws {
    let rig = try Rig()
    let answer = try #require(try rig.post().json)
    let view = try #require(answer.path(of: "view-checkout", at: rig.swedbank.base))
    let page = try rig.caller.send(.get, view)
    #expect(page.header("Content-Type") == "text/html; charset=utf-8")
    let text = String(decoding: page.body, as: UTF8.self)
    let path = String(view.prefix { $0 != "?" })
    #expect(text.contains("action=\"\(path)/pay\""))
    #expect(!text.contains("\(path)/reverse"))
    let form = try rig.caller.send(.post, "\(path)/pay", type: "application/x-www-form-urlencoded")
    #expect(form.status == 303)
    #expect(form.header("Location") == path)
    let script = try rig.caller.send(.post, "\(path)/reverse")
    #expect(script.status == 200)
    #expect(script.json?["status"] == "Reversed")
    #expect(try rig.caller.send(.post, "\(path)/pay").status == 409)
    #expect(try rig.caller.send(.post, "\(path)/win").status == 404)
    #expect(try rig.receiver.bodies(2).count == 2)
  }

  @Test func `The ledger lists every order`() throws {
    let rig = try Rig()
    let ids = [try rig.create(), try rig.create()]
    rig.swedbank.perform(.authorize, on: ids[1])
    rig.swedbank.perform(.capture, on: ids[1])
    _ = try rig.caller.get(ids[1])
    let ledger = try rig.caller.get("/ledger")
    #expect(ledger == (try JSONValue(parsing: rig.swedbank.ledger.serialized())))
    #expect(ledger.at("orders", "0", "status") == "Initialized")
    #expect(ledger.at("orders", "1", "id") == .string(ids[1]))
    #expect(ledger.at("orders", "1", "captured") == 1000)
    #expect(ledger.at("orders", "1", "reads") == 1)
    #expect(ledger.at("orders", "1", "callbacks") == 2)
    #expect(ledger.at("orders", "2") == nil)
  }

  // MARK: Faults

  @Test func `An error has the given status, without an effect or with one`() throws {
    let rig = try Rig(faults: SandboxFaults(.error, status: 503))
    let before = try rig.post()
    #expect(before.status == 503)
    #expect(before.header("Content-Type") == "application/problem+json")
    #expect(before.json?["status"] == 503)
    #expect(rig.swedbank.orders.isEmpty)
    rig.swedbank.faults = SandboxFaults(.errorAfter)
    #expect(try rig.post().status == 500)
    #expect(rig.swedbank.orders.count == 1)
  }

  @Test func `A cut connection, a broken answer and silence come after the effect`() throws {
    let rig = try Rig(faults: SandboxFaults(.cut))
    let cut = try rig.post()
    #expect(cut.status == nil)
    #expect(cut.failure == .connectionLost)
    rig.swedbank.faults = SandboxFaults(.truncated)
    let truncated = try rig.post()
    #expect(truncated.status == 201)
    #expect(truncated.bodyTruncated)
    #expect(truncated.failure == .connectionLost)
    rig.swedbank.faults = SandboxFaults(.silent)
    #expect(try rig.post(timeout: .milliseconds(200)).failure == .timeout)
    #expect(rig.swedbank.orders.count == 3)
    #expect(rig.exchanges.withLock { $0.map(\.status) } == [nil, nil, nil])
    #expect(rig.exchanges.withLock { $0.map(\.fault) } == [.cut, .truncated, .silent])
  }

  @Test func `Other answers than JSON: half of it, a page, a redirect`() throws {
    let rig = try Rig(faults: SandboxFaults(.malformed))
    let half = try rig.post()
    #expect(half.status == 201)
    #expect(half.failure == nil)
    #expect(half.json == nil)
    rig.swedbank.faults = SandboxFaults(.page)
    let page = try rig.post()
    #expect(page.status == 200)
    #expect(page.header("Content-Type") == "text/html; charset=utf-8")
    rig.swedbank.faults = SandboxFaults(.redirect)
    let redirect = try rig.post()
    #expect(redirect.status == 302)
    #expect(redirect.header("Location")?.hasPrefix("https://") == true)
    #expect(rig.swedbank.orders.count == 1)
  }

  @Test func `A lie is about another order`() throws {
    let rig = try Rig()
    let (one, two) = (try rig.create(), try rig.create())
    rig.swedbank.faults = SandboxFaults(.lie, operations: ["get"])
    #expect(try rig.caller.get(one).text("paymentOrder", "id") == two)
    #expect(try rig.caller.get(two).text("paymentOrder", "id") == one)
    let third = try rig.create()
    #expect(rig.swedbank.orders.last?.id == third, "only reads lie")
  }

  @Test func `Faults may concern some operations, and a number of requests`() throws {
    let rig = try Rig(faults: SandboxFaults(.error, remaining: 2, operations: ["create"]))
    #expect(try rig.post().status == 500)
    #expect(try rig.caller.send(.get, "/psp/paymentorders/1").status == 404)
    #expect(rig.swedbank.faults.remaining == 1)
    #expect(try rig.post().status == 500)
    #expect(try rig.post().status == 201)
    #expect(rig.swedbank.faults.remaining == 0)
  }

  @Test func `The same seed fails the same requests`() throws {
    func statuses() throws -> [Int?] {
      let rig = try Rig(faults: SandboxFaults(.error, rate: 0.5))
      return try (0..<20).map { _ in try rig.post().status }
    }
    let first = try statuses()
    #expect(Set(first) == [201, 500])
    #expect(try statuses() == first)
  }

  @Test func `A delay concerns its operations only, and pages never fail`() throws {
    let rig = try Rig(faults: SandboxFaults(operations: ["get"], delay: .milliseconds(300)))
    let id = try rig.create()
    #expect(try rig.caller.send(.get, id).duration >= .milliseconds(290))
    rig.swedbank.faults = SandboxFaults(.cut)
    #expect(try rig.caller.send(.get, "/ledger").status == 200)
  }

  @Test func `Stopping ends silent requests`() throws {
    let rig = try Rig(faults: SandboxFaults(.silent))
    let (exchanges, swedbank) = (rig.exchanges, rig.swedbank)
    let stopper = try WorkerThread(name: "stopping") {
      let _: Bool? = exchanges.wait(until: .now().advanced(by: .seconds(300))) { $0.isEmpty ? nil : true }
      swedbank.stop()
    }
    #expect(try rig.post().status == nil)
    stopper.join()
  }

  private static func wait<Element>(_ list: Monitor<[Element]>, _ count: Int) -> [Element] {
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    return list.wait(until: deadline) { $0.count >= count ? $0 : nil } ?? []
  }
}
