// `receiptctl doctor` without servers: what this machine and the database show.

import Config
import Domain
import Formats
import FoundationEssentials
import Platform
import Store
import Terminal
import TestSupport
import Testing

@testable import CLI
@testable import Service

@Suite("Doctor") struct DoctorTests {
  /// Stores a report as a receiptd that uses the harness's configuration does.
  private func report(_ harness: OperatorHarness, _ change: (inout HealthReport) -> Void = { _ in }) throws {
    let now = harness.clock.now
    var report = HealthReport(at: now, version: Version.number, startedAt: now - .hours(3), configuredAt: now)
    report.configurationDigest = try ConfigurationLoader.load(
      path: harness.configurationPath, environment: Environment(DoctorPage.environment)
    ).configuration.digest
    change(&report)
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
  }

  /// All checks but that of the disk, which is another one on each machine.
  private static let steady = DoctorChecks.all.map { $0.name }.filter { $0 != "disk" }
    .joined(separator: ",")

  private func backup(_ harness: OperatorHarness, _ file: String) throws {
    let content: JSONValue = ["file": .string(file)]
    let report = ServiceReport(name: .backup, at: harness.clock.now, content: content.text)
    try harness.store(SaveServiceReport(report))
  }

  /// No process has this number.
  private static let daemon = LockHolder(process: .max, purpose: .serving)

  /// A relay that nothing is wrong with.
  private func served() throws -> OperatorHarness {
    let harness = try OperatorHarness()
    try harness.configureWell()
    try report(harness)
    try backup(harness, "/backups/elsewhere.db")
    harness.daemon = Self.daemon
    return harness
  }

  @Test func `A healthy relay has a line for each check, and the program ends with 0`() throws {
    let harness = try served()
    try harness.deliver(try harness.purchase("sub_1"))
    let ran = harness.run("doctor", "--local", "--only", Self.steady, environment: DoctorPage.environment)
    #expect(ran.code == .done, "\(ran)")
    Snapshot.check(ran.out.replacing(/process \d+/, with: "process N"), "doctor")
    let page = try DoctorPage(harness, "--local", "--only", Self.steady)
    #expect(page.findings.allSatisfy { $0.level == .ok }, "\(page.findings)")
  }

  @Test func `The page of a relay in trouble names the next command below each line`() throws {
    let harness = try OperatorHarness()
    try harness.fail(try harness.purchase("sub_1"))
    let ran = harness.run("doctor", "--local", "--only", Self.steady, environment: DoctorPage.environment)
    #expect(ran.code == .failed)
    Snapshot.check(ran.out, "doctor-trouble")
  }

  @Test func `Only the named checks run, and an unknown one is refused with a suggestion`() throws {
    let harness = try served()
    let page = try DoctorPage(harness, "--local", "--only", "disk, clock")
    #expect(page.findings.map(\.check) == [.clock, .disk], "in the order of the page")
    let wrong = harness.run("doctor", "--only", "clock,dsk")
    #expect(wrong.code == .usage)
    #expect(wrong.notes.contains("there is no check 'dsk'; did you mean 'disk'?"))
    #expect(harness.run("doctor", "--app", "ois").notes.contains("did you mean 'ios'?"))
  }

  @Test func `A configuration with faults, or with unreadable secrets, leaves the other checks`() throws {
    let harness = try served()
    try harness.configure { $0.replacing("listen:", with: "lisen: 1, listen:") }
    let faulty = try DoctorPage(harness, "--local")
    #expect(!faulty.of(.database).isEmpty)
    faulty.expect(.failure, .configuration, "did you mean \"listen\"?")
    try harness.configureWell(root: "log: { level: 'info' },")
    try FileManager.default.removeItem(atPath: harness.folder + "/key")
    let unreadable = try DoctorPage(harness, "--local")
    unreadable.expect(
      .failure, .configuration, "cannot read \(harness.folder)/key".replacing(harness.folder, with: "FOLDER")
    )
    #expect(!unreadable.of(.database).isEmpty)
    unreadable.expect(
      .failure, .secrets, "1 of 4 secrets cannot be used, such as apps.ios.purchasely.api_key: cannot read ")
  }

