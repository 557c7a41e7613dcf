// Payments with Swedbank Pay: what its SDK needs, an order of the app's own, and its outcome.

import CheckoutKit
import Foundation
import HTTPServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct SwedbankPaymentTests {
  private static func payment(
    _ transport: any Transport = ScriptedTransport(), userID: String? = "jdo-1",
    contextID: String? = Example.id, credential: RelayClient.Credential = .clientKey("key-1"),
    relay: String = "https://pay.example.com"
  ) throws -> SwedbankPayment {
    SwedbankPayment(
      relay: try Example.client(transport, credential: credential, relay: relay), userID: userID,
      contextID: contextID)
  }

  private static func order(_ payment: SwedbankPayment) throws -> SwedbankOrder {
    SwedbankOrder(
      currency: "SEK", amount: 1000, vatAmount: 200, description: "Order 1", language: "en-US",
      urls: try payment.urls(scheme: "exampleapp", language: "en-US", id: "A1"))
  }

  // MARK: For the SDK

  @Test(
    "The SDK's address ends in a slash, so that its relative addresses are the relay's",
    arguments: ["https://pay.example.com", "https://pay.example.com/", "https://x.example/base//"])
  func hasBackendURL(_ relay: String) throws {
    let backend = try Self.payment(relay: relay).backendURL
    let base = relay.hasPrefix("https://x") ? "https://x.example/base" : "https://pay.example.com"
    #expect(backend.absoluteString == "\(base)/v1/ios/swedbank/")
    for path in ["complete", "cancel", "patch", "sdk-callback/ios-universal-link?scheme=a"] {
      let resolved = URL(string: path, relativeTo: backend)?.absoluteString
      #expect(resolved == "\(base)/v1/ios/swedbank/\(path)")
    }
  }

  @Test func `The SDK sends the key or the token, the user and the context`() async throws {
    #expect(
      try await Self.payment().headers() == [
        "X-API-KEY": "key-1", "X-User-Id": "jdo-1", "X-Context-Id": Example.id,
      ])
    #expect(
      try await Self.payment(userID: nil, contextID: nil, credential: .token { "t" }).headers()
        == ["Authorization": "Bearer t"])
    #expect(try await Self.payment(userID: "Jane D.").headers()["X-User-Id"] == "Jane D.")
  }

  @Test(arguments: ["", "a\r\nX-API-KEY: b", "é", " a", "a ", "\u{7F}", String(repeating: "u", count: 256)])
  func `A user or a context that a header cannot carry is refused`(_ text: String) async throws {
    await #expect(throws: RelayError.self) { try await Self.payment(userID: text).headers() }
    await #expect(throws: RelayError.self) { try await Self.payment(contextID: text).headers() }
    let key = try Self.payment(credential: .clientKey(text.isEmpty ? "" : "\(text)\n"))
    let error = await #expect(throws: RelayError.self) { try await key.headers() }
    guard case .encoding = error else { return unexpected(error) }
  }

  @Test(arguments: ["http://pay.example.com", "ftp://x"])
  func `An address that is not the relay's is refused`(_ relay: String) throws {
    let payment = try Self.payment(relay: relay)
    #expect(throws: RelayError.self) { try payment.backendURL }
    #expect(throws: RelayError.self) { try payment.urls(scheme: "exampleapp", language: "en-US") }
  }

  // MARK: The app's own user interface

  @Test("An order leads to the relay's pages, and its payment URL matches when the customer returns")
  func hasURLs() throws {
    let payment = try Self.payment()
    let urls = try payment.urls(scheme: "exampleapp", language: "en-US", id: "A B")
    let root = "https://pay.example.com/v1/ios/swedbank"
    #expect(urls.hostUrls.map(\.absoluteString) == ["\(root)/"])
    #expect(urls.completeUrl.absoluteString == "\(root)/complete")
    #expect(urls.cancelUrl.absoluteString == "\(root)/cancel")
    let paymentURL = try #require(urls.paymentUrl)
    let query = "scheme=exampleapp&language=en-US&id=A%20B"
    #expect(paymentURL.absoluteString == "\(root)/sdk-callback/ios-universal-link?\(query)")
    let match = PaymentURL(paymentURL, callbackScheme: "exampleapp")
    let back = "exampleapp://pay.example.com/v1/ios/swedbank/sdk-callback/ios-universal-link?\(query)"
    #expect(match.isMatch(try url("\(back)&fallback=true")))
    let other = try payment.urls(scheme: "exampleapp", language: "en-US")
    #expect(!match.isMatch(try #require(other.paymentUrl)))
    for (scheme, language, id) in [("a b", "en", "1"), ("", "en", "1"), ("a", "", "1"), ("a", "en", "")] {
      #expect(throws: RelayError.self) { try payment.urls(scheme: scheme, language: language, id: id) }
    }
  }

  @Test func `A payment order has the fields that the API requires`() throws {
    let order = try Self.order(Self.payment())
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(order))
    let object = try #require(json as? [String: Any])
    #expect(object["operation"] as? String == "Purchase")
    #expect(object["productName"] as? String == "Checkout3")
    #expect(object["currency"] as? String == "SEK")
    #expect(object["amount"] as? Int == 1000)
    #expect(object["vatAmount"] as? Int == 200)
    #expect(object["description"] as? String == "Order 1")
    #expect(object["userAgent"] as? String == "CheckoutKit")
    #expect(object["language"] as? String == "en-US")
    #expect(object["payeeInfo"] as? [String: String] == ["payeeId": "", "payeeReference": ""])
    let urls = try #require(object["urls"] as? [String: Any])
    let hosts = ["https://pay.example.com/v1/ios/swedbank/"]
    #expect(urls["hostUrls"] as? [String] == hosts)
    #expect(Set(urls.keys) == ["hostUrls", "completeUrl", "cancelUrl", "paymentUrl"])
    #expect(object.count == 10)
  }

  @Test(arguments: ["paymentOrder", "paymentorder"])
  func `An order is started at the relay, over a socket`(_ name: String) async throws {
    try await StandIn.run { _ in
      Response(201, json: PaymentExample.order(name))
    } _: { standIn, port in
      let payment = try Self.payment(
        URLSessionTransport(), userID: "a/b é", relay: "http://127.0.0.1:\(port)")
      let sent = try Self.order(payment)
      let started = try await payment.start(sent)
      #expect(started.orderID == PaymentExample.orderID)
      #expect(started.operations.map(\.rel) == ["abort", "redirect-checkout", "view-checkout"])
      #expect(started.pageURL?.absoluteString == PaymentExample.redirect)
      #expect(started.scriptURL?.absoluteString == PaymentExample.script)
      #expect(started.url(of: "capture") == nil)
      #expect(started.body == Data(PaymentExample.order(name).utf8))
      let request = try #require(standIn.requests.withLock(\.self).first)
      #expect(request.head.method == "POST")
      #expect(request.head.path == "/v1/ios/users/a%2Fb%20%C3%A9/swedbank/paymentorders")
      #expect(request.head.header("X-API-KEY") == "key-1")
      #expect(request.head.header("X-Context-Id") == Example.id)
      #expect(request.head.header("X-User-Id") == nil)
      #expect(request.head.header("Content-Type") == "application/json; charset=utf-8")
      struct Body: Decodable {
        struct Order: Decodable { let amount: Int }
        let paymentorder: Order
      }
      #expect(try JSONDecoder().decode(Body.self, from: Data(request.body)).paymentorder.amount == 1000)
    }
  }

  @Test func `An app's own type can be the order; a user of a token needs no id`() async throws {
    let transport = ScriptedTransport(.answer(201, PaymentExample.order()))
    let payment = try Self.payment(transport, userID: nil, contextID: nil, credential: .token { "t" })
    _ = try await payment.start(["operation": "Verify"])
    let request = try #require(transport.sent.first)
    #expect(request.url?.absoluteString == "https://pay.example.com/v1/ios/swedbank/paymentorders")
    #expect(request.value(forHTTPHeaderField: "X-Context-Id") == nil)
    #expect(request.httpBody == Data(#"{"paymentorder":{"operation":"Verify"}}"#.utf8))
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"paymentOrder":{}}"#, #"{"paymentOrder":{"id":7}}"#, #"{"paymentOrder":{"id":""}}"#,
  ])
  func `An answer that is not an order is unexpected`(_ body: String) async throws {
    let payment = try Self.payment(ScriptedTransport(.answer(201, body)))
    await #expect(throws: RelayError.unexpectedAnswer(status: 201, body: OperatorText(body))) {
      try await payment.start(Self.order(payment))
    }
  }

  @Test(arguments: ["javascript:alert(1)", "otherapp://x", "/relative", ""])
  func `An operation that opens another app or runs script is left out`(_ href: String) async throws {
    let payment = try Self.payment(ScriptedTransport(.answer(201, PaymentExample.order(href: href))))
    let started = try await payment.start(Self.order(payment))
    #expect(started.operations.map(\.rel) == ["abort", "view-checkout"])
    #expect(started.pageURL == nil)
  }

  @Test func `Swedbank Pay's problem is passed on, and is not repeated`() async throws {
    let type = "https://api.payex.com/psp/errordetail/inputerror"
    let transport = ScriptedTransport(
      .answer(400, #"{"type":"\#(type)","status":400}"#, headers: PaymentExample.problemHeaders))
    let payment = try Self.payment(transport)
    let error = await #expect(throws: RelayError.self) { try await payment.start(Self.order(payment)) }
    guard case .http(let failure) = error else { return unexpected(error) }
    #expect(failure.problem?.type == type)
    #expect(transport.sent.count == 1)
  }

  // MARK: The outcome

  @Test func `The outcome is the status of the context, without a key`() async throws {
    let transport = ScriptedTransport(
      .answer(200, Example.status("open")), .answer(200, Example.status("paid", paid: true)),
      .answer(200, Example.status("open")), .answer(200, Example.status("delivered", paid: true)),
      .answer(200, Example.status("delivered", paid: true)))
    let payment = try Self.payment(transport)
    #expect(try await payment.status().progress == .pending)
    #expect(try await payment.status().progress == .processing)
    var states: [CheckoutStatus.State] = []
    for try await status in try payment.updates() { states.append(status.state) }
    #expect(states == [.open, .delivered])
    #expect(try await payment.finalStatus(within: 5).progress == .processed)
    for request in transport.sent {
      #expect(request.url?.path == "/v1/ios/contexts/\(Example.id)")
      #expect(request.value(forHTTPHeaderField: "X-API-KEY") == nil)
    }
  }

  @Test func `Without a context there is no status`() async throws {
    let transport = ScriptedTransport()
    let payment = try Self.payment(transport, contextID: nil)
    await #expect(throws: RelayError.self) { try await payment.status() }
    await #expect(throws: RelayError.self) { try await payment.finalStatus() }
    #expect(throws: RelayError.self) { try payment.updates() }
    #expect(transport.sent.isEmpty)
  }
}
