// Afterpay's checkouts over real sockets, also those that break.

import CheckoutKit
import Foundation
import HTTPServer
import TestSupport
import Testing

@Suite struct AppCheckoutSocketTests {
  private static let token = PaymentExample.token

  @Test func `Over a socket: the answer to a capture is lost, and the state decides`() async throws {
    let requests = Guarded<[String]>([])
    let server = try ScriptedServer { connection in
      guard let request = connection.readRequest() else { return }
      let line = String(request.prefix { $0 != "\r\n" })
      requests.withLock { $0.append(line) }
      if line.hasPrefix("POST") {
        // Some of the head, and then nothing more.
        connection.send("HTTP/1.1 201 Cre")
        connection.reset()
      } else {
        connection.answer("200 OK", PaymentExample.state("captured"))
      }
    }
    defer { server.stop() }
    let afterpay = try PaymentExample.afterpay(LocalTransport(server.port), clock: SystemClock())
    let outcome = await afterpay.capture(Self.token, grantID: PaymentExample.grant)
    #expect(outcome == .captured(AfterpayStatus(token: Self.token, state: .captured)))
    let lines = requests.withLock(\.self)
    #expect(lines.last == "GET /v1/ios/users/jdo-1/afterpay/checkouts/\(Self.token) HTTP/1.1")
    // curl may repeat a request whose connection was reset before any answer, but not this one.
    #expect(lines.filter { $0.hasPrefix("POST") }.count == 1)
  }

  @Test("Over a socket: start, capture and state have their paths, and a problem has its meaning")
  func talks() async throws {
    try await StandIn.run { request in
      switch (request.head.method, request.head.path) {
      case ("POST", "/v1/ios/users/jdo-1/afterpay/checkout"): Response(201, json: PaymentExample.started)
      case ("POST", "/v1/ios/users/jdo-1/afterpay/capture"): Response(402, json: PaymentExample.declined)
      default:
        Response(
          status: 404, type: "application/problem+json; charset=utf-8",
          body: Array(PaymentExample.problem("unknown-payment", 404).utf8))
      }
    } _: { standIn, port in
      let relay = "http://127.0.0.1:\(port)"
      let afterpay = try PaymentExample.afterpay(URLSessionTransport(), relay: relay)
      let started = try await afterpay.start(price: "gold", email: "user@example.com", isCashAppPay: true)
      let outcome = await afterpay.capture(started.token, grantID: PaymentExample.grant)
      guard case .notCharged(let status, let because) = outcome else { return unexpected(nil) }
      #expect(status.state == .declined)
      #expect(because?.status == 402)
      let error = await #expect(throws: RelayError.self) { try await afterpay.status(of: "005.other") }
      #expect(error?.isUnknownCheckout == true)
      #expect(standIn.requests.withLock(\.count) == 3)
    }
  }
}
