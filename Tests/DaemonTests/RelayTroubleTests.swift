// The troubles of configuration, backups, backlogs, stored data, events, certificates and the clock: each
// begins, is repeated and ends.

import Domain
import Formats
import Platform
import Store
import Testing

@testable import Config
@testable import Reports
@testable import Service
@testable import Upkeep

@Suite("Alerts about the relay") struct RelayTroubleTests {
  @Test func `A refused reload is reported with its faults until a reload is applied`() throws {
    let bench = try AlertBench([AlertBench.alert([.reloadRefused])], hasHealth: true)
    let faults = ConfigurationFaults(faults: [
      Fault(path: "apps.shop.stripe.tolerance", message: "must be a duration")
    ])
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      _ = bench.ledger.refused(faults, began: bench.clock.monotonic, now: bench.bench.now)
      let began = bench.bench.now
      let notices = try bench.pass(.minutes(11), &run)
      #expect(notices.map(\.notice) == Array(repeating: "reload_refused - firing", count: 2))
      let notice = try #require(notices.first)
      #expect(notice["since"] == .time(began))
      #expect(
        notice["summary"]?.stringValue?.hasSuffix(": apps.shop.stripe.tolerance: must be a duration") == true)
      #expect(notice["commands"] == ["receiptctl config check", "receiptctl reload"])
      let loaded = LoadedConfiguration(
        configuration: Configuration(database: .file("/none"), apps: [Bench.app()]), warnings: [])
      _ = bench.ledger.applied(loaded, began: bench.clock.monotonic, now: bench.bench.now)
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["reload_refused - resolved"])
    }
  }

  @Test func `A backup that is too old, or that was never made, is reported until one is recorded`() throws {
    let bench = try AlertBench([AlertBench.alert([.backupOld(over: .hours(26))])])
    func record() throws {
      try bench.bench.store(
        SaveServiceReport(
          ServiceReport(name: .backup, at: bench.bench.now, content: #"{"file":"/backups/a.db"}"#)))
    }
    try bench.live { run throws in
      let first = try bench.pass(.minutes(11), &run)
      #expect(first.map(\.notice) == Array(repeating: "backup_old>26h - firing", count: 2))
      #expect(first.first?["summary"] == "no backup of the database was recorded")
      try record()
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["backup_old>26h - resolved"])
      #expect(try bench.pass(.hours(25), &run, step: .minutes(1)).isEmpty)
      let again = try bench.pass(.hours(1), &run, step: .minutes(1))
      #expect(again.first?["summary"] == "the last backup of the database, /backups/a.db, is 26h old")
      #expect(again.first?["what_to_do"]?.stringValue?.contains("receiptctl db backup --record NAME") == true)
      try record()
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["backup_old>26h - resolved"])
    }
  }

  @Test func `The first scheduled backup is waited for`() throws {
    let bench = try AlertBench([AlertBench.alert([.backupOld(over: .hours(26))])], hasHealth: true)
    bench.health?.backup { [now = bench.bench.now] in
      $0 = HealthReport.Backup(every: .hours(12), since: now)
    }
    try bench.live { run throws in
      #expect(try bench.pass(.hours(23), &run, step: .minutes(1)).isEmpty)
      let late = try bench.pass(.hours(2), &run, step: .minutes(1))
      #expect(late.first?.notice == "backup_old>26h - firing")
    }
  }

  @Test("A backlog is reported while it grows and is above the limit, and not after a restart of the count")
  func backlogGrowing() throws {
    let alerts = [AlertBench.alert([.backlogGrowing(over: 3)], every: .minutes(5))]
    let bench = try AlertBench(alerts)
    try bench.live(alerts) { run throws in
      var notices: [String] = []
      for number in 1...6 {
        try bench.bench.buy(number)
        notices += try bench.pass(.minutes(5), &run, step: .seconds(5)).map(\.notice)
      }
      // The fourth receipt comes after 15 minutes; then one notice each five minutes.
      #expect(Set(notices) == ["backlog_growing>3 shop firing"])
      #expect((2...3).contains(notices.count), "\(notices)")
    }
    try bench.live(alerts) { run throws in
      #expect(try bench.pass(.minutes(14), &run, step: .seconds(5)).isEmpty, "it is not known to be over")
      #expect(
        try bench.pass(.minutes(3), &run, step: .seconds(5)).map(\.notice)
          == ["backlog_growing>3 shop resolved"])
    }
  }

  @Test(
    "Damage is reported: of the database until it is gone, of receipts for two hours after the last attempt")
  func corruption() throws {
    let bench = try AlertBench([AlertBench.alert([.corruption], every: .days(1))])
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.database.withLock { $0 = [.databaseDamaged] }
      let first = try bench.pass(.minutes(1), &run)
      #expect(first.map(\.notice) == ["corruption - firing"])
      #expect(first.first?["summary"] == "the database is damaged")
      #expect(first.first?["commands"] == ["receiptctl db check"])
      bench.clock.advance(.hours(2))
      bench.database.withLock { $0 = [] }
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["corruption - resolved"])
      bench.clock.advance(.days(1))
      bench.bench.metrics.unreadableReceipts.increment("shop")
      let second = try bench.pass(.minutes(1), &run)
      #expect(second.first?["summary"] == "receipts of shop cannot be read, so they are not delivered")
      // Read again after an hour.
      #expect(try bench.pass(.minutes(59), &run, step: .seconds(30)).isEmpty)
      bench.bench.metrics.unreadableReceipts.increment("shop")
      #expect(try bench.pass(.minutes(119), &run, step: .seconds(30)).isEmpty)
      #expect(
        try bench.pass(.minutes(2), &run, step: .seconds(30)).map(\.notice) == ["corruption - resolved"])
    }
  }

  /// Runs the alerter of an app that had events on each day of a week and on the eighth day the first only.
  private static func withSilence(
    _ body: (AlertBench, inout AlerterRun, _ event: () throws -> Void) throws -> Void
  ) throws {
    let alerts = [AlertBench.alert([.noEvents(over: .minutes(30))], every: .hours(12))]
    let shop = AppConfiguration(
      slug: "shop", client: .open,
      stripe: .init(webhookSecrets: [Secret("whsec_test")], apiKey: Secret("rk_test")),
      purchasely: .init(url: "http://127.0.0.1:9/receipts", apiKey: Secret("ply-key")))
    let bench = try AlertBench(alerts, apps: [shop, Bench.app("other")])
    var number = 0
    func event() throws {
      number += 1
      try bench.bench.store(
        IngestEvent(
          app: "shop", processor: "stripe", eventID: "evt_\(number)", type: number % 2 == 0 ? "even" : "odd",
          body: Array("{}".utf8), content: .nothing(.ignored)))
    }
    // On each day of a week twelve events within 24 minutes, and on the eighth day only the first of them.
    for _ in 0..<7 {
      for _ in 0..<12 {
        try event()
        bench.clock.advance(.minutes(2))
      }
      bench.clock.advance(.days(1) - .minutes(24))
    }
    try event()
    try bench.live { run throws in try body(bench, &run, event) }
  }

  /// What a watch finds now.
  private static func unusual(_ watch: inout EventWatch, _ bench: AlertBench) throws -> [AppSlug: Timestamp] {
    let alerts = [AlertBench.alert([.noEvents(over: .minutes(30))])]
    return try watch.unusual(for: alerts, apps: ["shop"], reader: bench.bench.reader, now: bench.bench.now)
  }

  @Test func `After the clock was set back an event that comes ends a silence at once`() throws {
    try Self.withSilence { bench, run, event in
      #expect(try bench.pass(.minutes(40), &run).map(\.notice) == ["no_events>30m shop firing"])
      bench.clock.setWall(by: .minutes(-35))
      // A clock that was set back repeats the notice.
      let notices = try bench.pass(.minutes(1), &run).map(\.notice)
      #expect(notices == ["no_events>30m shop firing", "no_events>30m shop resolved"])
      try event()
      #expect(try bench.pass(.minutes(28), &run).isEmpty)
    }
  }

  @Test func `After the clock was set back the last event of an app is looked for at once`() throws {
    try Self.withSilence { bench, _, event in
      var watch = EventWatch()
      let first = bench.bench.now
      bench.clock.advance(.minutes(40))
      #expect(try Self.unusual(&watch, bench) == ["shop": first])
      bench.clock.setWall(by: .minutes(-39))
      try event()
      // Before the time at which it was looked for last.
      bench.clock.advance(.minutes(31))
      #expect(try Self.unusual(&watch, bench) == ["shop": first + .minutes(1)])
    }
  }

  @Test func `A silence is judged by the week before it, not by that of an earlier one`() throws {
    try Self.withSilence { bench, _, event in
      var watch = EventWatch()
      let first = bench.bench.now
      bench.clock.advance(.minutes(40))
      #expect(try Self.unusual(&watch, bench) == ["shop": first])
      // An hour after the first event of a day, none was usual.
      bench.clock.advance(.minutes(20))
      try event()
      bench.clock.advance(.minutes(35))
      #expect(try Self.unusual(&watch, bench).isEmpty)
    }
  }

  @Test func `After the clock was set back an event that cannot be read is found at once`() throws {
    let bench = try AlertBench([AlertBench.alert([.unreadableEvents])])
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.clock.setWall(by: .hours(-1))
      try bench.bench.store(
        IngestEvent(
          app: "shop", processor: "stripe", eventID: "evt_1", type: "invoice.paid",
          body: Array(#"{"type":"invoice.paid"}"#.utf8), content: .nothing(.unparsed)))
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["unreadable_events shop firing"])
    }
  }

  @Test func `Missing events are reported where they were usual, until one comes`() throws {
    try Self.withSilence { bench, run, event in
      let last = bench.bench.now
      #expect(try bench.pass(.minutes(30), &run).isEmpty)
      let notices = try bench.pass(.minutes(10), &run)
      #expect(notices.map(\.notice) == ["no_events>30m shop firing"])
      #expect(
        notices.first?["summary"] == "shop has had no event for 30m, at a time at which events are usual")
      let backfill = "receiptctl events backfill --app shop --since \(last.rfc3339)"
      #expect(notices.first?["commands"] == ["receiptctl status", .string(backfill)])
      try event()
      #expect(try bench.pass(.minutes(2), &run).map(\.notice) == ["no_events>30m shop resolved"])
    }
  }

  @Test("A certificate that expires soon is reported: the listener's, and that of each app's destination")
  func certificateExpires() throws {
    let alerts = [AlertBench.alert([.certificateExpires(within: .days(14))], every: .days(2))]
    let bench = try AlertBench(alerts)
    let certificates = bench.bench.metrics.certificates
    let purchasely = KnownCertificates.Place.destination(AppDestination("shop", "purchasely"))
    try bench.live { run throws in
      certificates.note(bench.bench.now + .days(15), of: .listener)
      certificates.note(bench.bench.now + .days(30), of: purchasely)
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.clock.advance(.days(2))
      let first = try bench.pass(.minutes(1), &run)
      #expect(first.map(\.notice) == ["certificate_expires<14d - firing"])
      #expect(first.first?["summary"] == "the certificate of the public listener expires in 12d")
      #expect(first.first?["commands"] == ["receiptctl reload"])
      bench.clock.advance(.days(15))
      let second = try bench.pass(.minutes(1), &run)
      #expect(
        second.map(\.notice) == ["certificate_expires<14d shop firing", "certificate_expires<14d - firing"])
      #expect(
        second.first?["summary"] == "the certificate of purchasely, a destination of shop, expires in 12d")
      #expect(second.last?["summary"] == "the certificate of the public listener expired 2d ago")
      certificates.note(bench.bench.now + .days(90), of: purchasely)
      certificates.note(bench.bench.now + .days(90), of: .listener)
      #expect(
        try bench.pass(.minutes(1), &run).map(\.notice)
          == ["certificate_expires<14d - resolved", "certificate_expires<14d shop resolved"])
    }
  }

  @Test(
    "After a restart, nothing is known of a destination's certificate until it is used, for a day at most")
  func unknownCertificate() throws {
    let alerts = [AlertBench.alert([.certificateExpires(within: .days(14))], every: .hours(1))]
    let bench = try AlertBench(alerts)
    for app: AppSlug? in [nil, "shop"] {
      let key = AlertRecord.Key(
        destination: AlertNotice.digest(of: AlertBench.hook), condition: "certificate_expires<14d", app: app)
      try bench.bench.store(
        SaveAlerts(sent: [
          AlertRecord(key: key, isFiring: true, since: bench.bench.now, notifiedAt: bench.bench.now)
        ]))
    }
    try bench.live(alerts) { run throws in
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["certificate_expires<14d - resolved"])
      #expect(try bench.pass(.hours(23), &run, step: .minutes(5)).isEmpty)
      #expect(
        try bench.pass(.hours(2), &run, step: .minutes(5)).map(\.notice)
          == ["certificate_expires<14d shop resolved"])
    }
  }

  @Test func `A clock that differs from those of most destinations is reported`() throws {
    let alerts = [AlertBench.alert([.clock(over: .seconds(5))])]
    let bench = try AlertBench(alerts)
    let samples = bench.bench.metrics.clock
    let place = AppDestination("shop", "purchasely")
    /// Notes five answers, one a minute.
    func note(_ offset: Duration) {
      for _ in 0..<5 {
        samples.note(offset, from: place, now: bench.clock.monotonic)
        bench.clock.advance(.minutes(1))
      }
    }
    try bench.live { run throws in
      note(.seconds(4))
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.clock.advance(.hours(2))
      note(.seconds(-90))
      let notices = try bench.pass(.minutes(1), &run)
      #expect(notices.map(\.notice) == ["clock>5s - firing"])
      #expect(notices.first?["summary"] == "this machine's clock is 90s behind those of the destinations")
      for _ in 0..<2 { note(.zero) }
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["clock>5s - resolved"])
    }
    #expect(!samples.wantsSample(of: place, now: bench.clock.monotonic - .minutes(2)))
    #expect(samples.wantsSample(of: AppDestination("shop", "webhook"), now: bench.clock.monotonic))
  }

  @Test func `The dates of the destinations' answers show how right the clock is`() throws {
    let destination = try ScriptedDestination()
    let apps = (1...5).map { Bench.app("app-\($0)", url: destination.url) }
    let bench = try Bench(apps)
    for (number, app) in apps.enumerated() {
      try bench.sell(number, app: app.slug)
      try bench.waitFor(number, .delivered, app: app.slug)
    }
    let offset = try #require(bench.metrics.clock.offset(now: bench.clock.monotonic))
    #expect(abs(offset.inSeconds) < 2)
  }
}
