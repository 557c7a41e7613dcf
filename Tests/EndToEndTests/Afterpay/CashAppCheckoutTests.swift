// Payments with Afterpay and Cash App Pay through a real relay, up to the capture: checkouts, states, and
// what Afterpay's failures become.

import Domain
import Formats
import Glibc
import Sandbox
import TestSupport
import Testing

@Suite(.withDaemonLog) struct CashAppCheckoutTests {
  private static let clientAmounts: JSONValue = ["amounts": "client"]

  @Test("CA01: The limits and the region are Afterpay's, and are fetched once")
  func configuration() throws {
    try AfterpayRelay.run(account: SandboxAfterpaySettings(cacheSeconds: 3600)) { shop in
      for _ in 1...3 {
        let reply = try shop.request("GET", "configuration", user: nil)
        #expect(reply.status == 200)
        #expect(reply.header("Content-Type") == "application/json")
        #expect(reply.json?["minimumAmount"]?["amount"] == "1.00")
        #expect(reply.json?["maximumAmount"]?["amount"] == "2000.00")
        #expect(reply.json?["maximumAmount"]?["currency"] == "USD")
        #expect(reply.json?["locale"]?["identifier"] == "en_US")
        #expect(reply.json?["locale"]?["language"] == "en")
        #expect(reply.json?["locale"]?["country"] == "US")
      }
      // The stand-in refuses requests without the merchant's credentials, and without a User-Agent.
      #expect(shop.sent == ["GET /v2/configuration"])
    }
  }

  @Test("CA02, CA03: A checkout names amount, customer and URLs, and its payment is known from then on")
  func checkout() throws {
    try AfterpayRelay.run(Self.clientAmounts) { shop in
      let amount: JSONValue = ["email": "jane@example.com", "amount": "50.00", "isCashAppPay": true]
      let reply = try shop.request("POST", "checkout", amount)
      #expect(reply.status == 200)
      let created = try #require(shop.afterpay.checkouts.first)
      #expect(reply["token"] == created.token)
      #expect(reply["url"] == "\(shop.afterpay.base)/checkout/\(created.token)")
      #expect(created.amount == SandboxAfterpayAmount(cents: 5000, currency: "USD"))
      #expect(created.email == "jane@example.com")
      #expect(created.isCashAppPay)
      #expect(created.confirmURL == "https://shop.example.com/paid")
      #expect(created.cancelURL == "shop://cancelled")
      let state = try shop.request("GET", "checkouts/\(created.token)")
      #expect(state["state"] == "started")
      #expect(state["amount"] == "50.00")
      #expect(state["currency"] == "USD")
      let price: JSONValue = ["email": "jane@example.com", "price": "gold"]
      #expect(try shop.request("POST", "checkout", price).status == 200)
      #expect(shop.afterpay.checkouts.last?.isCashAppPay == false)
      #expect(shop.afterpay.checkouts.last?.amount.cents == 5999)
      #expect(shop.sent == ["POST /v2/checkouts", "POST /v2/checkouts"])
      #expect(try shop.relay.receipts().isEmpty, "nothing is paid yet")
    }
  }

  @Test("A payment's state outlasts a kill of the relay right after the answer")
  func restart() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.start()
      try shop.relay.stop(SIGKILL)
      try shop.relay.start()
      #expect(try shop.state(of: token) == "started")
    }
  }

  @Test("CA08: Refused credentials are the operator's fault: 502, an error in the log, a count")
  func credentials() throws {
    try AfterpayRelay.run { shop in
      shop.afterpay.settings.secret = "another"
      for (method, path) in [("GET", "configuration"), ("POST", "checkout")] {
        let body: JSONValue? = method == "GET" ? nil : ["email": "jane@example.com", "price": "gold"]
        let reply = try shop.request(method, path, body)
        #expect(reply.status == 502)
        #expect(reply["type"] == "urn:receiptd:problem:processor-credentials")
        #expect(!reply.text.contains(AfterpayRelay.secret))
      }
      let sample = #"receiptd_backend_troubles_total{app="shop",processor="afterpay",reason="credentials"}"#
      #expect(try shop.relay.metric(sample) == 2)
      try waitUntil("it is logged as an error") { shop.relay.log.contains(" error ") }
    }
  }

  @Test("CA09: A failing Afterpay becomes a problem, in time and without an address")
  func failures() throws {
    try AfterpayRelay.run(["timeout": "1s"]) { shop in
      func start(_ fault: SandboxFault?, status: Int = 500) throws -> String {
        shop.afterpay.faults = SandboxFaults(fault, status: status)
        let reply = try shop.request("POST", "checkout", ["email": "jane@example.com", "price": "gold"])
        #expect(!reply.text.contains("127.0.0.1"), "\(reply.text)")
        let slug = reply["type"].map { String($0.split(separator: ":").last ?? "") } ?? "none"
        return "\(slug) \(reply.status)"
      }
      #expect(try start(.error) == "processor-failed 502")
      #expect(try start(.error, status: 429) == "processor-failed 502")
      #expect(try start(.error, status: 422) == "payment-refused 422")
      #expect(try start(.page) == "processor-unreadable 502")
      #expect(try start(.malformed) == "processor-unreadable 502")
      #expect(try start(.redirect) == "processor-unreadable 502")
      #expect(try start(.cut) == "processor-unreachable 502")
      #expect(try start(.silent) == "processor-timeout 504")
      // The time-out is 1 s. Without it, the call would take 20 s.
      #expect(try shop.relay.slowCalls("afterpay", over: "10") == 0)
      #expect(try shop.relay.slowCalls("afterpay", over: "0.5") >= 1)
      shop.afterpay.faults = SandboxFaults()
      _ = try shop.start()
      shop.afterpay.stop()
      #expect(try start(nil) == "processor-unreachable 502")
      #expect(try shop.relay.receipts().isEmpty)
    }
  }

  @Test("CA10: An answer in three chunks is read")
  func chunks() throws {
    let answer = #"{"token":"005.chunked","redirectCheckoutUrl":"https://portal.example/?token=005.chunked"}"#
    let server = try ScriptedServer { connection in
      while connection.readRequest() != nil {
        connection.send(
          "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        var rest = answer[...]
        for length in [1, 30, answer.utf8.count] {
          let part = rest.prefix(length)
          rest = rest.dropFirst(length)
          connection.send("\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n")
        }
        connection.send("0\r\n\r\n")
      }
    }
    defer { server.stop() }
    try AfterpayRelay.run(["api_base": .string("http://127.0.0.1:\(server.port)")]) { shop in
      let token = try shop.start()
      #expect(token == "005.chunked")
    }
  }
}