  @Test func `A file that receiptd does not use, a refused reload and keys for a restart are shown`() throws {
    let harness = try served()
    try DoctorPage(harness, "--local").expect(.ok, .applied, "uses this file (configuration 1)")
    try harness.configureWell("delivery: { concurrency: 3 },")
    try DoctorPage(harness, "--local").expect(.warning, .applied, "differs from what receiptd uses")
    try report(harness) { $0.needsRestart = ["listen.port"] }
    try DoctorPage(harness, "--local").expect(.warning, .applied, "only a restart applies (listen.port)")
    try report(harness) { $0.refusedReload = .init(at: $0.at, faults: ["apps: is empty"]) }
    try DoctorPage(harness, "--local").expect(.failure, .applied, "refused")
  }

  @Test func `Secrets: open files, ages, secrets in place, and replacements that were not finished`() throws {
    let harness = try served()
    try DoctorPage(harness, "--local").expect(.ok, .secrets, "4 secrets, 2 files, the oldest 0 s")
    let (file, other) = (harness.folder + "/stripe", harness.folder + "/other")
    func set(_ attributes: [FileAttributeKey: Any]) throws {
      try FileManager.default.setAttributes(attributes, ofItemAtPath: file)
    }
    try set([.posixPermissions: 0o644])
    try DoctorPage(harness, "--local").expect(.failure, .secrets, "all users of this machine can read")
    try set([.posixPermissions: 0o640, .modificationDate: harness.date(400 * 86_400)])
    try DoctorPage(harness, "--local").expect(.warning, .secrets, "was not replaced for 400 d")
    try set([.modificationDate: harness.date(0)])
    try harness.write("whsec_very-secret-other", to: other)
    try harness.configure { $0.replacing("['file:\(file)']", with: "['file:\(file)', 'file:\(other)']") }
    #expect(try DoctorPage(harness, "--local").of(.secrets).allSatisfy { $0.level == .ok })
    harness.clock.advance(.days(4))
    try DoctorPage(harness, "--local").expect(.warning, .secrets, "ios accepts 2 secrets of stripe")
    try harness.configure { $0.replacing("'file:\(file)'", with: "'whsec_very-secret-in-place'") }
    try DoctorPage(harness, "--local").expect(.warning, .secrets, "1 of 5 secrets is written in the")
  }

  @Test func `receiptd: not running, without a report, silent, not ready, and of another version`() throws {
    let harness = try OperatorHarness()
    try harness.configureWell()
    try DoctorPage(harness, "--local").expect(.failure, .receiptd, "is not running")
    harness.daemon = Self.daemon
    try DoctorPage(harness, "--local").expect(.warning, .receiptd, "has not reported yet")
    try report(harness) {
      $0.reasons = [.init(name: "disk_full", text: "the disk is full", advice: "Free it.")]
    }
    try DoctorPage(harness, "--local").expect(.failure, .receiptd, "the disk is full")
    try report(harness) { $0.reasons = [.init(name: "database_damaged", text: "damaged", advice: "Look.")] }
    try DoctorPage(harness, "--local").expect(.failure, .database, "damaged pages")
    try report(harness) { $0.version = "0.0.1" }
    try DoctorPage(harness, "--local").expect(.warning, .receiptd, "is version 0.0.1, and receiptctl is ")
    try report(harness) { $0.loweredConnections = 832 }
    try DoctorPage(harness, "--local").expect(.warning, .receiptd, "serves at most 832 connections")
    try report(harness)
    try DoctorPage(harness, "--local").expect(.ok, .receiptd, "is ready (process ")
    harness.clock.advance(.minutes(3))
    try DoctorPage(harness, "--local").expect(.failure, .receiptd, "is stuck")
  }

