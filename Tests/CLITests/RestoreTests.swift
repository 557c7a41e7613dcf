import Domain
import Formats
import FoundationEssentials
import Glibc
import Platform
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@testable import CLI

@Suite("db restore and db purge")
struct RestoreTests {
  private let day: Int64 = 86_400_000

  /// A relay with a backup, and a purchase that came after it.
  private func harness() throws -> (harness: OperatorHarness, backup: String, later: String) {
    let harness = try OperatorHarness()
    try harness.deliver(try harness.purchase("sub_1"))
    try harness.purchase("sub_2")
    let backup = harness.folder + "/backup.db"
    try #require(harness.run("db", "backup", backup).code == .done)
    harness.clock.advance(.hours(1))
    return (harness, backup, try harness.purchase("sub_3"))
  }

  private func objects(_ path: String) throws -> Set<ObjectID> {
    Set(try StoreReader(path: path).receipts(ReceiptFilter(), limit: 100).map(\.purchase.key.id))
  }

  @Test func `The backup replaces the database, and the previous file is kept beside it`() throws {
    let (harness, backup, _) = try harness()
    let look = harness.run("db", "restore", backup, "--dry-run")
    #expect(look.code == .done)
    #expect(look.notes.contains("is sound; its last event is of 10:00 UTC"))
    #expect(try objects(harness.databasePath).count == 3)
    #expect(harness.run("db", "restore", backup).code == .refused, "nobody can be asked")
    #expect(try objects(harness.databasePath).count == 3)
    let ran = harness.run("db", "restore", backup, "--yes", "--json", "--reason", "disk failed")
    #expect(ran.code == .done)
    let object = try #require(try ran.objects.first)
    #expect(object["pending"] == 1)
    #expect(object["schema"] == .integer(3))
    #expect(try objects(harness.databasePath) == ["sub_1", "sub_2"])
    let aside = try #require(object["set_aside"]?.stringValue).replacing("FOLDER", with: harness.folder)
    #expect(try objects(aside) == ["sub_1", "sub_2", "sub_3"])
    #expect(harness.run("db", "check").code == .done)
    let audit = try #require(try harness.run("audit", "list", "--json").objects.first)
    #expect(audit["action"] == "db restore")
    #expect(audit["reason"] == "disk failed")
  }

