// The simulated Afterpay over real connections: the customer's page, the ledger, and faults.

import Formats
import HTTPClient
import Platform
import Sandbox
import Testing

@Suite("The simulated Afterpay") struct SandboxAfterpayTests {
  private final class Rig {
    let afterpay: SandboxAfterpay
    let caller: SandboxCaller

    init(
      _ settings: SandboxAfterpaySettings = SandboxAfterpaySettings(), faults: SandboxFaults = SandboxFaults()
    ) throws {
      afterpay = try SandboxAfterpay(settings: settings, faults: faults)
      caller = try SandboxCaller(
        afterpay.base,
        [
          ("Authorization", SandboxAfterpayAccountTests.credentials), ("User-Agent", "relay/1"),
          ("Accept", "application/json"),
        ])
    }

    deinit { afterpay.stop() }

    /// - Returns: the answer to a new checkout.
    func create() throws -> JSONValue {
      let answer = try caller.send(.post, "/v2/checkouts", SandboxAfterpayAccountTests.checkout())
      try #require(answer.status == 201)
      return try #require(answer.json)
    }

    /// - Returns: the token of a confirmed checkout.
    func confirmed() throws -> String {
      let token = try #require(try create()["token"]?.stringValue)
      #expect(afterpay.perform(.confirm, on: token))
      return token
    }

    func capture(_ token: String, timeout: Duration = .seconds(300)) throws -> TransferResult {
      let body: JSONValue = ["token": .string(token), "merchantReference": "m-1"]
      return try caller.send(.post, "/v2/payments/capture", body, timeout: timeout)
    }

    var charges: [Int] { afterpay.checkouts.map(\.charges) }
  }

  @Test func `The configuration may be cached`() throws {
    let rig = try Rig()
    let answer = try rig.caller.send(.get, "/v2/configuration")
    #expect(answer.status == 200)
    #expect(answer.header("Cache-Control") == "private, max-age=60")
  }

  @Test func `A customer confirms on the page, and comes back to the shop`() throws {
    let rig = try Rig()
    let checkout = try rig.create()
    let url = try #require(checkout["redirectCheckoutUrl"]?.stringValue)
    let token = try #require(checkout["token"]?.stringValue)
    let page = String(decoding: try rig.caller.send(.get, url).body, as: UTF8.self)
    #expect(page.contains("action=\"/checkout/\(token)/confirm\""))
    #expect(try rig.capture(token).status == 412)
    let form = try rig.caller.send(.post, "\(url)/confirm", type: "application/x-www-form-urlencoded")
    #expect(form.status == 303)
    #expect(
      form.header("Location") == "https://shop.example/confirm?a=1&status=SUCCESS&orderToken=\(token)")
    #expect(try rig.caller.send(.post, "\(url)/cancel").status == 409)
    #expect(try rig.capture(token).status == 201)
    let other = try #require(try rig.create()["redirectCheckoutUrl"]?.stringValue)
    let cancelled = try rig.caller.send(.post, "\(other)/cancel")
    #expect(cancelled.json?["state"] == "cancelled")
  }

  @Test func `The ledger counts requests and charges`() throws {
    let rig = try Rig()
    let token = try rig.confirmed()
    _ = try rig.capture(token)
    _ = try rig.capture(token)
    let ledger = try rig.caller.get("/ledger")
    #expect(ledger == (try JSONValue(parsing: rig.afterpay.ledger.serialized())))
    #expect(ledger["captureRequests"] == 2)
    #expect(ledger["charges"] == 1)
    #expect(ledger.at("checkouts", "0", "token") == .string(token))
    #expect(ledger.at("checkouts", "0", "status") == "APPROVED")
    #expect(ledger.at("checkouts", "0", "merchantReference") == "m-1")
  }

  @Test func `The connection can be cut after the charge, and the state looked up`() throws {
    let rig = try Rig(faults: SandboxFaults(.cut, remaining: 1, operations: ["capture"]))
    let token = try rig.confirmed()
    let cut = try rig.capture(token)
    #expect(cut.status == nil)
    #expect(cut.requestWasSent)
    #expect(rig.charges == [1])
    let lookup = try rig.caller.get("/v2/payments/token:\(token)")
    #expect(lookup["status"] == "APPROVED")
    #expect(try rig.capture(token).status == 201)
    #expect(rig.charges == [1])
    #expect(rig.afterpay.ledger["captureRequests"] == 2)
  }

  @Test func `Errors come before or after the charge`() throws {
    let rig = try Rig(faults: SandboxFaults(.error, status: 502, operations: ["capture"]))
    let token = try rig.confirmed()
    let before = try rig.capture(token)
    #expect(before.status == 502)
    #expect(before.json?["errorCode"] == "error")
    #expect(rig.charges == [0])
    #expect(try rig.caller.send(.get, "/v2/payments/token:\(token)").status == 404)
    rig.afterpay.faults = SandboxFaults(.errorAfter, status: 503, operations: ["capture"])
    #expect(try rig.capture(token).status == 503)
    #expect(rig.charges == [1])
    #expect(try rig.caller.send(.get, "/v2/payments/token:\(token)").status == 200)
  }

  @Test func `A lost capture is not answered, and does not charge`() throws {
    let rig = try Rig(faults: SandboxFaults(.lost, remaining: 1, operations: ["capture"]))
    let token = try rig.confirmed()
    #expect(try rig.capture(token, timeout: .milliseconds(200)).failure == .timeout)
    #expect(rig.charges == [0])
    #expect(try rig.caller.send(.get, "/v2/payments/token:\(token)").status == 404)
    #expect(try rig.capture(token).status == 201)
    #expect(rig.charges == [1])
  }

  @Test func `An answer can come after the client's time-out; the charge is made at once`() throws {
    let rig = try Rig(faults: SandboxFaults(operations: ["capture"], delay: .hours(1)))
    let token = try rig.confirmed()
    #expect(try rig.capture(token, timeout: .milliseconds(200)).failure == .timeout)
    #expect(rig.charges == [1])
  }

  @Test func `A lie names another token`() throws {
    let rig = try Rig()
    let (one, two) = (try rig.confirmed(), try rig.confirmed())
    rig.afterpay.faults = SandboxFaults(.lie, operations: ["capture"])
    let answer = try rig.capture(one)
    #expect(answer.json?["token"] == .string(two))
    #expect(rig.charges == [1, 0])
  }

  @Test func `The credentials and the decisions can be changed while it runs`() throws {
    let rig = try Rig(SandboxAfterpaySettings(merchantID: "merchant", secret: "s3cret:x"))
    let token = try rig.confirmed()
    rig.afterpay.settings.decision = .decline
    #expect(try rig.capture(token).status == 402)
    rig.afterpay.settings.secret = "rotated"
    #expect(try rig.capture(token).status == 401)
  }
}
