// Receivers of notices behind real sockets: what they get, and how their answers are understood.

import Domain
import Formats
import HTTPClient
import Platform
import Store
import TestSupport
import Testing

@testable import Config
@testable import Upkeep

@Suite("Receivers of alerts") struct AlertReceiverTests {
  /// Sends a test notice to a server that answers like this.
  private static func send(
    _ form: Configuration.Alert.Form, answer: @escaping @Sendable (ScriptedConnection) -> Void
  ) throws -> (request: String?, attempt: AlertAttempt) {
    let received = Monitor<String?>(nil)
    let server = try ScriptedServer { connection in
      let request = connection.readRequest()
      received.withLock { $0 = request }
      answer(connection)
    }
    defer { server.stop() }
    var alert = Configuration.Alert(to: Secret("http://127.0.0.1:\(server.port)/hook"), on: [.database])
    alert.form = form
    alert.routingKey = form == .pagerduty ? Secret(String(repeating: "k", count: 32)) : nil
    if form == .webhook { alert.secrets = [Secret("whsec_" + String(repeating: "A", count: 43) + "=")] }
    let message = try AlertTarget(alert, label: "alerts[0]").message(
      AlertNotice(testAt: 1_795_168_803_120), sentAt: 1_795_168_803_120, host: "relay-1", userAgent: "test/1")
    guard case .request(let request) = message else { throw NoRequest() }
    let pool = try TransferPool(connectionsMax: 1)
    try pool.start(request, tag: 1)
    while true {
      guard let result = pool.run(timeout: .seconds(60)).first?.result else { continue }
      return (received.withLock { $0 }, AlertAttempt(result, now: Timestamp(unixMilliseconds: 0)))
    }
  }

  private struct NoRequest: Error {}

  /// The body of a request.
  private static func body(_ request: String?) throws -> JSONValue {
    let text = try #require(request)
    let start = try #require(text.firstRange(of: "\r\n\r\n")).upperBound
    return try JSONValue(parsing: Array(text[start...].utf8))
  }

