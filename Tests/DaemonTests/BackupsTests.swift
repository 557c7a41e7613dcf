// Scheduled backups of a real database.

import Domain
import Formats
import FoundationEssentials
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service
@testable import Upkeep

/// A relay, and the folder of its copies. One thread.
private final class BackupBed {
  let clock = ManualClock()
  let bench: Bench
  let health: HealthMonitor
  let folder: String
  private var run = Backups.Run()
  private(set) var backups: Backups

  init(_ settings: Configuration.Backup? = nil, makesFolder: Bool = true) throws {
    bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    try bench.committer.start()
    folder = bench.folder.path + "/copies"
    if makesFolder { try Self.makeFolder(folder) }
    var configuration = Configuration(database: .file(bench.path), apps: [Bench.app()])
    configuration.backup = settings ?? .init(to: folder)
    health = HealthMonitor(
      readiness: bench.core.readiness, ledger: ConfigurationLedger(configuration, now: bench.now),
      metrics: bench.metrics, startedAt: bench.now, freeBytes: { nil })
    backups = Self.backups(bench, health, configuration.backup)
  }

  static func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  private static func backups(
    _ bench: Bench, _ health: HealthMonitor, _ settings: Configuration.Backup?
  ) -> Backups {
    Backups(
      settings, database: bench.path,
      openReader: { [engine = bench.core.engine] () throws(StoreError) in try engine.openReader() },
      committer: bench.committer, health: health,
      dependencies: Dependencies(log: bench.log, clock: bench.clock))
  }

  /// As after a restart of the process.
  func restart(_ settings: Configuration.Backup) {
    run = Backups.Run()
    backups = Self.backups(bench, health, settings)
  }

  func step() { _ = backups.step(&run) }

  /// Steps until the program has ended.
  func stepUntil(_ isTrue: () -> Bool) throws {
    _ = try polled { () -> Bool? in
      step()
      return isTrue() ? true : nil
    }
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
  }

  /// Those of backups: the health of the rest depends on a clock that jumps here.
  var findings: [Finding] {
    health.report(now: bench.now).findings(now: bench.now, webhooks: { _ in nil }, processors: { _ in nil })
      .filter { $0.check == .backup }
  }
}

@Suite("Scheduled backups") struct BackupsTests {
  @Test("A copy is whole, for its owner, recorded, and made again when it is due, also after a restart")
  func schedule() throws {
    let bed = try BackupBed()
    defer { bed.bench.stop() }
    try bed.bench.buy(1)
    bed.step()
    let first = try #require(try bed.names.first)
    #expect(first == BackupNames(folder: "", database: "/x/relay.db").path(at: bed.bench.now).dropFirst())
    let path = bed.folder + "/" + first
    #expect(try FileReading.content(of: path, bytesMax: 1 << 26).mode == 0o600)
    #expect(try StoreReader(path: path).rowCounts().contains { $0.table == "purchases" && $0.rows == 1 })
    try bed.bench.store(Barrier())
    let report = try #require(try bed.bench.reader.serviceReport(.backup))
    #expect(report.at == bed.bench.now)
    #expect(report.content.contains(first))
    #expect(bed.findings.isEmpty)
    bed.restart(.init(to: bed.folder))
    bed.clock.advance(.days(1) - .seconds(2))
    bed.step()
    #expect(try bed.names.count == 1)
    bed.clock.advance(.seconds(2))
    bed.step()
    #expect(try bed.names.count == 2)
  }

  @Test("Only the oldest copies are deleted: no other file, not the new one, and none before a copy is made")
  func rotation() throws {
    let bed = try BackupBed()
    defer { bed.bench.stop() }
    let strange = [
      "other-20200101T000000Z.db", "relay-20200101T000000Z.db.gz", "relay-20209901T000000Z.db",
      "relay-20200101.db", "relay.db",
    ]
    // The last one is of a clock that was wrong.
    let own = ["relay-20200101T000000Z.db", "relay-20200102T000000Z.db", "relay-21000101T000000Z.db"]
    for name in strange + own + ["relay-20200103T000000Z.db.part"] {
      _ = FileManager.default.createFile(atPath: bed.folder + "/" + name, contents: nil)
    }
    bed.restart(.init(to: bed.folder, keep: 2))
    bed.step()
    let names = try bed.names
    #expect(names.count == strange.count + 2)
    #expect(Set(names).isSuperset(of: strange))
    #expect(names.contains(own[1]))
    #expect(try StoreReader(path: try #require(try bed.newest)).rowCounts().isEmpty == false)
  }

  @Test("A copy that cannot be made deletes none, is a finding, and is tried again; receipts are stored")
  func failure() throws {
    let bed = try BackupBed(makesFolder: false)
    defer { bed.bench.stop() }
    bed.step()
    let since = bed.bench.now
    #expect(bed.findings.map(\.check) == [.backup])
    #expect(bed.findings.first?.what.contains("there is no folder") == true)
    #expect(bed.findings.first?.what.hasSuffix("there is no copy yet") == true)
    try bed.bench.buy(1)
    #expect(try bed.bench.receipt(1) != nil)
    try BackupBed.makeFolder(bed.folder)
    bed.clock.advance(HealthReport.Backup.retryPause(every: .days(1)) - .seconds(1))
    bed.step()
    #expect(try bed.names.isEmpty)
    #expect(bed.findings.first?.since == since)
    bed.clock.advance(.seconds(1))
    bed.step()
    #expect(try bed.names.count == 1)
    #expect(bed.findings.isEmpty)
  }

