// The health report: its content, when it is stored, and its text.

import Domain
import Formats
import Platform
import Reports
import Testing

@testable import Config
@testable import Service

@Suite("Health") struct HealthTests {
  private static let now = Timestamp(unixMilliseconds: 1_795_168_800_000)

  private static func report() -> HealthReport {
    var report = HealthReport(
      at: now, version: "1.2.3", startedAt: now - .hours(2),
      configuredAt: now - .seconds(60))
    report.freeBytes = 13_300_000_000
    return report
  }

  private static func monitor(
    _ readiness: Readiness, _ metrics: Metrics = Metrics(), ledger: ConfigurationLedger? = nil,
    openFiles: Int? = nil
  ) -> HealthMonitor {
    let configuration = Configuration(database: .file("/none"), apps: [Bench.app()])
    return HealthMonitor(
      readiness: readiness, ledger: ledger ?? ConfigurationLedger(configuration, now: now), metrics: metrics,
      startedAt: now, openFiles: openFiles, freeBytes: { 1 << 30 })
  }

  private static func findings(
    _ report: HealthReport, _ webhooks: (AppProcessor) -> WebhookAdvice? = { _ in nil }
  ) -> [Finding] {
    report.findings(now: now, webhooks: webhooks, processors: { _ in nil })
  }