  @Test("SW29: Orders whose amounts the app names are a warning, unless the configuration says so")
  func amounts() throws {
    let harness = try OperatorHarness()
    func page(_ more: String) throws -> DoctorPage {
      try harness.configureWell()
      try harness.configure {
        $0.replacing(
          "client: 'open',",
          with: "client: { keys: ['env:WEBHOOK_SECRET'] }, swedbank: { merchant_token: 'env:API_KEY', "
            + "payee_id: 'p', public_origin: 'https://pay.example.com', \(more) },")
      }
      return try DoctorPage(harness, "--local", "--only", "configuration")
    }
    try page("").expect(.warning, .configuration, "ios.swedbank: lets an altered app name")
    let prices = "prices: { gold: { amount: 5999, vat: 1200, currency: 'SEK' } }"
    for more in ["amounts: 'client'", prices] {
      #expect(try page(more).findings.allSatisfy { !$0.what.contains("an altered app") }, "\(more)")
    }
  }

  @Test func `The clock: synchronised, not synchronised, and not known`() throws {
    let harness = try served()
    try DoctorPage(harness, "--local").expect(.ok, .clock, "synchronised, at most 2 ms off")
    harness.clockDiscipline = ClockDiscipline(isSynchronised: false, errorMax: .seconds(16))
    try DoctorPage(harness, "--local").expect(.warning, .clock, "nothing synchronises")
    harness.clockDiscipline = nil
    try DoctorPage(harness, "--local").expect(.ok, .clock, "does not say")
  }

