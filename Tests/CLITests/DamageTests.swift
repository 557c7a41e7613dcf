// Damaged databases: what `db check` reports, and whether its advice works.

import Domain
import Formats
import FoundationEssentials
import Platform
import SQLiteStore
import Terminal
import TestSupport
import Testing

@Suite("A damaged database") struct DamageTests {
  static let hasSQLite = (try? ShellRun(["sqlite3", "--version"]).code) == 0

  /// A harness whose configuration names a damaged copy of a database, and the backup from before the damage.
  private func damaged(
    _ purchases: Int, _ damage: (String) throws -> Void
  ) throws -> (harness: OperatorHarness, backup: String) {
    let harness = try OperatorHarness()
    for number in 0..<purchases { try harness.deliver(try harness.purchase("sub_\(number)")) }
    let backup = harness.folder + "/backup.db"
    try #require(harness.run("db", "backup", backup).code == .done)
    let file = harness.folder + "/damaged.db"
    try FileManager.default.copyItem(atPath: backup, toPath: file)
    try damage(file)
    try harness.configure { $0.replacing("'receiptd.db'", with: "'damaged.db'") }
    return (harness, backup)
  }

  /// Runs the commands that the report advises, as a shell would.
  private func follow(_ report: String, _ harness: OperatorHarness, backup: String) throws {
    for line in report.split(separator: "\n") where line.hasPrefix("  ") {
      let command = String(line.dropFirst(2)).replacing("FOLDER", with: harness.folder)
        .replacing("BACKUP", with: backup)
      if command.hasPrefix("receiptctl ") {
        let words = command.split(separator: " ").dropFirst().map(String.init)
        let step = harness.run(arguments: words + (words[1] == "restore" ? ["--yes"] : []))
        #expect(step.code == .done, "\(command): \(step)")
      } else if command.hasPrefix("sqlite3 ") {
        let step = try ShellRun(["sh", "-c", command])
        #expect(step.code == 0, "\(command): \(step.output)")
      }
    }
  }

  private static let restore = "  receiptctl db restore BACKUP"