  @Test func `Each receiver gets its form, and its own way to accept is understood`() throws {
    let slack = try Self.send(.slack) { $0.answer("200 OK", "ok") }
    #expect(slack.attempt == AlertAttempt(isAccepted: true, text: "200"))
    #expect(slack.request?.hasPrefix("POST /hook HTTP/1.1\r\n") == true)
    #expect(slack.request?.lowercased().contains("content-type: application/json\r\n") == true)
    #expect(try Self.body(slack.request)["blocks"]?[0]?["text"]?["text"] == "TEST: test")
    let pagerDuty = try Self.send(.pagerduty) {
      $0.answer("202 Accepted", #"{"status":"success","message":"Event processed","dedup_key":"x"}"#)
    }
    #expect(pagerDuty.attempt == AlertAttempt(isAccepted: true, text: "202"))
    #expect(try Self.body(pagerDuty.request)["event_action"] == "trigger")
    let webhook = try Self.send(.webhook) { $0.answer("204 No Content", "") }
    #expect(webhook.attempt == AlertAttempt(isAccepted: true, text: "204"))
    #expect(try Self.body(webhook.request)["type"] == "alert.test")
  }

  @Test func `A refusal, a failure and a lost answer are three things`() throws {
    let gone = try Self.send(.slack) { $0.answer("410 Gone", "channel_is_archived") }
    #expect(gone.attempt == AlertAttempt(isAccepted: false, isRefusal: true, text: "410"))
    let invalid = try Self.send(.pagerduty) { $0.answer("400 Bad Request", #"{"status":"invalid event"}"#) }
    #expect(invalid.attempt.isRefusal)
    for status in ["429 Too Many Requests", "500 Internal Server Error", "302 Found"] {
      let attempt = try Self.send(.pagerduty) { $0.answer(status, "") }.attempt
      #expect(attempt == AlertAttempt(isAccepted: false, text: String(status.prefix(3))))
    }
    let lost = try Self.send(.webhook) { $0.close() }
    #expect(!lost.attempt.isAccepted)
    #expect(lost.attempt.mayHaveArrived)
  }

  private static func webhook() -> Configuration.Alert {
    var alert = AlertBench.alert([.breakerOpen])
    alert.form = .webhook
    alert.secrets = [Secret("whsec_" + String(repeating: "A", count: 43) + "=")]
    return alert
  }

  private static func ids(_ bench: AlertBench) -> [String] {
    bench.network.requests.compactMap { request in
      request.headers.first { $0.name == "webhook-id" }?.value
    }
  }

  @Test func `All attempts to send a notice have one id, and each notice has another`() throws {
    let bench = try AlertBench([Self.webhook()])
    bench.network.use { _ in ScriptedTransport.lost }
    try bench.setBreaker(.open)
    try bench.live { run throws in
      try bench.pass(.minutes(2), &run)
      let attempts = Self.ids(bench)
      #expect(attempts.count > 2)
      #expect(Set(attempts).count == 1)
      // The notice arrives, then a repeat, then the end.
      bench.network.use { _ in 204 }
      try bench.pass(.minutes(15), &run)
      try bench.setBreaker(.closed)
      try bench.pass(.minutes(1), &run)
      let rest = Array(Self.ids(bench).dropFirst(attempts.count))
      #expect(rest.count == 3)
      #expect(rest.first == attempts.first)
      #expect(Set(rest).count == 3)
      // The breaker opens again, which no notice has reported.
      bench.clock.advance(.minutes(20))
      try bench.setBreaker(.open)
      try bench.pass(.minutes(1), &run)
      #expect(Set(Self.ids(bench)).count == 4)
    }
  }

  @Test("A trouble that ended before any notice of it arrived has another id when it comes back")
  func unknownTrouble() throws {
    let bench = try AlertBench([Self.webhook()])
    bench.network.use { _ in 500 }
    try bench.setBreaker(.open)
    try bench.live { run throws in
      try bench.pass(.seconds(3), &run)
      try bench.setBreaker(.closed)
      try bench.pass(.minutes(10), &run)
      try bench.setBreaker(.open)
      try bench.pass(.minutes(10), &run)
      #expect(Set(Self.ids(bench)).count == 2)
    }
  }

  @Test(
    "A receiver that asks for patience is left alone for as long, by seconds or a date, and an hour at most",
    arguments: [("120", 120), ("date", 120), ("86400", 3600), ("soon", 5)])
  func retryAfter(value: String, seconds: Int64) throws {
    // Another alert of the address waits, too, and so does the heartbeat at its own.
    let alerts = [AlertBench.alert([.breakerOpen]), AlertBench.alert([.appPaused])]
    let beat = Configuration.Heartbeat(to: Secret("https://beat.example.com/"), every: .seconds(1))
    let bench = try AlertBench(alerts, heartbeat: beat)
    let date = MailMessage.date(bench.bench.now + .seconds(120)).replacing("+0000", with: "GMT")
    let header = TransferHeader("retry-after", value == "date" ? date : value)
    bench.network.use(429, headers: [header])
    try bench.setBreaker(.open)
    _ = try bench.bench.store(PauseApp(app: "shop", for: nil, actor: "ann", reason: nil))
    try bench.live { run throws in
      func requests(_ method: TransferRequest.Method) -> Int {
        bench.network.requests.filter { $0.method == method }.count
      }
      try bench.pass(.seconds(seconds - 2), &run)
      #expect(requests(.post) == 1)
      if seconds > 5 { #expect(requests(.get) <= 1, "the heartbeat, if the committer has answered") }
      try bench.pass(.seconds(3), &run)
      #expect(requests(.post) == 2)
    }
  }

  @Test func `After a notice has arrived the pauses after failures begin again`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    bench.network.use { _ in 500 }
    try bench.setBreaker(.open)
    try bench.live { run throws in
      try bench.pass(.minutes(2), &run)
      bench.network.use { _ in 200 }
      #expect(try bench.pass(.minutes(6), &run).count == 1)
      bench.network.use { _ in 500 }
      #expect(try bench.pass(.minutes(10), &run).count > 2)
    }
  }

  @Test func `A receiver that refuses a notice gets the next attempt after five minutes`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    bench.network.use { _ in 404 }
    try bench.setBreaker(.open)
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(4), &run).count == 1)
      #expect(try bench.pass(.minutes(2), &run).count == 1)
      bench.network.use { _ in 500 }
      #expect(try bench.pass(.seconds(270), &run).count == 1)
    }
  }
}