  @Test func `The disk: space, growth and the time of a sync decide`() {
    func level(_ gibibytes: Int64, _ days: Int64?, _ sync: Duration?) -> Finding.Level {
      let finding = DiskCheck.finding(free: gibibytes << 30, days: days, sync: sync)
      if let next = finding.next { #expect(DoctorPage.hasCommand(next)) }
      return finding.level
    }
    #expect(level(70, nil, nil) == .ok)
    #expect(level(70, 40, .milliseconds(1)) == .ok)
    #expect(level(70, 29, .milliseconds(1)) == .warning)
    #expect(level(4, 400, .milliseconds(1)) == .warning)
    #expect(level(0, 400, .milliseconds(1)) == .failure)
    #expect(level(70, 400, .milliseconds(21)) == .warning)
    #expect(level(70, 400, .milliseconds(501)) == .failure)
  }

  @Test func `The database: its size, other names of the file, and why it cannot be opened`() throws {
    let harness = try served()
    try DoctorPage(harness, "--local").expect(.ok, .database, "to check every page: receiptctl db check")
    try FileWriting.link(harness.databasePath, to: harness.folder + "/other.db")
    try DoctorPage(harness, "--local").expect(.warning, .database, "has 2 names")
    let missing = try OperatorHarness()
    try missing.configure { $0.replacing("receiptd.db", with: "nowhere.db") }
    let page = try DoctorPage(missing, "--local")
    page.expect(.failure, .database, "nowhere.db")
    page.expect(.failure, .receiptd, "is not running")
    #expect(page.of(.work).isEmpty)
  }

  @Test func `Work: what waits, what failed, stopped deliveries and paused jobs`() throws {
    let harness = try served()
    try DoctorPage(harness, "--local").expect(.ok, .work, "nothing that is ready waits")
    try harness.fail(try harness.purchase("sub_1"))
    let id = try harness.purchase("sub_2")
    harness.clock.advance(.minutes(2))
    let page = try DoctorPage(harness, "--local", "--only", "work")
    page.expect(.warning, .work, "a receipt of ios has been ready for 2m and is not delivered")
    page.expect(.warning, .work, "1 receipt of ios failed (failed now: http_422 1)")
    let down = Breaker(
      state: .open, probeAt: harness.clock.now, since: harness.clock.now, cause: .status(503))
    try harness.attempt(id, status: 503, .retry(at: harness.clock.now, spent: false), breaker: down)
    try DoctorPage(harness, "--local").expect(.warning, .work, "Deliveries of ios to purchasely")
    let paused = Breaker(
      state: .paused, probeAt: harness.clock.now, since: harness.clock.now, cause: .status(401))
    try harness.attempt(id, status: 401, .retry(at: harness.clock.now, spent: false), breaker: paused)
    try DoctorPage(harness, "--local").expect(.failure, .work, "Deliveries of ios to purchasely")
    harness.clock.advance(.days(2))
    #expect(try !DoctorPage(harness, "--local").of(.work).contains { $0.what.contains(" failed") })
  }

  @Test func `The backup: none, old, very old, and on the database's disk`() throws {
    let none = try OperatorHarness()
    try none.configureWell()
    try DoctorPage(none, "--local").expect(.failure, .backup, "no backup of the database was recorded")
    let harness = try served()
    try DoctorPage(harness, "--local").expect(.ok, .backup, "made just now")
    harness.clock.advance(.hours(27))
    try DoctorPage(harness, "--local").expect(.warning, .backup, "is 27h old")
    harness.clock.advance(.days(8))
    try DoctorPage(harness, "--local").expect(.failure, .backup, "is 9d old")
    try backup(harness, harness.configurationPath)
    try DoctorPage(harness, "--local").expect(.warning, .backup, "on the disk of the database")
  }

  @Test func `The certificate of the listener: dates, key, host, and files that cannot be used`() throws {
    let harness = try OperatorHarness()
    let (pem, key) = (harness.folder + "/certificate.pem", harness.folder + "/key.pem")
    func make(_ days: Int, keepsKey: Bool = false) throws {
      let made = try ShellRun([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days",
        "\(days)", "-subj", "/CN=test", "-addext", "subjectAltName=DNS:pay.example.com", "-keyout",
        keepsKey ? harness.folder + "/other.pem" : key, "-out", pem,
      ])
      #expect(made.code == 0, "\(made.output)")
    }
    func page() throws -> DoctorPage { try DoctorPage(harness, "--local", "--only", "certificate") }
    try make(60)
    // A minute after the certificate was made, whatever that took.
    let made = Timestamp(unixMilliseconds: SystemClock().wallMilliseconds)
    harness.clock.advance(made.duration(since: harness.clock.now) + .minutes(1))
    try harness.configureWell("links: { origin: 'https://pay.example.com' },")
    #expect(try page().findings.isEmpty, "the listener has none")
    try harness.configure {
      $0.replacing("port: 1", with: "port: 1, tls: { certificate: '\(pem)', key: '\(key)' }")
    }
    try page().expect(.ok, .certificate, "expires in 59 d")
    try harness.configure { $0.replacing("https://pay.", with: "https://other.") }
    try page().expect(.warning, .certificate, "is not for other.example.com")
    harness.clock.advance(.days(40))
    try page().expect(.warning, .certificate, "expires in 19 d")
    harness.clock.advance(.days(18))
    try page().expect(.failure, .certificate, "expires in 47 h")
    harness.clock.advance(.days(30))
    try page().expect(.failure, .certificate, "expired 28 d ago")
    try make(900, keepsKey: true)
    try page().expect(.failure, .certificate, "is not the key of")
    try FileManager.default.removeItem(atPath: key)
    try page().expect(.failure, .certificate, "No such file or directory")
  }

  @Test func `Alerts: none, no heartbeat, and one that fires`() throws {
    let bare = try DoctorPage(try OperatorHarness(), "--local", "--only", "alerts")
    bare.expect(.warning, .alerts, "none are configured")
    bare.expect(.warning, .alerts, "no heartbeat")
    let harness = try served()
    try DoctorPage(harness, "--local").expect(.ok, .alerts, "1 address, nothing fires")
    let record = AlertRecord(
      key: .init(destination: "0123456789abcdef", condition: "breaker_open", app: "ios"), isFiring: true,
      since: harness.clock.now, notifiedAt: harness.clock.now)
    try harness.store(SaveAlerts(sent: [record]))
    try DoctorPage(harness, "--local").expect(.warning, .alerts, "1 alert fires")
  }
}