  @Test(
    "A restored database keeps the rights of the one before, for the programs that read it",
    arguments: [0o640, 0o600])
  func keepsMode(mode: Int) throws {
    let (harness, backup, _) = try harness()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: harness.databasePath)
    #expect(harness.run("db", "restore", backup, "--yes", "--reason", "disk failed").code == .done)
    #expect(try FileReading.content(of: harness.databasePath, bytesMax: 1 << 26).mode == UInt32(mode))
  }

  @Test("A backup could not leave a container without tar: - writes the verified copy to standard output")
  func stream() throws {
    let (harness, _, _) = try harness()
    let bytes = Monitor<[UInt8]>([])
    func backup(isTerminal: Bool = false, sink: @escaping @Sendable ([UInt8]) throws(SystemError) -> Void)
      -> ExitCode
    {
      var ran = OperatorDependencies(
        output: Output(
          program: "receiptctl", result: OutputChannel(isTerminal: isTerminal, sink: sink),
          notes: OutputChannel(isTerminal: false) { _ in }, environment: Environment([:]),
          isInputTerminal: false,
          answer: { nil }), environment: Environment([:]), clock: harness.clock, actor: "ann")
      ran.guarding = { _, body in try body() }
      return OperatorProgram.run(["--config", harness.configurationPath, "db", "backup", "-"], in: ran)
    }
    let before = try FileManager.default.contentsOfDirectory(atPath: harness.folder).sorted()
    #expect(backup { more in bytes.withLock { $0 += more } } == .done)
    let copy = harness.folder + "/streamed.db"
    try FileWriting.create(copy, bytes.withLock { $0 }, mode: 0o600)
    #expect(try objects(copy) == ["sub_1", "sub_2", "sub_3"])
    try FileManager.default.removeItem(atPath: copy)
    let report = try #require(try StoreReader(path: harness.databasePath).serviceReport(.backup))
    #expect(report.content.contains("standard output"))
    #expect(backup(isTerminal: true) { _ in } == .refused)
    #expect(backup { _ throws(SystemError) in throw SystemError(code: EPIPE, operation: "write") } == .failed)
    #expect(try FileManager.default.contentsOfDirectory(atPath: harness.folder).sorted() == before)
  }

  @Test func `A restore through a symbolic link replaces the linked file, and the link stays`() throws {
    let (harness, backup, _) = try harness()
    try FileManager.default.createSymbolicLink(
      atPath: harness.folder + "/link.db", withDestinationPath: "receiptd.db")
    try harness.configure { $0.replacing("'receiptd.db'", with: "'link.db'") }
    let ran = harness.run("db", "restore", backup, "--yes")
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.out.contains("FOLDER/receiptd.db is now FOLDER/backup.db"), "\(ran)")
    #expect(try objects(harness.databasePath) == ["sub_1", "sub_2"])
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: harness.folder + "/link.db") == "receiptd.db")
    #expect(!FileManager.default.fileExists(atPath: harness.folder + "/link.db.lock"))
    #expect(harness.run("receipts", "list").code == .done)
  }

  @Test("After a restore, events are fetched where a processor lists them, and other payments are compared")
  func recovery() throws {
    let (harness, backup, _) = try harness()
    try harness.configure { _ in
      """
      { database: 'receiptd.db', listen: { port: 1 }, apps: {
        ios: { client: 'open', stripe: { webhook_secrets: ['env:WEBHOOK_SECRET'] },
          purchasely: { api_key: 'env:API_KEY' } },
        web: { client: { keys: ['env:CLIENT_KEY'] },
          swedbank: { merchant_token: 'env:TOKEN', payee_id: 'p', public_origin: 'https://pay.example.com' },
          webhook: { url: 'https://backend.example.com/purchases', secrets: ['env:WEBHOOK_KEY'] } },
      } }
      """
    }
    let ran = harness.run("db", "restore", backup, "--yes")
    #expect(ran.code == .done, "\(ran)")
    let lines = ran.out.split(separator: "\n").suffix(3).map(String.init)
    #expect(lines.first == "Start receiptd now.")
    #expect(lines[1].hasPrefix("Then fetch the events since then: receiptctl events backfill --since 2026-"))
    #expect(lines[1].hasSuffix(" --app ios"))
    #expect(
      lines[2]
        == "Payments of web with Swedbank Pay that were started after the backup are unknown to receiptd, "
        + "and cannot be fetched. Compare the processor's portal with: receiptctl receipts list --app web "
        + "--processor swedbank")
  }

  @Test("A job that ran when the backup was made does not resume automatically after the restore (R3)")
  func jobsPause() throws {
    let harness = try OperatorHarness()
    let ids = try (1...3).map { try harness.purchase("sub_\($0)") }
    for id in ids { try harness.fail(id) }
    var filter = ReceiptFilter()
    filter.state = .failed
    let request = JobRequest(source: .filter(filter, limit: nil), actor: "ann")
    let jobs = try (0..<2).map { _ in try harness.writer.apply(StartJob(request), now: harness.clock.now) }
    let running = harness.run("jobs", "show", jobs[0].id.text, "--json")
    #expect(try running.objects.first?["state"] == "preparing")
    // One job is running with its receipts chosen, the other is still choosing.
    _ = try harness.writer.apply(
      ExtendJob(
        job: jobs[0].id, from: nil, to: nil, receipts: ids.reversed().map { ReceiptID($0) }, isLast: true),
      now: harness.clock.now)
    let backup = harness.folder + "/backup.db"
    try #require(harness.run("db", "backup", backup).code == .done)
    let look = harness.run("db", "restore", backup, "--dry-run")
    #expect(look.notes.contains("2 jobs were running when it was made"))
    let ran = harness.run("db", "restore", backup, "--yes")
    #expect(ran.code == .done)
    #expect(ran.out.contains("Job \(jobs[0].id) was running and is paused"), "\(ran)")
    #expect(ran.out.contains("Job \(jobs[1].id) had not begun and is cancelled"))
    func state(_ job: Job) throws -> JSONValue? {
      try harness.run("jobs", "show", job.id.text, "--json").objects.first?["state"]
    }
    #expect(try state(jobs[0]) == "paused")
    #expect(try state(jobs[1]) == "cancelled")
    #expect(try harness.reader().due(app: "ios", now: harness.clock.now, limit: 9).isEmpty)
    // The advised command works.
    let advice = try #require(ran.out.firstMatch(of: /receiptctl (jobs resume job_\w+)/))
    let words = advice.output.1.split(separator: " ").map(String.init)
    #expect(harness.run(arguments: words).code == .done)
    #expect(try state(jobs[0]) == "running")
    let audit = try #require(try harness.run("audit", "list", "--json").objects.last)
    #expect(audit["action"] == "db restore")
    #expect(audit["details"]?["halted_jobs"] == .array(jobs.map { .string($0.id.text) }))
  }

  @Test func `A file that is not a sound backup changes nothing`() throws {
    let (harness, backup, _) = try harness()
    #expect(harness.run("db", "restore", harness.folder + "/none.db", "--yes").code == .notFound)
    let text = harness.folder + "/text.db"
    _ = FileManager.default.createFile(atPath: text, contents: Data("no database at all".utf8))
    #expect(harness.run("db", "restore", text, "--yes").code == .badData)
    let foreign = harness.folder + "/foreign.db"
    try Connection(path: foreign, mode: .readWriteCreate, busyTimeout: .zero)
      .execute("CREATE TABLE t (x)")
    let refused = harness.run("db", "restore", foreign, "--yes")
    #expect(refused.notes.contains("is not a database of Receipt Relay"))
    var bytes = try FileReading.content(of: backup, bytesMax: 1 << 26).bytes
    for place in (bytes.count / 2)..<(bytes.count / 2 + 8192) { bytes[place] = 0xA5 }
    let damaged = harness.folder + "/damaged.db"
    _ = FileManager.default.createFile(atPath: damaged, contents: Data(bytes))
    let ran = harness.run("db", "restore", damaged, "--yes")
    #expect(ran.code == .badData)
    let newer = harness.folder + "/newer.db"
    try FileManager.default.copyItem(atPath: backup, toPath: newer)
    try Connection(path: newer, mode: .readWrite, busyTimeout: .zero)
      .execute("PRAGMA user_version = 99")
    #expect(harness.run("db", "restore", newer, "--yes").notes.contains("schema version 99"))
    #expect(try objects(harness.databasePath).count == 3)
    #expect(!FileManager.default.fileExists(atPath: harness.databasePath + ".restore"))
  }

  @Test(arguments: [true, false])
  func `A damaged or missing database is replaced, too`(isThere: Bool) throws {
    let (harness, backup, _) = try harness()
    let other = try OperatorHarness()
    try FileManager.default.removeItem(atPath: other.databasePath)
    for suffix in ["-wal", "-shm"] {
      // These files may be missing after a clean start.
      try? FileManager.default.removeItem(atPath: other.databasePath + suffix)
    }
    if isThere {
      let garbage = Data(repeating: 0xA5, count: 50_000)
      _ = FileManager.default.createFile(atPath: other.databasePath, contents: garbage)
      _ = FileManager.default.createFile(atPath: other.databasePath + "-wal", contents: garbage)
    }
    #expect(other.run("db", "restore", backup, "--yes").code == .done)
    #expect(try objects(other.databasePath) == ["sub_1", "sub_2"])
    #expect(other.run("db", "check").code == .done)
    _ = harness
  }

  @Test func `A log without its database is not applied to the backup, and is kept`() throws {
    let (harness, backup, _) = try harness()
    let log = harness.databasePath + "-wal"
    let kept = try FileReading.content(of: log, bytesMax: 1 << 26).bytes
    try #require(kept.count > 10_000)
    try FileManager.default.moveItem(atPath: harness.databasePath, toPath: harness.folder + "/set-aside.db")
    let ran = harness.run("db", "restore", backup, "--yes", "--json")
    #expect(ran.code == .done)
    #expect(try objects(harness.databasePath) == ["sub_1", "sub_2"])
    #expect(harness.run("db", "check").code == .done)
    let names = try FileManager.default.contentsOfDirectory(atPath: harness.folder)
    let aside = try #require(names.first { $0.contains(".before-restore-") && $0.hasSuffix("-wal") })
    #expect(try FileReading.content(of: "\(harness.folder)/\(aside)", bytesMax: 1 << 26).bytes == kept)
  }

  @Test("The database itself is refused as a backup, and a database that is open is not replaced")
  func isInUse() throws {
    let (harness, backup, _) = try harness()
    #expect(harness.run("db", "restore", harness.databasePath, "--yes").code == .refused)
    let reader = try Connection(path: harness.databasePath, mode: .readOnly, busyTimeout: .zero)
    try reader.execute("BEGIN")
    _ = try reader.integer("SELECT count(*) FROM purchases")
    try harness.purchase("sub_4")
    let ran = harness.run("db", "restore", backup, "--yes")
    #expect(ran.code == .tryAgain)
    #expect(ran.notes.contains("another program has the database open"))
    try reader.execute("COMMIT")
    #expect(try objects(harness.databasePath).count == 4)
    #expect(harness.run("db", "restore", backup, "--yes").code == .done)
  }

  @Test func `A purge deletes data older than its retention, and a dry run deletes nothing`() throws {
    let harness = try OperatorHarness()
    try harness.context("old one")
    try harness.deliver(try harness.purchase("sub_1"))
    let open = try harness.purchase("sub_2")
    harness.clock.advance(.days(500))
    try harness.context("new one, longer")
    let look = try #require(try harness.run("db", "purge", "--dry-run", "--json").objects.first)
    #expect(look["would_delete"]?["receipts"] == 1)
    #expect(look["would_delete"]?["contexts"] == 1)
    #expect(try harness.reader().receipts(ReceiptFilter(), limit: 10).count == 2)
    #expect(harness.run("db", "purge").code == .refused)
    let ran = try #require(try harness.run("db", "purge", "--yes", "--json").objects.first)
    #expect(ran["deleted"] == look["would_delete"])
    // Undelivered receipts stay, whatever their age (R4).
    let left = try harness.reader().receipts(ReceiptFilter(), limit: 10).compactMap(\.receipt?.id)
    #expect(left == [ReceiptID(open)])
    #expect(try harness.reader().integrityFaults() == [])
    #expect(harness.run("audit", "list").out.contains("db purge"))
  }
}