  @Test func `Without the folder, the database knows of the last copy, and the true pause is named`() throws {
    let bed = try BackupBed()
    defer { bed.bench.stop() }
    bed.step()
    try bed.bench.store(Barrier())
    try FileManager.default.removeItem(atPath: bed.folder)
    bed.clock.advance(.seconds(360))
    bed.health.backup { $0 = nil }
    bed.restart(.init(to: bed.folder, every: .seconds(60)))
    bed.step()
    let finding = try #require(bed.findings.first)
    #expect(finding.what.hasSuffix("the last one was made 6 min ago"), "\(finding.what)")
    #expect(finding.next?.hasPrefix("receiptd tries again every 1 min, ") == true)
  }

  @Test func `A reload tries again at once, and may end the backups`() throws {
    let bed = try BackupBed(makesFolder: false)
    defer { bed.bench.stop() }
    bed.step()
    try BackupBed.makeFolder(bed.folder)
    bed.backups.use(.init(to: bed.folder))
    bed.step()
    #expect(try bed.names.count == 1)
    bed.backups.use(nil)
    bed.clock.advance(.days(9))
    bed.step()
    #expect(try bed.names.count == 1)
    #expect(bed.findings.isEmpty)
  }

  @Test("The fault of another folder is over once the folder in force has a copy that is young enough")
  func forgottenFault() throws {
    let bed = try BackupBed()
    defer { bed.bench.stop() }
    bed.step()
    bed.clock.advance(.minutes(2))
    bed.backups.use(.init(to: bed.bench.folder.path + "/nowhere", every: .minutes(1)))
    bed.step()
    #expect(bed.findings.first?.what.contains("there is no folder") == true)
    bed.backups.use(.init(to: bed.folder))
    bed.step()
    #expect(try bed.names.count == 1)
    #expect(bed.findings.isEmpty)
  }

  @Test func `A stop ends a copy and leaves nothing of it`() throws {
    let bed = try BackupBed()
    defer { bed.bench.stop() }
    let engine = bed.bench.core.engine
    let stopping = Monitor<Backups?>(nil)
    let backups = Backups(
      .init(to: bed.folder), database: bed.bench.path,
      openReader: { () throws(StoreError) in
        stopping.withLock { $0 }?.worker.requestStop()
        return try engine.openReader()
      }, committer: bed.bench.committer, health: bed.health,
      dependencies: Dependencies(log: bed.bench.log, clock: bed.clock))
    stopping.withLock { $0 = backups }
    var run = Backups.Run()
    _ = backups.step(&run)
    backups.windDown()
    #expect(try bed.names.isEmpty)
    #expect(bed.findings.isEmpty)
  }

  @Test("A program gets the copy's path as its last argument; its failure is a finding until a success")
  func program() throws {
    let bed = try BackupBed()
    defer { bed.bench.stop() }
    let out = bed.bench.folder.path + "/out"
    let script = "echo \"$1 $2\" > \(out)"
    bed.restart(
      .init(to: bed.folder, then: ["/bin/sh", "-c", script + "; echo no room; exit 3", "sh", "a b"]))
    bed.step()
    try bed.stepUntil { !bed.findings.isEmpty }
    let copy = bed.folder + "/" + (try #require(try bed.names.first))
    #expect(try String(contentsOfFile: out, encoding: .utf8) == "a b \(copy)\n")
    let what = try #require(bed.findings.first?.what)
    #expect(what == "the program of backup.then fails: \(copy): it exited with 3: no room")
    // A restart forgets nothing, the next success does.
    let stored = bed.health.report(now: bed.bench.now).stored.text
    let earlier = try #require(HealthReport(stored: stored))
    bed.health.backup { $0 = nil }
    bed.health.restore(earlier)
    #expect(bed.findings.first?.what == what)
    bed.restart(.init(to: bed.folder, then: ["/bin/true"]))
    bed.clock.advance(.days(1))
    bed.step()
    try bed.stepUntil { bed.findings.isEmpty }
  }

  @Test func `A program that hangs is ended, and one that cannot be started is reported`() throws {
    let bed = try BackupBed()
    defer { bed.bench.stop() }
    bed.restart(.init(to: bed.folder, then: ["/bin/sh", "-c", "sleep 1000"]))
    bed.step()
    bed.clock.advance(Backups.programTime)
    try bed.stepUntil { !bed.findings.isEmpty }
    #expect(bed.findings.first?.what.hasSuffix("it took longer than 6h") == true)
    bed.restart(.init(to: bed.folder, then: ["/nowhere/rclone"]))
    bed.clock.advance(.days(1))
    bed.step()
    #expect(bed.findings.first?.what.contains("/nowhere/rclone") == true)
  }

  @Test func `A backup that is late is a finding with its age`() {
    let now = Timestamp(unixMilliseconds: 1_795_168_800_000)
    var backup = HealthReport.Backup(every: .days(1), since: now - .days(9))
    backup.lastAt = now - .days(2)
    #expect(Finding.scheduled(backup, now: now).isEmpty)
    backup.lastAt = now - .days(3)
    let finding = Finding.scheduled(backup, now: now).first
    #expect(finding?.what == "the scheduled backup is late: the last one was made 3 d ago")
    #expect(finding?.since == now - .days(1))
  }
}

extension BackupBed {
  fileprivate var newest: String? {
    get throws {
      let names = BackupNames(folder: folder, database: bench.path)
      return names.copies(now: bench.now).first?.path
    }
  }
}
