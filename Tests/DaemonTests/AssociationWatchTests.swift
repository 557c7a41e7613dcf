// Association files that break while receiptd runs: who is asked, what is reported, and when it ends.

import Domain
import Formats
import HTTPClient
import Platform
import Reports
import Testing

@testable import Config
@testable import Service
@testable import Upkeep

@Suite("Association files while receiptd runs") struct AssociationWatchTests {
  private static let folder = "https://pay.example.com/.well-known/"
  private static let apple = folder + "apple-app-site-association"
  private static let android = folder + "assetlinks.json"
  private static let copy = AssociationCaches.appleURL(of: "pay.example.com")

  private static func app() throws -> AppConfiguration {
    var app = Bench.app()
    app.links = .init(
      origin: try WebOrigin("https://pay.example.com"),
      ios: .init(
        appIDs: [try AppleAppID("ABCDE12345.com.example.app")], paths: [try LinkPath("/buy/*")]))
    return app
  }

  /// - Parameter faults: the status of each place that does not have its file; nil means no answer.
  private static func bench(_ faults: Monitor<[String: Int?]>) throws -> AlertBench {
    let app = try app()
    let bench = try AlertBench(
      [AlertBench.alert([.associationFiles], every: .days(2))], apps: [app], hasHealth: true)
    let files = try #require(AssociationFiles.all(of: [app]).first)
    let (appleFile, androidFile) = (files.apple.json.text, files.android.json.text)
    bench.network.use(200, headers: [TransferHeader("Content-Type", "application/json")])
    bench.network.use(200) { request in request.url == android ? androidFile : appleFile }
    bench.network.use { request in faults.withLock { $0[request.url] ?? 200 } }
    return bench
  }

  @Test func `Without links nobody is asked`() throws {
    let bench = try AlertBench([AlertBench.alert([.associationFiles])])
    try bench.live { run throws in try bench.pass(.hours(3), &run, step: .minutes(1)) }
    #expect(bench.network.requests.isEmpty)
  }

  @Test("Each place is asked a minute after the start and then hourly, and a file as configured is silent")
  func asked() throws {
    let bench = try Self.bench(Monitor([:]))
    try bench.live { run throws in
      try bench.pass(.seconds(59), &run)
      #expect(bench.network.requests.isEmpty)
      try bench.pass(.seconds(5), &run)
      #expect(bench.network.requests.map(\.url) == [Self.apple, Self.android, Self.copy])
      #expect(bench.network.requests.allSatisfy { $0.method == .get })
      try bench.pass(.minutes(58), &run, step: .seconds(10))
      #expect(bench.network.requests.count == 3)
      try bench.pass(.minutes(3), &run, step: .seconds(10))
      #expect(bench.network.requests.count == 6)
    }
  }

  @Test("A file that breaks at the host is reported when it is broken twice, until it is right again")
  func brokenFile() throws {
    let faults = Monitor<[String: Int?]>([:])
    let bench = try Self.bench(faults)
    try bench.live { run throws in
      try bench.pass(.minutes(2), &run)
      faults.withLock { $0[Self.apple] = 404 }
      // The next question is an hour after the first, and the one after it five minutes later.
      #expect(try bench.pass(.minutes(63), &run, step: .seconds(10)).isEmpty)
      let notices = try bench.pass(.minutes(5), &run, step: .seconds(10))
      #expect(notices.map(\.notice) == ["association_files shop firing"])
      #expect(
        notices.first?["summary"]?.stringValue
          == "\(Self.apple), which opens shop from links, answers with status 404 instead of 200")
      #expect(notices.first?["commands"] == ["receiptctl links check --fetch"])
      let report = try #require(bench.health?.report(now: bench.bench.now))
      let found = report.findings(now: bench.bench.now, webhooks: { _ in nil }, processors: { _ in nil })
      #expect(found.filter { $0.check == .associations }.map(\.app) == ["shop"])
      #expect(try #require(HealthReport(stored: report.stored.text)).associations == report.associations)
      faults.withLock { $0 = [:] }
      let ends = try bench.pass(.minutes(6), &run, step: .seconds(10))
      #expect(ends.map(\.notice) == ["association_files shop resolved"])
      #expect(bench.health?.report(now: bench.bench.now).associations == [])
    }
  }

  @Test("A company's copy is reported when it is another one for more than a day; no answer is no change")
  func oldCopy() throws {
    let faults = Monitor<[String: Int?]>([Self.copy: 404])
    let bench = try Self.bench(faults)
    try bench.live { run throws in
      #expect(try bench.pass(.hours(26), &run, step: .minutes(1)).isEmpty)
      let notices = try bench.pass(.minutes(15), &run, step: .minutes(1))
      #expect(notices.map(\.notice) == ["association_files shop firing"])
      #expect(
        notices.first?["summary"] == "Apple has had another file of pay.example.com than shop needs for 26h")
      faults.withLock { $0[Self.copy] = 503 }
      #expect(try bench.pass(.minutes(30), &run, step: .minutes(1)).isEmpty)
      faults.withLock { $0 = [:] }
      let ends = try bench.pass(.minutes(15), &run, step: .minutes(1))
      #expect(ends.map(\.notice) == ["association_files shop resolved"])
    }
  }

  @Test("A host that never answered may be out of reach from here only; one that stops answering is reported")
  func unanswered() throws {
    let faults = Monitor<[String: Int?]>([Self.apple: nil, Self.android: nil])
    let bench = try Self.bench(faults)
    try bench.live { run throws in
      #expect(try bench.pass(.hours(4), &run, step: .minutes(1)).isEmpty)
      faults.withLock { $0 = [:] }
      #expect(try bench.pass(.hours(2), &run, step: .minutes(1)).isEmpty)
      faults.withLock { $0[Self.android] = .some(nil) }
      let notices = try bench.pass(.hours(2), &run, step: .minutes(1))
      #expect(notices.map(\.notice) == ["association_files shop firing"])
      #expect(notices.first?["summary"]?.stringValue?.contains("does not answer (connect_failed)") == true)
    }
  }

  @Test func `After a restart a file that was broken is so until the host has shown otherwise`() throws {
    let faults = Monitor<[String: Int?]>([Self.apple: 404])
    let bench = try Self.bench(faults)
    try bench.live { run throws in
      let notices = try bench.pass(.minutes(10), &run, step: .seconds(10))
      #expect(notices.map(\.notice) == ["association_files shop firing"])
    }
    faults.withLock { $0 = [Self.apple: nil] }
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(40), &run, step: .seconds(10)).isEmpty)
      faults.withLock { $0 = [:] }
      let ends = try bench.pass(.minutes(6), &run, step: .seconds(10))
      #expect(ends.map(\.notice) == ["association_files shop resolved"])
    }
  }
}
