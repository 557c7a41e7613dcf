// Posting a context: what is sent, what comes back, and what is retried.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct RelayClientTests {
  @Test func `PL04: a post carries only the context as base64 in JSON, and the key`() async throws {
    let transport = ScriptedTransport(.answer(201, Example.posted()))
    let posted = try await Example.client(transport).post()
    let request = try #require(transport.sent.first)
    #expect(transport.sent.count == 1)
    #expect(request.httpMethod == "POST")
    #expect(request.url?.absoluteString == "https://pay.example.com/v1/ios/users/jdo-1/contexts")
    #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json; charset=utf-8")
    #expect(request.value(forHTTPHeaderField: "X-API-KEY") == "key-1")
    #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
    let body = try JSONDecoder().decode([String: String].self, from: try #require(request.httpBody))
    #expect(try body == ["ply_context": Example.context.plyContext()])

    #expect(posted.contextID == Example.id)
    #expect(posted.userID == "jdo-1")
    #expect(!posted.isRepeat)
    #expect(posted.stripePriceID == Example.price)
    #expect(posted.checkoutURL == nil)
    let statusURL = "https://pay.example.com/v1/ios/contexts/\(Example.id)"
    #expect(posted.statusURL?.absoluteString == statusURL)
    let (received, expires) = try (#require(posted.receivedAt), #require(posted.expiresAt))
    #expect(abs(received.timeIntervalSince1970 - 1_795_168_800.123) < 0.001)
    #expect(abs(expires.timeIntervalSince(received) - 86_400) < 0.001)
  }

  @Test(arguments: try KitTables.relay().users)
  func `Any user is one segment of the path, or is refused`(_ user: KitTables.User) async throws {
    let transport = ScriptedTransport(.answer(201, Example.posted()))
    let client = try Example.client(transport, relay: "https://x.example/base/")
    guard let segment = user.segment else {
      await #expect(throws: RelayError.self) { try await client.post(user.id) }
      #expect(transport.sent.isEmpty)
      return
    }
    try await client.post(user.id)
    let address = "https://x.example/base/v1/ios/users/\(segment)/contexts"
    #expect(transport.sent.first?.url?.absoluteString == address)
  }

  @Test(arguments: [(200, "x"), (204, ""), (299, "{}")])
  func `PL05: 2xx succeeds with or without a body`(_ status: Int, _ body: String) async throws {
    let client = try Example.client(ScriptedTransport(.answer(status, body)))
    let data = try await client.postIgnoringAnswer(Example.context, userID: "jdo-1")
    #expect(data == (body.isEmpty ? nil : Data(body.utf8)))
  }

  @Test(
    "PL05: other answers are errors with their status and text, and are not tried again",
    arguments: [301, 303, 400, 401, 403, 404, 409, 413, 422, 499])
  func fails(_ status: Int) async throws {
    let headers = ["Location": "https://evil.test"]
    let transport = ScriptedTransport(.answer(status, "no: \(status)", headers: headers))
    let client = try Example.client(transport)
    await #expect(throws: RelayError.http(HTTPFailure(status: status, body: "no: \(status)"))) {
      try await client.postIgnoringAnswer(Example.context, userID: "jdo-1")
    }
    #expect(transport.sent.count == 1)
  }

  @Test("A problem document's text and the request's id go to the log and never to a customer")
  func readsProblems() async throws {
    let problem =
      #"{"type":"urn:receiptd:problem:unknown-price","title":"Unknown price","status":422,"#
      + #""detail":"Configure a page.","request_id":"req-1"}"#
    let headers = ["Content-Type": "application/problem+json; charset=utf-8"]
    let client = try Example.client(ScriptedTransport(.answer(422, problem, headers: headers)))
    let error = await #expect(throws: RelayError.self) {
      try await client.checkout(Example.context, userID: "jdo-1")
    }
    guard case .http(let failure) = error else { return unexpected(error) }
    #expect(failure.status == 422)
    #expect(failure.body.forLog == problem)
    #expect(failure.problem?.type == "urn:receiptd:problem:unknown-price")
    #expect(failure.problem?.detail?.forLog == "Configure a page.")
    #expect(failure.problem?.requestID == "req-1")
    #expect(error?.status == 422)
    #expect(error?.advice == .contactSupport)
    #expect(error?.logText.forLog == "The relay answered 422. Configure a page. Request req-1.")
  }

  @Test("A post is retried while the network fails or the relay is busy, with the same bytes")
  func triesAgain() async throws {
    let clock = InstantClock()
    let transport = ScriptedTransport(
      ScriptedTransport.offline, .failure(URLError.Code.timedOut.rawValue), .answer(500), .answer(503),
      .answer(408), .answer(200, Example.posted()))
    let posted = try await Example.client(transport, clock: clock).post()
    #expect(posted.isRepeat)
    #expect(clock.pauses == [0.5, 1, 2, 4, 8])
    #expect(transport.sent.count == 6)
    #expect(Set(transport.sent.map(\.httpBody)).count == 1)
  }

  @Test func `Retry-After makes a pause longer, never shorter: seconds, or a date`() async throws {
    let clock = InstantClock()
    let format = DateFormatter()
    (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "GMT"))
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    // By then the clock is at 7 s.
    let date = format.string(from: clock.date.addingTimeInterval(7 + 9))
    let transport = ScriptedTransport(
      .answer(429, headers: ["Retry-After": "7"]), .answer(503, headers: ["Retry-After": date]),
      .answer(429, headers: ["Retry-After": "0"]), .answer(429, headers: ["Retry-After": "soon"]),
      .answer(201, Example.posted()))
    try await Example.client(transport, clock: clock).post()
    #expect(clock.pauses == [7, 9, 2, 4])
  }

  @Test("Retries end after the maximum attempts or time, or when Retry-After exceeds the time")
  func givesUp() async throws {
    let cases: [(RetryPolicy, [ScriptedTransport.Step], attempts: Int)] = [
      (RetryPolicy(attemptsMax: 3, jitter: 0), [], 3), (.none, [], 1),
      (RetryPolicy(attemptsMax: .max, patience: 20, jitter: 0), [], 6),
      (RetryPolicy(jitter: 0), [.answer(429, headers: ["Retry-After": "3600"])], 1),
      (RetryPolicy(jitter: 0), [.failure(URLError.Code.unsupportedURL.rawValue)], 1),
    ]
    for (retries, steps, tries) in cases {
      let transport = ScriptedTransport(steps)
      let client = try Example.client(transport, retries: retries)
      let error = await #expect(throws: RelayError.self) {
        try await client.post()
      }
      switch error {
      case .network, .http: break
      default: unexpected(error)
      }
      #expect(transport.sent.count == tries)
    }
  }

  @Test func `Jitter keeps pauses within its bounds`() async throws {
    let clock = InstantClock()
    let failures = Array(repeating: ScriptedTransport.Step.answer(500), count: 7)
    let transport = ScriptedTransport(failures + [.answer(201, Example.posted())])
    try await Example.client(transport, retries: RetryPolicy(jitter: 0.2), clock: clock)
      .post()
    for (pause, expected) in zip(clock.pauses, [0.5, 1, 2, 4, 8, 15, 15]) {
      #expect((expected * 0.8...expected * 1.2).contains(pause))
    }
  }

  @Test func `An answer that is not HTTP differs from an HTTP answer with an unusable body`() async throws {
    func error(_ step: ScriptedTransport.Step) async throws -> RelayError? {
      let client = try Example.client(ScriptedTransport(step))
      return await #expect(throws: RelayError.self) { try await client.post() }
    }
    #expect(try await error(.other) == .notHTTP)
    #expect(try await error(.answer(200, "<html>")) == .unexpectedAnswer(status: 200, body: "<html>"))
    #expect(try await error(.answer(204)) == .unexpectedAnswer(status: 204, body: ""))
  }

  @Test func `A cancelled task ends at once, in a request and in a pause`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let transport = ScriptedTransport([.silence]) { _ in began.continuation.yield() }
    let client = try Example.client(transport)
    let sending = Task { try await client.post() }
    for await _ in began.stream { break }
    sending.cancel()
    await #expect(throws: RelayError.cancelled) { try await sending.value }

    let clock = HeldClock()
    let waiting = try Example.client(ScriptedTransport(), clock: clock)
    let pausing = Task { try await waiting.post() }
    #expect(await clock.sleeper() == 0.5)
    pausing.cancel()
    await #expect(throws: RelayError.cancelled) { try await pausing.value }
  }

  @Test func `A request that cannot be sent safely is not sent`() async throws {
    let transport = ScriptedTransport()
    let unusable: [(client: RelayClient, user: String)] = [
      (try Example.client(transport, relay: "http://pay.example.com"), "u"),
      (try Example.client(transport, relay: "http://127.0.0.1.evil.test"), "u"),
      (try Example.client(transport, relay: "https://me:secret@pay.example.com"), "u"),
      (try Example.client(transport, relay: "ftp://pay.example.com"), "u"),
      (try Example.client(transport, app: "../admin"), "u"), (try Example.client(transport, app: "IOS"), "u"),
      (try Example.client(transport, credential: .clientKey("a\r\nX-Other: b")), "u"),
      (try Example.client(transport, credential: .clientKey("")), "u"),
      (try Example.client(transport), String(repeating: "u", count: 256)),
    ]
    for (client, user) in unusable {
      let error = await #expect(throws: RelayError.self) { try await client.post(user) }
      guard case .encoding(let text) = error else { return unexpected(error) }
      #expect(!text.forLog.contains("secret"))
      #expect(!text.forLog.contains("X-Other"))
    }
    #expect(transport.sent.isEmpty)
    for relay in ["http://localhost:8080", "http://127.0.0.1:1", "http://[::1]:8080"] {
      let local = ScriptedTransport(.answer(201, Example.posted()))
      try await Example.client(local, relay: relay).post("u")
      #expect(local.sent.count == 1)
    }
  }

  @Test func `A checkout names its page, which is a web address`() async throws {
    let page = "https://buy.stripe.com/abc?client_reference_id=\(Example.id)"
    let transport = ScriptedTransport(.answer(201, Example.posted(checkout: page)))
    let posted = try await Example.client(transport).checkout(Example.context, userID: "jdo-1")
    #expect(posted.checkoutURL?.absoluteString == page)
    let request = try #require(transport.sent.first)
    #expect(request.url?.path == "/v1/ios/users/jdo-1/checkout")
    #expect(request.value(forHTTPHeaderField: "Accept") == "application/json")
    for body in [
      Example.posted(), Example.posted(checkout: "javascript:alert(1)"), Example.posted(checkout: "/x"),
    ] {
      let client = try Example.client(ScriptedTransport(.answer(201, body)))
      await #expect(throws: RelayError.unexpectedAnswer(status: 201, body: OperatorText(body))) {
        try await client.checkout(Example.context, userID: "jdo-1")
      }
    }
  }
}