  @Test("An unknown dictionary is explained, also in a backup, and restoring a backup with it helps")
  func unknownDictionary() throws {
    let (harness, backup) = try damaged(3) { path in
      let file = try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(1))
      try file.execute("UPDATE events SET dictionary = 7")
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData)
    #expect(ran.out.contains("Some bodies need a dictionary that this program does not have."), "\(ran)")
    let copy = harness.folder + "/copy.db"
    try FileManager.default.copyItem(atPath: harness.folder + "/damaged.db", toPath: copy)
    let look = harness.run("db", "restore", copy, "--dry-run")
    #expect(look.notes.contains("need a dictionary that this program does not have"), "\(look)")
    try follow(ran.out, harness, backup: backup)
    #expect(harness.run("db", "check").code == .done)
  }

  @Test func `Lost rows are counted and explained, and restoring the backup helps`() throws {
    let (harness, backup) = try damaged(60) { path in
      let overwritten = try DamagedPages.overwrite("purchases", in: path, keeping: 2)
      #expect(overwritten > 0)
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData)
    #expect(ran.out.hasPrefix("FOLDER/damaged.db: damaged\n"))
    let line = try #require(ran.out.firstMatch(of: /purchases +rows are lost, (\d+) can be read +receipts/))
    #expect((1..<60).contains(try #require(Int(line.output.1))), "\(ran.out)")
    #expect(ran.out.contains(Self.restore))
    #expect(!ran.notes.contains("db check"))
    let json = try #require(try harness.run("db", "check", "--json").objects.first)
    #expect(json["sound"] == false)
    #expect(json["next"] != nil)
    #expect(json["parts"] != nil)
    try follow(Self.restore, harness, backup: backup)
    #expect(harness.run("db", "check").code == .done)
  }

  @Test(.enabled(if: hasSQLite, "needs sqlite3"))
  func `Without a backup the advised commands recover all readable rows`() throws {
    let (harness, backup) = try damaged(60) { path in
      try DamagedPages.overwrite("purchases", in: path, keeping: 2)
    }
    let report = harness.run("db", "check").out
    let readable = report.firstMatch(of: /purchases +rows are lost, (\d+) can be read/)?.output.1
    let advice = report.split(separator: "\n").filter { !$0.contains("BACKUP") }.joined(separator: "\n")
    try follow(advice, harness, backup: backup)
    let listed = try harness.run("receipts", "list", "--limit", "100", "--json").objects.count
    #expect(listed > 0)
    #expect(listed == readable.flatMap { Int($0) })
  }

  @Test func `Events that cannot be counted are not shown as none, and hide nothing else`() throws {
    let (harness, _) = try damaged(60) { path in
      let overwritten = try DamagedPages.overwrite("events", in: path)
      #expect(overwritten > 0)
    }
    let stats = harness.run("stats", "--json")
    #expect(stats.code == .done, "\(stats)")
    #expect(try stats.objects.first?["service"]?["unread_events_last_day"] == .null)
    #expect(harness.run("stats").out.contains("The events could not be counted"))
    let alerts = harness.run("alerts", "list")
    #expect(alerts.code == .done, "\(alerts)")
    #expect(alerts.out.contains("the database is damaged"), "\(alerts)")
  }

  @Test(.enabled(if: hasSQLite, "needs sqlite3"))
  func `Damaged pages of an index lose nothing, and a new file has all rows`() throws {
    let (harness, backup) = try damaged(60) { path in
      let overwritten = try DamagedPages.overwrite("purchases_by_object", in: path)
      #expect(overwritten > 0)
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData, "\(ran)")
    #expect(ran.out.contains("can be rebuilt"), "\(ran)")
    #expect(ran.out.contains("Nothing is lost"))
    #expect(!ran.out.contains("rows are lost"))
    try follow(ran.out, harness, backup: backup)
    #expect(harness.run("db", "check").code == .done)
    #expect(try harness.run("receipts", "list", "--limit", "100", "--json").objects.count == 60)
  }

  @Test(
    "Damaged keys lose nothing: a new file has them again, and finds each user's receipt",
    .enabled(if: hasSQLite, "needs sqlite3"), arguments: ["keys", "recent_keys", "key_tail"])
  func brokenKeys(_ table: String) throws {
    let (harness, backup) = try damaged(60) { path in
      let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
      // So that each table has rows.
      try connection.execute("INSERT INTO keys VALUES (1, 1); INSERT INTO recent_keys VALUES (2, 2)")
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      let overwritten = try DamagedPages.overwrite(table, in: path)
      #expect(overwritten > 0)
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData, "\(ran)")
    #expect(ran.out.contains("can be rebuilt"), "\(ran)")
    #expect(ran.out.contains("Nothing is lost"))
    try follow(ran.out, harness, backup: backup)
    #expect(harness.run("db", "check").code == .done)
    for number in 0..<60 {
      let found = harness.run("receipts", "list", "--object", "sub_\(number)", "--json")
      let user = try #require(try found.objects.first?["user_id"]?.stringValue)
      #expect(try harness.run("receipts", "list", "--user", user, "--json").objects.isEmpty == false)
    }
  }

  @Test(.enabled(if: hasSQLite, "needs sqlite3"))
  func `An index that lacks rows is named, and REINDEX builds it again`() throws {
    let (harness, backup) = try damaged(3) { path in
      func run(_ sql: String) throws {
        let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
        try connection.execute("PRAGMA writable_schema = ON; \(sql)")
      }
      // While the schema does not contain it, the index misses new rows.
      try run(
        """
        CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'purchases_by_import';
        DELETE FROM sqlite_schema WHERE name = 'purchases_by_import'
        """)
      try run("UPDATE purchases SET import_id = 'another one' WHERE row_id = 2")
      try run("INSERT INTO sqlite_schema SELECT * FROM kept")
      try run("DROP TABLE kept")
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData)
    #expect(ran.out.contains(/purchases_by_import +can be rebuilt/), "\(ran)")
    #expect(ran.out.contains("REINDEX"), "\(ran)")
    try follow(ran.out, harness, backup: backup)
    #expect(harness.run("db", "check").code == .done)
  }

  @Test(.enabled(if: hasSQLite, "needs sqlite3"))
  func `Damage outside of all tables and indexes loses nothing, and a new file is sound`() throws {
    let (harness, backup) = try damaged(3) { path in
      var bytes = try FileReading.content(of: path, bytesMax: 1 << 26).bytes
      // The number of free pages (https://www.sqlite.org/fileformat2.html#the_database_header).
      bytes[39] = 5
      #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData, "\(ran)")
    #expect(ran.out.contains("no table and no index is damaged"), "\(ran)")
    try follow(ran.out, harness, backup: backup)
    #expect(harness.run("db", "check").code == .done)
  }

  @Test func `Rows with changed content are not reported as a damaged index`() throws {
    let (harness, _) = try damaged(3) { path in
      let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
      try connection.execute("PRAGMA ignore_check_constraints = ON; UPDATE purchases SET state = 'lost'")
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData, "\(ran)")
    #expect(ran.out.contains(Self.restore), "\(ran)")
    #expect(!ran.out.contains("Nothing is lost"))
  }

  @Test func `A file that cannot be opened is reported, and every command refers to that report`() throws {
    let (harness, backup) = try damaged(3) { path in
      try DamagedPages.overwrite("sqlite_schema", in: path)
    }
    for words in [["stats"], ["receipts", "list"], ["db", "backup", harness.folder + "/b.db"]] {
      let ran = harness.run(arguments: words)
      #expect(ran.code == .badData, "\(ran)")
      #expect(ran.notes.contains("receiptctl db check"), "\(ran)")
    }
    let ran = harness.run("db", "check")
    #expect(ran.code == .badData)
    #expect(ran.out.contains("unreadable"))
    #expect(ran.out.contains(Self.restore))
    try follow(Self.restore, harness, backup: backup)
    #expect(harness.run("db", "check").code == .done)
  }
}