  @Test func `A stored report is read back unchanged`() throws {
    var report = Self.report()
    report.reasons = [.init(name: "disk_full", text: "the disk is full", advice: "Free space.")]
    report.refusedReload = .init(at: Self.now, faults: ["apps.a: is wrong"])
    report.refusedWebhooks = [
      AppProcessor("shop", "stripe"): ["mismatch": 3, "stale": 1],
      AppProcessor("shop", "toy"): ["missing": 1],
    ]
    report.acceptedWebhooks = [AppProcessor("shop", "stripe"): 5]
    report.refusedContexts = ["shop": ["key": 2]]
    report.storedContexts = ["shop": 9]
    report.receivers = ["digest": .init(sentAt: Self.now, failedAt: Self.now, failure: "http_500")]
    report.generation = 7
    report.configurationDigest = "d1"
    report.apps = ["shop"]
    report.associations = [
      try #require(
        BrokenAssociation(json: [
          "url": "https://shop.example/file", "host": "shop.example", "apps": ["shop"],
          "faults": ["is empty"], "since": .time(Self.now), "seen_at": .time(Self.now),
        ]))
    ]
    report.needsRestart = ["listen.port"]
    report.processorTroubles = [AppProcessor("shop", "stripe"): ["timeout": 11]]
    report.backup = .init(every: .days(1), since: Self.now)
    report.backup?.lastAt = Self.now
    report.fileSystem = "nfs"
    report.backup?.programFault = .init(since: Self.now, reason: "/copies/a.db: it exited with 3")
    report.loweredConnections = 832
    report.proxy = "proxy.example:3128 (not for: .internal)"
    report.destinations = [
      AppDestination("shop", "purchasely"): DestinationContact(
        at: Self.now, isAnswered: true, outcome: "200", route: "192.0.2.1", failingAlone: 2,
        aloneAt: Self.now + .hours(1)),
      AppDestination("shop", "webhook"): DestinationContact(
        at: Self.now, isAnswered: false, outcome: "proxy_failed: the proxy", route: nil),
    ]
    for (name, value) in Mirror(reflecting: report).children {
      #expect(!["nil", "[]", "[:]"].contains("\(value)"), "this test forgets \(name ?? "")")
    }
    #expect(HealthReport(stored: report.stored.text) == report)
    #expect(HealthReport(stored: "{}") == nil)
    #expect(HealthReport(stored: "no JSON") == nil)
  }

  @Test(
    "A limit of open files below limits.connections lowers all shares of the connections, and is reported")
  func openFiles() {
    let limits = Configuration.Limits()
    #expect(limits.fitting(openFiles: nil) == limits)
    #expect(limits.fitting(openFiles: 2192) == limits)
    for (files, connections) in [(2191, 1999), (1024, 832), (256, 128), (3, 2), (1, 1)] {
      let fitting = limits.fitting(openFiles: files)
      #expect(fitting.connections == connections)
      #expect(fitting.webhookConnections == connections / 10)
      #expect(fitting.longPolls == connections * 8 / 10)
    }
    let few = Configuration.Limits(webhookConnections: 5, longPolls: 7).fitting(openFiles: 1024)
    #expect((few.webhookConnections, few.longPolls) == (5, 7))
    #expect(Self.monitor(Readiness(), openFiles: 1024).report(now: Self.now).loweredConnections == 832)
    #expect(Self.monitor(Readiness(), openFiles: 4096).report(now: Self.now).loweredConnections == nil)
  }

  @Test func `A database file on a network file system is a finding`() {
    var report = Self.report()
    report.fileSystem = "nfs"
    #expect(Self.findings(report).map(\.level) == [.warning])
    #expect(Self.findings(report).first?.title == "The database is on a network file system")
  }

  @Test func `The proxy and the receipts that fail alone are reported; the first such receipt is news`() {
    var report = Self.report()
    let place = AppDestination("shop", "purchasely")
    report.destinations[place] = DestinationContact(
      at: Self.now, isAnswered: true, outcome: "200", route: nil)
    let before = report
    report.proxy = "proxy.example:3128"
    report.destinations[place]?.failingAlone = 1
    #expect(report.isNews(after: before))
    #expect(!report.isNews(after: report))
    #expect(
      report.headlines(daemon: nil, now: Self.now).last?.line
        == "receiptd connects through the proxy proxy.example:3128.")
    let findings = Self.findings(report)
    #expect(findings.map(\.level) == [.warning])
    #expect(
      findings.first?.line
        == "1 receipt of shop to purchasely fails while others pass, and is retried separately. See: "
        + "receiptctl receipts list --state pending --app shop. To send it now: "
        + "receiptctl apps retry-now shop"
    )
    report.destinations[place]?.failingAlone = 2
    report.destinations[place]?.aloneAt = Self.now + .hours(3)
    #expect(
      Self.findings(report).first?.what
        == "2 receipts of shop to purchasely fail while others pass, and are retried separately, "
        + "the first in 3 h")
  }

  @Test("Unreadiness, a refused reload and refused webhooks are reported first, each with its remedy")
  func linesOfTrouble() throws {
    var report = Self.report()
    #expect(Self.findings(report).isEmpty)
    #expect(
      report.headlines(daemon: LockHolder(process: 42, purpose: .serving), now: Self.now).map(\.line) == [
        "receiptd is ready (process 42, started 2 h ago); 12.3 GiB free on the database's disk; "
          + "configuration 1, applied 1 min ago."
      ])
    report.reasons = [ReadinessReason.diskFull].map { .init(name: $0.name, text: $0.text, advice: $0.advice) }
    report.refusedReload = .init(
      at: Self.now, faults: ["apps.shop.stripe.webhook_secret: is not a known key"])
    report.refusedWebhooks = [
      AppProcessor("shop", "stripe"): ["mismatch": 12], AppProcessor("shop", "toy"): ["missing": 1],
    ]
    let findings = Self.findings(report) { place in
      WebhookAdvice(
        place.processor, label: "Pay", key: "secret", origin: "the one in its console",
        refresh: .restart(source: "env:SECRET"), listsEvents: place.processor == "stripe")
    }
    #expect(findings.allSatisfy { $0.level == .failure })
    #expect(findings.map(\.check) == [.receiptd, .applied, .webhooks, .webhooks])
    let headline = try #require(report.headlines(daemon: nil, now: Self.now).first)
    #expect(headline.line.hasPrefix("receiptd is NOT READY: the disk is full ("))
    #expect(headline.level == .failure)
    let lines = findings.map(\.line)
    #expect(lines[0].hasPrefix("The disk is full. Free space"))
    #expect(lines[1].hasPrefix("The last reload was refused just now"))
    #expect(lines[1].contains("apps.shop.stripe.webhook_secret: is not a known key"))
    #expect(lines[1].hasSuffix("Then run: receiptctl reload"))
    #expect(lines[2].hasPrefix("12 webhooks of shop refused for the signature in the last hour"))
    #expect(
      lines[2].contains("Compare apps.shop.stripe.secret with the one in its console; if they differ, "))
    #expect(lines[2].contains("systemctl restart receiptd (secret is env:SECRET"))
    let fetch = "receiptctl events backfill --app shop --since 3d"
    #expect(lines[2].hasSuffix("; then fetch what was refused: \(fetch)"))
    #expect(findings.map(\.commands).suffix(2) == [[fetch], []], "one of them lists no events")
    #expect(lines[3].hasPrefix("1 webhook of shop refused for the signature in the last hour (missing 1)"))
    #expect(lines[3].contains("Compare apps.shop.toy.secret with"))
  }

  @Test func `Each reason of refused webhooks has its remedy, with the settings of their processor`() throws {
    var app = Bench.app()
    app.processors.append(
      ConfiguredProcessor(section: SwedbankSection(merchantToken: Secret("token"), payeeID: "payee")))
    let advice = try #require(app.webhookAdvice["swedbank"])
    func remedy(_ counts: [String: Int64]) -> String { RefusalCounts(counts).remedy(advice, of: "shop") }
    let sender =
      "correct apps.shop.swedbank.callback_from, and listen.proxies, then run: receiptctl reload"
    #expect(remedy(["sender": 2]) == sender)
    let path =
      "if apps.shop.swedbank.merchant_token was replaced, payments that were started with the earlier one "
      + "are fetched automatically, but later, and their reversals only with: receiptctl payments fetch ID"
    #expect(remedy(["path": 1]) == path)
    #expect(remedy(["path": 1, "sender": 2]) == "\(path); \(sender)")
    let both = remedy(["mismatch": 1, "sender": 2])
    #expect(both.hasPrefix("compare apps.shop.swedbank.merchant_token with "))
    #expect(both.hasSuffix("; \(sender)"))
  }

  @Test(
    "Refusals that are all about the time of a right signature are a clock, not a secret",
    arguments: [
      (["future": 5], "this machine's clock is behind"), (["stale": 5], "this machine's clock is ahead"),
      (["future": 1, "stale": 1], "this machine's clock is wrong"),
    ] as [([String: Int64], String)])
  func clock(counts: [String: Int64], fault: String) throws {
    let advice = try #require(Bench.app().webhookAdvice["stripe"])
    let lost = try #require(
      Finding.webhooks(of: "shop", ["stripe": counts], accepted: 0, "in the last hour") { _ in advice })
    #expect(lost.what.contains("refused for their time in the last hour"))
    #expect(lost.line.contains(fault))
    #expect(lost.line.contains("timedatectl set-ntp true"))
    #expect(!lost.line.contains("webhook_secrets"))
    let mixed = RefusalCounts(["mismatch": 1].merging(counts) { $1 })
    #expect(mixed.cause == "for the signature or their time")
    #expect(mixed.remedy(advice, of: "shop").contains("webhook_secrets"))
    #expect(mixed.remedy(advice, of: "shop").contains(fault))
  }

  @Test("A count of refused webhooks names the processor, and the contract's object adds processors up")
  func refusedProcessors() {
    var report = Self.report()
    report.refusedWebhooks = [
      AppProcessor("shop", "stripe"): ["mismatch": 3], AppProcessor("shop", "toy"): ["mismatch": 2],
    ]
    #expect(report.json["refused_webhooks_last_hour"] == ["shop": ["mismatch": 5]])
    let removed = Self.findings(report).last?.line
    #expect(
      removed?.hasSuffix(
        "and none was accepted. Configure apps.shop.toy again, then run: receiptctl reload") == true)
  }

  @Test func `A report is stored once a minute, at once after a change, and again after a failure`() {
    let (readiness, metrics) = (Readiness(), Metrics())
    let monitor = Self.monitor(readiness, metrics)
    let place = AppProcessor("shop", "stripe")
    func check(_ seconds: Int64) -> HealthReport? {
      monitor.check(
        now: Self.now.advanced(by: .seconds(seconds)),
        monotonic: MonotonicInstant(nanoseconds: 1).advanced(by: .seconds(seconds)))
    }
    #expect(check(0)?.isReady == true)
    #expect(check(5) == nil)
    #expect(check(59) == nil)
    #expect(check(60) != nil)
    readiness.raise(.diskFull)
    #expect(check(65)?.reasons.map(\.name) == ["disk_full"])
    #expect(check(70) == nil)
    readiness.clear(.diskFull)
    #expect(check(75)?.isReady == true)
    metrics.refusedSignature(place, reason: "mismatch")
    #expect(check(80)?.refusedWebhooks == [place: ["mismatch": 1]])
    // More of the same is not stored: a flood writes no more than silence.
    metrics.refusedSignature(place, reason: "mismatch")
    #expect(check(85) == nil)
    monitor.couldNotStore()
    #expect(check(90)?.refusedWebhooks == [place: ["mismatch": 2]])
    // After an hour they are not counted any more.
    #expect(check(3700)?.refusedWebhooks == [:])
  }

  @Test func `A refused reload is in the report until one is applied`() throws {
    let configuration = Configuration(database: .file("/none"), apps: [Bench.app()])
    let ledger = ConfigurationLedger(configuration, now: Self.now)
    let monitor = Self.monitor(Readiness(), ledger: ledger)
    let faults = (0..<5).map { Fault(path: "apps.\($0)", message: "is wrong") }
    let began = MonotonicInstant(nanoseconds: 1)
    let refused = ledger.refused(ConfigurationFaults(faults: faults), began: began, now: Self.now)
    #expect(refused.generation == 1)
    #expect(
      monitor.report(now: Self.now).refusedReload?.faults
        == ["apps.0: is wrong", "apps.1: is wrong", "apps.2: is wrong", "and 2 more"])
    let loaded = LoadedConfiguration(configuration: configuration, warnings: [])
    #expect(ledger.applied(loaded, began: began, now: Self.now).generation == 2)
    #expect(monitor.report(now: Self.now).refusedReload == nil)
  }
}
