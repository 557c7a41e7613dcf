// The notices of each trouble: one when it begins, repeats while it lasts, one when it is over; also across
// restarts and failures of the address.

import Domain
import Formats
import HTTPClient
import Platform
import Reports
import Testing

@testable import Config
@testable import Service
@testable import Store
@testable import Upkeep

@Suite("Alerts") struct AlerterTests {
  @Test func `An open breaker is reported once, again at intervals, and when it closes`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      try bench.setBreaker(.open)
      let began = bench.bench.now
      let first = try bench.pass(.minutes(9), &run)
      let notice = try #require(first.first)
      #expect(first.count == 1)
      #expect(notice.notice == "breaker_open shop firing")
      #expect(notice["since"] == .time(began))
      let text = try #require(notice["text"]?.stringValue)
      #expect(text.hasPrefix("[FIRING] receiptd on "))
      #expect(text.contains("purchasely, a destination of shop, is down (http_503)"))
      #expect(notice["version"] == .string(Version.number))
      #expect(notice["host"] == .string(HostName.current()))
      #expect(try bench.pass(.minutes(2), &run).map(\.notice) == ["breaker_open shop firing"])
      try bench.setBreaker(.closed)
      let over = try bench.pass(.minutes(1), &run)
      #expect(over.map(\.notice) == ["breaker_open shop resolved"])
      #expect(over.first?["since"] == .time(began))
      #expect(over.first?["value"] == .null)
      #expect(try bench.pass(.minutes(30), &run).isEmpty)
      #expect(try bench.bench.reader.alerts().map(\.isFiring) == [false], "the dashboard shows it for a week")
      #expect(try bench.pass(.days(7), &run, step: .hours(1)).isEmpty)
    }
    #expect(try bench.bench.reader.alerts().isEmpty)
  }

  @Test func `An alert that fires repeatedly is reported no more often than a constant one`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.live { run throws in
      var told: [String] = []
      for _ in 0..<30 {
        try bench.setBreaker(.open)
        told += try bench.pass(.seconds(10), &run).map(\.notice)
        try bench.setBreaker(.closed)
        told += try bench.pass(.seconds(10), &run).map(\.notice)
      }
      #expect(told == ["breaker_open shop firing", "breaker_open shop resolved"])
      try bench.setBreaker(.open)
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["breaker_open shop firing"])
    }
  }

  @Test("After a restart no notice is repeated, and ended alerts are reported as resolved (R9)")
  func restart() throws {
    let alerts = [AlertBench.alert([.breakerOpen, .receiptFailed])]
    let bench = try AlertBench(alerts)
    try bench.setBreaker(.paused)
    try bench.fail(1)
    try bench.setBreaker(.paused)
    try bench.live { run throws in
      let told = try bench.pass(.seconds(5), &run)
      #expect(told.map(\.notice) == ["breaker_open shop firing", "receipt_failed shop firing"])
      #expect(told.first?["what_to_do"]?.stringValue?.contains("receiptctl reload") == true)
    }
    try bench.live(alerts) { run throws in #expect(try bench.pass(.minutes(1), &run).isEmpty) }
    try bench.setBreaker(.closed)
    bench.clock.advance(.minutes(20))
    try bench.live(alerts) { run throws in
      let told = try bench.pass(.minutes(1), &run).map(\.notice)
      #expect(told == ["breaker_open shop resolved", "receipt_failed shop resolved"])
    }
  }

  @Test func `Failed receipts are reported together, with their reasons and total`() throws {
    let bench = try AlertBench([AlertBench.alert([.receiptFailed])])
    try bench.live { run throws in
      for number in 1...3 { try bench.fail(number) }
      let first = try bench.pass(.seconds(5), &run)
      #expect(first.map(\.notice) == ["receipt_failed shop firing"])
      #expect(first.first?["value"] == 3)
      #expect(first.first?["reasons"] == ["http_422": 3])
      let since = try #require(try bench.bench.receipt(1)?.receipt?.createdAt).rfc3339
      let command =
        "receiptctl receipts replay --app shop --state failed --reason http_422 --since \(since) --rate 5/s"
      #expect(first.first?["commands"] == [.string(command)])
      let text = try #require(first.first?["what_to_do"]?.stringValue)
      #expect(text.hasPrefix("Fix the cause, then: \(command). A replay sends the same content again."))
      #expect(
        text.hasSuffix("complete --app shop --state failed --reason http_422 --price PRICE --rate 5/s"))
      for number in 4...5 { try bench.fail(number, status: 400) }
      #expect(try bench.pass(.minutes(9), &run).isEmpty)
      try bench.fail(6)
      let again = try bench.pass(.minutes(1), &run)
      #expect(again.first?["value"] == 6)
      #expect(again.first?["reasons"] == ["http_400": 2, "http_422": 4])
      #expect(try bench.pass(.minutes(15), &run).map(\.notice).last == "receipt_failed shop resolved")
    }
    // No notice contains a user's data (R7).
    for request in bench.network.requests {
      let text = String(decoding: request.body, as: UTF8.self)
      for word in ["user-", "sub_", "rcp_", "very-secret"] { #expect(!text.contains(word), "\(text)") }
    }
  }

  @Test func `A receipt that is pending for too long is reported, for each limit separately`() throws {
    let (soon, late) = (
      AlertCondition(parsing: "oldest_pending>5m"), AlertCondition(parsing: "oldest_pending>1h")
    )
    let bench = try AlertBench([
      AlertBench.alert([try #require(soon), try #require(late)], every: .days(7))
    ])
    try bench.bench.buy(1)
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(5), &run).isEmpty)
      let first = try bench.pass(.minutes(1), &run)
      #expect(first.map(\.notice) == ["oldest_pending>5m shop firing"])
      #expect(first.first?["summary"]?.stringValue?.contains("ready for 5m") == true)
      #expect(try bench.pass(.minutes(60), &run).map(\.notice) == ["oldest_pending>1h shop firing"])
      try bench.bench.store(
        CancelReceipt(id: try #require(try bench.bench.receipt(1)?.receipt).id, note: "x"))
      #expect(
        try bench.pass(.minutes(1), &run).map(\.notice)
          == ["oldest_pending>1h shop resolved", "oldest_pending>5m shop resolved"])
    }
  }

  @Test func `A nearly full disk is reported once, for the whole relay`() throws {
    let bench = try AlertBench(
      [AlertBench.alert([.diskLow(underBytes: 1 << 30)])], apps: [Bench.app(), Bench.app("other")])
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.freeBytes.withLock { $0 = 500 << 20 }
      let told = try bench.pass(.minutes(1), &run)
      #expect(told.map(\.notice) == ["disk_low<1GiB - firing"])
      #expect(
        told.first?["summary"]
          == "the database's disk has 500 MiB left; when it is full, contexts and events are refused")
      bench.freeBytes.withLock { $0 = 2 << 30 }
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["disk_low<1GiB - resolved"])
    }
  }

  @Test func `Each destination that is stopped is named, and the paused one is to be corrected`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.live { run throws in
      try bench.setBreaker(.open)
      let paused = Breaker(state: .paused, since: bench.bench.now, cause: .status(401))
      try bench.bench.store(SaveBreaker(AppDestination("shop", "webhook"), paused))
      let notice = try #require(try bench.pass(.minutes(1), &run).first)
      #expect(
        notice["summary"]?.stringValue
          == "webhook refuses the configuration of shop (http_401); deliveries to it are stopped; "
          + "purchasely, a destination of shop, is down (http_503); deliveries to it wait")
      #expect(notice["what_to_do"] == "Correct webhook of apps.shop. Nothing is given up.")
    }
  }

  @Test func `Many invalid signatures are reported, and resolved when they are few again`() throws {
    let alerts = [AlertBench.alert([.signatureFailures(over: 10)])]
    let stripe = AppProcessor("shop", "stripe")
    let bench = try AlertBench(alerts)
    try bench.live { run throws in
      for _ in 0..<10 { bench.bench.metrics.refusedSignature(stripe, reason: "mismatch") }
      #expect(try bench.pass(.minutes(5), &run).isEmpty)
      for _ in 0..<2 { bench.bench.metrics.refusedSignature(stripe, reason: "stale") }
      let told = try bench.pass(.minutes(1), &run)
      #expect(told.map(\.notice) == ["signature_failures>10 shop firing"])
      #expect(told.first?["value"] == 12)
      #expect(told.first?["reasons"] == ["mismatch": 10, "stale": 2])
      let advice = try #require(told.first?["what_to_do"]?.stringValue)
      let comparison =
        "Compare apps.shop.stripe.webhook_secrets with the endpoint's signing secret in Stripe's"
      #expect(advice.hasPrefix("\(comparison) dashboard; if they differ, correct them, then run:"))
    }
    // A new process has no counts yet, which does not prove that the trouble is over.
    let fresh = try AlertBench(alerts)
    let record = AlertRecord(
      key: .init(
        destination: AlertNotice.digest(of: AlertBench.hook), condition: "signature_failures>10",
        app: "shop"),
      isFiring: true, since: fresh.bench.now, notifiedAt: fresh.bench.now)
    try fresh.bench.store(SaveAlerts(sent: [record]))
    try fresh.live(alerts) { run throws in
      #expect(try fresh.pass(.minutes(9), &run).isEmpty)
      #expect(try fresh.pass(.minutes(2), &run).map(\.notice) == ["signature_failures>10 shop resolved"])
    }
  }

  @Test func `Failures stay loud until they are acknowledged for every processor`() {
    func group(_ processor: ProcessorName, isKnown: Bool) -> FailureGroup {
      let known = FailureAcknowledgement(
        entered: 1, owner: "ann", note: "", actor: "ann", at: Timestamp(unixMilliseconds: 0))
      return FailureGroup(
        app: "shop", processor: processor, reason: "http_422", cause: "http_422", count: 1, entered: 1,
        acknowledgement: isKnown ? known : nil)
    }
    let recent = [FailureCount(reason: "http_422", cause: "http_422", count: 2)]
    for (others, left) in [(true, 0), (false, 2)] as [(Bool, Int64)] {
      let groups = [group("stripe", isKnown: true), group("toy", isKnown: others)]
      let open = OpenFailures(groups).among(recent, app: "shop")
      #expect(open.reduce(0) { $0 + $1.count } == left)
    }
  }

  @Test func `Refused contexts and events that may be unread payments are reported`() throws {
    let bench = try AlertBench([AlertBench.alert([.contextsRefused(over: 10), .unreadableEvents])])
    try bench.live { run throws in
      for _ in 0..<10 { bench.bench.metrics.clientRefusals.increment("shop", "key") }
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.bench.metrics.clientRefusals.increment("shop", "limited")
      try bench.bench.store(
        IngestEvent(
          app: "shop", processor: "stripe", eventID: "evt_1", type: "invoice.paid",
          body: Array(#"{"type":"invoice.paid"}"#.utf8), content: .nothing(.unparsed)))
      let told = try bench.pass(.minutes(1), &run) + bench.pass(.minutes(1), &run)
      #expect(
        Set(told.map(\.notice)) == ["contexts_refused>10 shop firing", "unreadable_events shop firing"])
      let contexts = try #require(told.first { $0["alert"] == "contexts_refused>10" })
      #expect(contexts["reasons"] == ["key": 10, "limited": 1])
      let events = try #require(told.first { $0["alert"] == "unreadable_events" })
      #expect(events["reasons"] == ["invoice.paid: data.object": 1])
    }
  }

  @Test func `A dead address is retried less and less often, and gets the state of that moment`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    bench.network.use { _ in nil }
    try bench.setBreaker(.open)
    try bench.live { run throws in
      try bench.pass(.minutes(20), &run)
      let tries = bench.network.requests.count
      // 5 s, 15 s, 1 min, then every 5 min.
      #expect((6...8).contains(tries), "\(tries) tries")
      // The trouble ends before a notice arrived: none is sent.
      try bench.setBreaker(.closed)
      bench.network.use { _ in 200 }
      #expect(try bench.pass(.minutes(20), &run).isEmpty)
      bench.network.use { _ in 404 }
      try bench.setBreaker(.open)
      try bench.pass(.seconds(5), &run)
      bench.network.use { _ in 204 }
      #expect(try bench.pass(.minutes(10), &run).map(\.notice) == ["breaker_open shop firing"])
    }
    try bench.bench.waitForLog("could not send an alert; trying again")
    let again = try bench.bench.waitForLog("alerts can be sent again")
    #expect(again.contains("to=alerts[0]"))
    #expect(bench.bench.logText.ranges(of: "could not send an alert; trying again").count == 1)
    #expect(!bench.bench.logText.contains("very-secret"), "an address may be a secret (R7)")
  }

  @Test func `A dead address delays no other, and each gets the alerts of its own apps`() throws {
    let dead = "https://dead.example.com/"
    let alerts = [
      AlertBench.alert([.breakerOpen], to: dead), AlertBench.alert([.breakerOpen], apps: ["other"]),
    ]
    let bench = try AlertBench(alerts, apps: [Bench.app(), Bench.app("other")])
    bench.network.use { $0.url == dead ? nil : 200 }
    for app: AppSlug in ["shop", "other"] { try bench.setBreaker(.open, app: app) }
    try bench.live { run throws in
      try bench.pass(.minutes(1), &run)
      let told = try bench.network.requests.filter { $0.url != dead }.map { try JSONValue(parsing: $0.body) }
      #expect(told.map(\.notice) == ["breaker_open other firing"])
    }
  }

  @Test func `Many notices go out one by one, and the alerter stores one record per alert`() throws {
    let apps = (1...50).map { Bench.app("app-\($0)") }
    let bench = try AlertBench([AlertBench.alert([.breakerOpen], every: .hours(1))], apps: apps)
    for app in apps { try bench.setBreaker(.open, app: app.slug) }
    try bench.live { run throws in
      let first = try bench.pass(.seconds(10), &run)
      #expect((9...11).contains(first.count), "one a second: \(first.count)")
      let rest = try bench.pass(.seconds(60), &run)
      #expect(Set((first + rest).compactMap { $0["app"]?.stringValue }).count == 50)
      #expect(first.count + rest.count == 50)
    }
    #expect(try bench.bench.reader.alerts().count == 50)
  }

  @Test func `A reload applies at once, and alerts without a rule end and are dropped`() throws {
    let other = "https://b.example.com/"
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      #expect(try bench.pass(.seconds(1), &run).count == 1)
      bench.use(try AlertBench.plan([AlertBench.alert([.breakerOpen], to: other)], apps: [Bench.app()]))
      try bench.authorize()
      let told = try bench.pass(.seconds(1), &run).map(\.notice)
      #expect(told == ["breaker_open shop firing", "breaker_open shop resolved"])
      #expect(bench.network.requests.suffix(2).map(\.url) == [other, AlertBench.hook])
      try bench.authorize()
      bench.use(try AlertBench.plan([], apps: [Bench.app()]))
      #expect(try bench.pass(.minutes(11), &run).map(\.notice) == ["breaker_open shop resolved"])
    }
    #expect(try bench.bench.reader.alerts().isEmpty)
  }
}
