// Tests of the announcer: a webhook learns of a paid purchase without a user, with a link that works.

import Domain
import Formats
import HTTPClient
import Platform
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import HTTPServer
@testable import Service

@Suite("The announcer of purchases without a user") struct ClaimAnnouncerTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private static func app(_ url: String) throws -> AppConfiguration {
    var app = Bench.app(join: JoinPolicy(settle: .zero, waitForContext: .zero))
    app.webhook = AppConfiguration.Webhook(url: url, secrets: [Secret(secret)])
    app.claims.announces = true
    app.links = try ReturnPageBed.links()
    return app
  }

  private static func buy(_ bench: Bench) throws {
    let report = PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_1"), sessionID: "cs_1", observations: .paid,
      customerID: "cus_1", prices: ["price_1"], happenedAt: bench.now)
    try bench.store(
      IngestEvent(
        app: "shop", processor: "stripe", eventID: "evt_1", type: "test", body: Array("{}".utf8),
        content: .report(report, keep: true)))
  }

  private static func announcer(_ bench: Bench) throws -> ClaimAnnouncer {
    let announcer = ClaimAnnouncer(try bench.parts(TransferPool(connectionsMax: 8), bench.clock))
    try announcer.start()
    return announcer
  }

  @Test("The message is signed, names the purchase and its link, and the link's token claims the purchase")
  func announced() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(204) }
    let bench = try Bench([Self.app(destination.url)])
    try Self.buy(bench)
    let announcer = try Self.announcer(bench)
    defer { announcer.stop() }
    let received = try #require(try destination.waitForRequests(1).first)
    let message = try JSONValue(parsing: received.body)
    #expect(message["type"] == "purchase.unclaimed")
    let data = try #require(message["data"])
    #expect(data["object_id"] == "sub_1")
    #expect(data["session_id"] == "cs_1")
    #expect(data["customer_id"] == "cus_1")
    let token = try #require(data["token"]?.stringValue.flatMap(ClaimToken.init))
    #expect(data["claim_url"] == .string("https://pay.example.com/v1/shop/claim/\(token.text)"))
    #expect(received.head.header("webhook-id")?.hasPrefix(ClaimID.prefix) == true)
    #expect(received.head.header("webhook-signature")?.hasPrefix("v1,") == true)
    guard case .claimed = try bench.store(UseClaim(token, app: "shop", userID: "u1")) else {
      Issue.record("the token does not claim the purchase")
      return
    }
    #expect(!bench.logText.contains(token.text))
  }

  @Test("A webhook that fails gets another message later, with a new token; the one before is revoked")
  func retried() throws {
    let destination = try ScriptedDestination { number in
      ScriptedDestination.answer(number == 1 ? 503 : 204)
    }
    var app = try Self.app(destination.url)
    app.delivery.timeout = .milliseconds(500)
    let bench = try Bench([app])
    try Self.buy(bench)
    let announcer = try Self.announcer(bench)
    defer { announcer.stop() }
    let ids = try destination.waitForRequests(2).map { $0.head.header("webhook-id") }
    #expect(Set(ids).count == 2)
    try bench.waitFor { reader in
      let states = try reader.claims(ClaimFilter(), now: bench.now, limit: 10).entries.map(\.state)
      return states == [.offered, .revoked] ? true : nil
    }
  }

  /// The steps of an announcer over a scripted network, with a clock that the test moves.
  private struct Bed {
    let clock = ManualClock()
    let transport = ScriptedTransport()
    let app: AppConfiguration
    let bench: Bench
    let announcer: ClaimAnnouncer

    init(_ schedule: [Duration] = RetryPolicy().schedule) throws {
      var app = try ClaimAnnouncerTests.app("http://127.0.0.1:9/")
      app.delivery.retry.schedule = schedule
      self.app = app
      bench = try Bench([app], clock: clock, isStarted: false)
      try bench.committer.start()
      announcer = ClaimAnnouncer(try bench.parts(transport, clock))
      try ClaimAnnouncerTests.buy(bench)
    }

    /// Makes two attempts, a minute apart, as far as they are due.
    func attempts() throws {
      try announcer.drive { run throws in
        for _ in 1...2 {
          try attempt(&run)
          clock.advance(.minutes(1))
        }
      }
    }

    /// The first step begins the attempt, the second one sends it.
    func attempt(_ run: inout ClaimAnnouncerRun) throws {
      for _ in 1...2 {
        _ = run.step()
        run.handleAnswers(within: .zero)
        try bench.store(Barrier())
      }
    }

    func reload(_ app: AppConfiguration) throws {
      announcer.use(try AppDirectory(Configuration(database: .file(bench.path), apps: [app])))
    }

    func claims() throws -> [ClaimSummary] {
      try bench.reader.claims(ClaimFilter(), now: bench.now, limit: 10).entries
    }
  }

  @Test func `A claim whose message may have arrived can be used, and another one follows`() throws {
    let bed = try Bed()
    bed.transport.use { _ in ScriptedTransport.lost }
    try bed.attempts()
    #expect(bed.transport.requests.count == 2)
    #expect(try bed.claims().map(\.state) == [.offered, .offered])
  }

  @Test func `A webhook that refuses the message for good gets no other one`() throws {
    let bed = try Bed()
    bed.transport.use { _ in 410 }
    try bed.attempts()
    #expect(bed.transport.requests.count == 1)
    #expect(try bed.claims().map(\.state) == [.revoked])
  }

  @Test("After a reload that ends the announcements none is sent, also of those that were planned")
  func switchedOff() throws {
    let bed = try Bed()
    var app = bed.app
    app.claims.announces = false
    try bed.reload(app)
    try bed.attempts()
    #expect(bed.transport.requests.isEmpty)
    #expect(try bed.claims().isEmpty)
  }

  @Test(
    "A reload repeats what failed, also what was under way with the earlier configuration",
    arguments: [410, 503])
  func failedBeforeReload(status: Int) throws {
    let bed = try Bed([.hours(12)])
    bed.transport.use { _ in status }
    try bed.announcer.drive { run throws in
      _ = run.step()
      try bed.bench.store(Barrier())
      _ = run.step()
      #expect(bed.transport.requests.count == 1)
      try bed.reload(bed.app)
      _ = run.step()
      run.handleAnswers(within: .zero)
      try bed.bench.store(Barrier())
      bed.transport.use { _ in 204 }
      try bed.attempt(&run)
    }
    #expect(bed.transport.requests.count == 2)
    #expect(Set(try bed.claims().map(\.state)) == [.offered, .revoked])
  }
}
